/**
 * What can be wrong with a body of events, before any rule of the protocol is asked.
 *
 * - `invalid_utf8`: a byte sequence that is not UTF-8.
 * - `line_too_long`: a line, or the data of a server-sent event, longer than the limit.
 * - `invalid_json`: a line, or the data of a server-sent event, that is not JSON.
 * - `incomplete_frame`: the body ended in the middle of a line or of a server-sent event.
 * - `invalid_message`: a terminal event whose message lacks what its type promises.
 * - `unsupported_content_type`: a content type that is neither NDJSON nor server-sent events.
 * - `unexpected_status`: a response whose status is not OK.
 */
export type StreamDecodeErrorCode =
  | "invalid_utf8"
  | "line_too_long"
  | "invalid_json"
  | "incomplete_frame"
  | "invalid_message"
  | "unsupported_content_type"
  | "unexpected_status";

/** Where a {@linkcode StreamDecodeError} happened. */
export interface StreamDecodeErrorOptions extends ErrorOptions {
  /** What is wrong. */
  readonly code: StreamDecodeErrorCode;
  /** The line in the body, from 1 on; 0 where it is not about a line. */
  readonly line?: number | undefined;
  /** Where in the body the line, or the first wrong byte, begins, in bytes. */
  readonly byteOffset?: number | undefined;
  /** The status of the response, where that is wrong. */
  readonly status?: number | undefined;
}

/** What `JSON.stringify` makes of a {@linkcode StreamDecodeError}. */
export interface StreamDecodeErrorJson {
  /** Always `"StreamDecodeError"`. */
  readonly name: string;
  /** The whole message. */
  readonly message: string;
  /** What is wrong. */
  readonly code: StreamDecodeErrorCode;
  /** The line in the body, from 1 on; 0 where it is not about a line. */
  readonly line: number;
  /** Where in the body the line, or the first wrong byte, begins, in bytes. */
  readonly byteOffset: number;
  /** The HTTP status of the response, where that is wrong. */
  readonly status?: number;
}

/** One brand for every copy of the package, so that {@linkcode StreamDecodeError.is} knows them all. */
const BRAND = Symbol.for("@agent-stream/validator.StreamDecodeError");

/**
 * Says where a body stops being events. Message and fields carry positions, never content.
 *
 * @example Recognising one
 * ```ts
 * import { StreamDecodeError } from "@agent-stream/validator/wire";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const error = new StreamDecodeError("expected JSON", {
 *   code: "invalid_json",
 *   line: 3,
 *   byteOffset: 120,
 * });
 * assert(StreamDecodeError.is(error));
 * assertEquals(error.message, "Invalid event stream at line 3, byte 120: expected JSON");
 * ```
 */
export class StreamDecodeError extends Error {
  /** Always `"StreamDecodeError"`. */
  override readonly name: string = "StreamDecodeError";
  /** What is wrong. */
  readonly code: StreamDecodeErrorCode;
  /** The line in the body, from 1 on; 0 where it is not about a line. */
  readonly line: number;
  /** Where in the body the line, or the first wrong byte, begins, in bytes. */
  readonly byteOffset: number;
  /** The HTTP status of the response, where that is wrong: with the code `unexpected_status`. */
  readonly status: number | undefined;

  /**
   * Creates the error for one place of a body.
   *
   * @param detail What was expected and what came, without content.
   * @param options What is wrong, and where.
   */
  constructor(detail: string, options: StreamDecodeErrorOptions) {
    const { code, line = 0, byteOffset = 0, status } = options;
    const place = line > 0 ? ` at line ${line}, byte ${byteOffset}` : "";
    super(`Invalid event stream${place}: ${detail}`, options);
    this.code = code;
    this.line = line;
    this.byteOffset = byteOffset;
    this.status = status;
  }

  /**
   * Whether a value is a `StreamDecodeError`, of this copy of the package or of another.
   *
   * @param value Any value.
   * @returns Whether it is one.
   */
  static is(value: unknown): value is StreamDecodeError {
    return value instanceof Error && BRAND in value;
  }

  /**
   * What belongs in a log: everything, the message too, and nothing of the body.
   *
   * @returns A plain object.
   */
  toJSON(): StreamDecodeErrorJson {
    const { name, message, code, line, byteOffset, status } = this;
    return { name, message, code, line, byteOffset, ...(status !== undefined && { status }) };
  }

  static {
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }
}
