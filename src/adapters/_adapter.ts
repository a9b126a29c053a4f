import type { StreamEventLimits } from "../stream_event_validator.ts";
import type { AssistantErrorCode, AssistantErrorDetails, StreamEvent } from "../types.ts";

export type { AssistantErrorCode };

/**
 * How much one response may contain. Each limit may be `Infinity`.
 *
 * `messageLength` also counts arguments that arrive as an object, and data kept for the next turn.
 */
export interface AdapterLimits extends StreamEventLimits {
  /**
   * The length of what may wait for an earlier block to end, in UTF-16 code units.
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
   * The model, if the response does not name it.
   *
   * @default {"unknown"}
   */
  readonly model?: string | undefined;
  /**
   * Returns the timestamp of the message, in Unix milliseconds; called once.
   *
   * @default {Date.now}
   */
  readonly now?: (() => number) | undefined;
  /**
   * Generates an id for a tool call that arrives without one. By default, an id is `call_` and 32
   * random hexadecimal digits.
   */
  readonly createId?: (() => string) | undefined;
  /** How much the response may contain. A response that contains more ends in an `error` event. */
  readonly limits?: AdapterLimits | undefined;
}

/** Takes an event. */
export type Emit = (event: StreamEvent) => void;

/** Where the text of a payload is. */
export interface PayloadText {
  /** The object that contains the text. */
  readonly holder: Record<string, unknown>;
  /** The key of the text in that object. */
  readonly key: string;
}

/**
 * Converts the decoded payloads of one response to events. Whatever the input, the output is a
 * valid stream, with one `start` event and one terminal event at the end. It throws only what
 * `emit` throws.
 */
export interface Adapter {
  /** Whether the terminal event has been emitted. No event follows it. */
  readonly isFinished: boolean;
  /** Handles one decoded payload. */
  push(payload: unknown, emit: Emit): void;
  /** Handles the end of the body. */
  end(emit: Emit): void;
  /** Handles a failure of the body. */
  fail(cause: unknown, emit: Emit): void;
  /**
   * Returns where a payload has the text in which nearly every frame of the format differs from the
   * one before. A decoder then puts the text of the next frame there, without parsing the rest of
   * it, and pushes the same payload again. Without this method, every frame is parsed.
   *
   * @returns Where the text is. The adapter must not keep the object that contains it.
   */
  textIn?(payload: unknown): PayloadText | undefined;
}

/** The error that an adapter throws to end a response with an `error` event. */
export class AdapterError extends Error {
  /** Always `"AdapterError"`. */
  override readonly name: string = "AdapterError";
  /** What went wrong, for a program to act on. */
  readonly code: AssistantErrorCode;
  /** What else is known about the error. */
  readonly details: AssistantErrorDetails | undefined;

  /**
   * Creates the error.
   *
   * @param code What went wrong, for a program to act on.
   * @param message What went wrong, for a person to read.
   * @param details What else is known about the error.
   */
  constructor(code: AssistantErrorCode, message: string, details?: AssistantErrorDetails) {
    super(message);
    this.code = code;
    this.details = details;
  }
}
