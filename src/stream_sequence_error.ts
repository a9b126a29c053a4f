import { clip, quote } from "./_quote.ts";
import type { AssistantContent, StreamPhase } from "./types.ts";

/**
 * The codes of the rules of the stream event protocol. Codes never change. On the command line,
 * `explain CODE` shows what breaks a rule, and what the usual causes are.
 */
export type StreamSequenceErrorCode =
  | "malformed_event"
  | "expected_start"
  | "after_terminal"
  | "duplicate_start"
  | "unknown_event"
  | "block_open"
  | "unexpected_index"
  | "duplicate_tool_id"
  | "wrong_block"
  | "wrong_index"
  | "content_mismatch"
  | "arguments_not_json"
  | "limit_exceeded"
  | "arguments_not_object"
  | "tool_id_changed"
  | "tool_name_changed"
  | "arguments_mismatch"
  | "block_open_at_done"
  | "reason_mismatch"
  | "message_mismatch"
  | "truncated";

/** What a {@linkcode StreamSequenceError} contains beyond its message. */
export interface StreamSequenceErrorOptions extends ErrorOptions {
  /**
   * The rule that was broken.
   *
   * @default {"truncated"} without an event type, `"malformed_event"` with one
   */
  readonly code?: StreamSequenceErrorCode | undefined;
  /**
   * How many events the validator had received before this one.
   *
   * @default {0}
   */
  readonly eventIndex?: number | undefined;
  /** The position of the block in question. */
  readonly contentIndex?: number | undefined;
  /** Where in the message or the arguments the first difference is. */
  readonly path?: string | undefined;
  /** Where in the text the first difference is, in UTF-16 code units. */
  readonly offset?: number | undefined;
  /** What was expected from the events before, around the first difference. */
  readonly expected?: string | undefined;
  /** What was received instead, around the first difference. */
  readonly received?: string | undefined;
  /** The content streamed before the error that is safe to keep. */
  readonly partialContent?: readonly AssistantContent[] | undefined;
}

/** The JSON form of a {@linkcode StreamSequenceError}, without any content of the stream. */
export interface StreamSequenceErrorJson {
  /** Always `"StreamSequenceError"`. */
  readonly name: string;
  /** The whole message. */
  readonly message: string;
  /** The rule that was broken. */
  readonly code: StreamSequenceErrorCode;
  /** The rejected event's type; missing if there was no event, or if it had no type. */
  readonly eventType?: string;
  /** The phase of the stream when the event arrived. */
  readonly phase: StreamPhase;
  /** How many events the validator had received before this one. */
  readonly eventIndex: number;
  /** The position of the block in question. */
  readonly contentIndex?: number;
  /** Where in the message or the arguments the first difference is. */
  readonly path?: string;
  /** Where in the text the first difference is, in UTF-16 code units. */
  readonly offset?: number;
  /** What was expected and what was received: the message without its beginning. */
  readonly detail: string;
}

/** One brand for every copy of the package, so that {@linkcode StreamSequenceError.is} knows them all. */
const BRAND = Symbol.for("@agent-stream/validator.StreamSequenceError");

/**
 * Says which event of a stream broke which rule of the protocol.
 *
 * What is printed or serialised (the message and `toJSON()`) contains positions, lengths, tool
 * names and ids, but never content. `expected`, `received` and `partialContent` contain content,
 * for a debugger; they are neither printed nor serialised.
 *
 * @example Finding out which rule was broken
 * ```ts
 * import { createStreamEventValidator, StreamSequenceError } from "@agent-stream/validator";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const validator = createStreamEventValidator();
 * try {
 *   validator.accept({ type: "text_start", contentIndex: 0 });
 * } catch (error) {
 *   assert(StreamSequenceError.is(error));
 *   assertEquals(error.code, "expected_start");
 *   assertEquals(error.eventIndex, 0);
 *   assertEquals(
 *     error.message,
 *     'Invalid stream event "text_start" in phase "idle": expected "start", received "text_start"',
 *   );
 * }
 * ```
 */
export class StreamSequenceError extends Error {
  /** Always `"StreamSequenceError"`. */
  override readonly name: string = "StreamSequenceError";
  /** The rejected event's type; `undefined` if there was no event, or if it had no type. */
  readonly eventType: string | undefined;
  /** The phase of the stream when the event arrived. */
  readonly phase: StreamPhase;
  /** The rule that was broken. */
  readonly code: StreamSequenceErrorCode;
  /** How many events the validator had received before this one. */
  readonly eventIndex: number;
  /** What was expected and what was received: the message without its beginning. */
  readonly detail: string;
  /** The position of the block in question, if there is one. */
  readonly contentIndex?: number;
  /** Where in the message or the arguments they first differ: `content[2].arguments.query`. */
  readonly path?: string;
  /** Where in the text the first difference is, in UTF-16 code units. */
  readonly offset?: number;
  readonly #expected: string | undefined;
  readonly #received: string | undefined;
  readonly #partialContent: readonly AssistantContent[];

  /**
   * Creates the error for one event.
   *
   * @param eventType The rejected event's type, or `undefined` if there is none.
   * @param phase The phase of the stream when the event arrived.
   * @param detail What was expected and what was received.
   * @param options What else is known about the error.
   */
  constructor(
    eventType: string | undefined,
    phase: StreamPhase,
    detail: string,
    options: StreamSequenceErrorOptions = {},
  ) {
    const code = options.code ?? (eventType === undefined ? "truncated" : "malformed_event");
    const subject = code === "truncated"
      ? "Stream ended"
      : eventType === undefined
      ? "Invalid stream event"
      : `Invalid stream event ${quote(eventType)}`;
    super(`${subject} in phase "${phase}": ${detail}`, options);
    this.eventType = eventType;
    this.phase = phase;
    this.code = code;
    this.eventIndex = options.eventIndex ?? 0;
    this.detail = detail;
    if (options.contentIndex !== undefined) this.contentIndex = options.contentIndex;
    if (options.path !== undefined) this.path = options.path;
    if (options.offset !== undefined) this.offset = options.offset;
    this.#expected = options.expected;
    this.#received = options.received;
    this.#partialContent = options.partialContent ?? [];
  }

  /** What was expected, at most 40 UTF-16 code units around the first difference. */
  get expected(): string | undefined {
    return this.#expected;
  }

  /** What was received instead, at most 40 UTF-16 code units around the first difference. */
  get received(): string | undefined {
    return this.#received;
  }

  /** The content streamed before the error that is safe to keep. */
  get partialContent(): readonly AssistantContent[] {
    return this.#partialContent;
  }

  /**
   * Whether a value is a `StreamSequenceError`, from this copy of the package or from another.
   *
   * @param value Any value.
   * @returns Whether it is one.
   */
  static is(value: unknown): value is StreamSequenceError {
    return value instanceof Error && BRAND in value;
  }

  /**
   * The error in a form for logs, without any content of the stream.
   *
   * @returns A plain object.
   */
  toJSON(): StreamSequenceErrorJson {
    return {
      name: this.name,
      message: this.message,
      code: this.code,
      ...(this.eventType !== undefined && { eventType: clip(this.eventType) }),
      phase: this.phase,
      eventIndex: this.eventIndex,
      ...(this.contentIndex !== undefined && { contentIndex: this.contentIndex }),
      ...(this.path !== undefined && { path: this.path }),
      ...(this.offset !== undefined && { offset: this.offset }),
      detail: this.detail,
    };
  }

  static {
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }
}
