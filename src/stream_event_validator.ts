import type { AssistantContent, StreamEvent, StreamPhase } from "./types.ts";

/** How much one response may hold. Each limit may be `Infinity`. */
export interface StreamEventLimits {
  /**
   * Blocks in one message.
   *
   * @default {10_000}
   */
  readonly contentBlocks?: number;
  /**
   * All deltas of one message together, in UTF-16 code units.
   *
   * @default {67_108_864}
   */
  readonly messageLength?: number;
  /**
   * How deep a tool call's arguments may nest, in levels; `{}` is one level.
   *
   * @default {1_000}
   */
  readonly argumentsDepth?: number;
}

/** Options of {@linkcode createStreamEventValidator}. */
export interface StreamEventValidatorOptions {
  /** How much one response may hold. */
  readonly limits?: StreamEventLimits;
}

/** The memory of one stream: it knows what was said so far and refuses what cannot follow. */
export interface StreamEventValidator {
  /** Where the stream is. */
  readonly phase: StreamPhase;
  accept(event: StreamEvent): void;
  end(): void;
  partialContent(): AssistantContent[];
}

export declare function createStreamEventValidator(
  options?: StreamEventValidatorOptions,
): StreamEventValidator;
