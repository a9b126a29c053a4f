import type { StreamEventLimits } from "../stream_event_validator.ts";
import type { AssistantErrorCode, AssistantErrorDetails, StreamEvent } from "../types.ts";

export type { AssistantErrorCode };

/**
 * How much one response may hold. Each limit may be `Infinity`.
 *
 * `messageLength` also counts arguments that come as an object, and what is kept for the next turn.
 */
export interface AdapterLimits extends StreamEventLimits {
  /**
   * What may wait for an earlier block to end, in UTF-16 code units.
   *
   * @default {16_777_216}
   */
  readonly waitingLength?: number | undefined;
}

/** Options of every adapter. */
export interface AdapterOptions {
  /** Who serves the response. */
  readonly provider?: string | undefined;
  /**
   * The model, where the wire does not say.
   *
   * @default {"unknown"}
   */
  readonly model?: string | undefined;
  /**
   * Gives the timestamp of the message, in Unix milliseconds; asked once.
   *
   * @default {Date.now}
   */
  readonly now?: (() => number) | undefined;
  /**
   * Makes an id for a tool call that comes without one. Without it, an id is `call_` and 32 random
   * hexadecimal digits.
   */
  readonly createId?: (() => string) | undefined;
  /** How much the response may hold. A response that holds more ends in an `error` event. */
  readonly limits?: AdapterLimits | undefined;
}

/** Takes an event. */
export type Emit = (event: StreamEvent) => void;

/** Where a payload has a text. */
export interface PayloadText {
  /** The object that has the text. */
  readonly holder: Record<string, unknown>;
  /** The name of the text in it. */
  readonly key: string;
}

/**
 * Turns the decoded payloads of one response into events. Whatever comes in, what comes out is a legal
 * stream with one `start` and one terminal event, which is the last. It throws nothing but what `emit`
 * throws.
 */
export interface Adapter {
  /** Whether the terminal event was emitted; nothing follows it. */
  readonly isFinished: boolean;
  /** Takes one decoded payload. */
  push(payload: unknown, emit: Emit): void;
  /** Takes the end of the body. */
  end(emit: Emit): void;
  /** Takes the failure of the body. */
  fail(cause: unknown, emit: Emit): void;
  /**
   * Tells where a payload has the text by which nearly every frame of the wire differs from the one
   * before. A decoder then puts the text of the next one there, without parsing what it has seen, and
   * pushes the same payload again. Without this method, every frame is parsed.
   *
   * @returns Where the text is, in an object that the adapter must not keep.
   */
  textIn?(payload: unknown): PayloadText | undefined;
}

/** Ends a response with an `error` event. Thrown within adapters only. */
export class AdapterError extends Error {
  /** Always `"AdapterError"`. */
  override readonly name: string = "AdapterError";
  /** What went wrong, for a program to act on. */
  readonly code: AssistantErrorCode;
  /** What else is known of it. */
  readonly details: AssistantErrorDetails | undefined;

  /**
   * Creates the error.
   *
   * @param code What went wrong, for a program to act on.
   * @param message What went wrong, for a person to read.
   * @param details What else is known of it.
   */
  constructor(code: AssistantErrorCode, message: string, details?: AssistantErrorDetails) {
    super(message);
    this.code = code;
    this.details = details;
  }
}
