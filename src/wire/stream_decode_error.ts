/**
 * What can be wrong with a body of events, before any rule of the protocol is checked.
 *
 * - `invalid_utf8`: a byte sequence is not UTF-8.
 * - `line_too_long`: a line, or the data of a server-sent event, is longer than the limit.
 * - `invalid_json`: a line, or the data of a server-sent event, is not JSON.
 * - `incomplete_frame`: the body ended in the middle of a line or of a server-sent event.
 * - `invalid_message`: the message of a terminal event lacks a required field.
 * - `unsupported_content_type`: the content type is neither NDJSON nor server-sent events.
 * - `unexpected_status`: the status of the response is not OK.
 */
export type StreamDecodeErrorCode =
  | "invalid_utf8"
  | "line_too_long"
  | "invalid_json"
  | "incomplete_frame"
  | "invalid_message"
  | "unsupported_content_type"
  | "unexpected_status";

/** What is wrong with a body, and where; see {@linkcode StreamDecodeError}. */
export interface StreamDecodeErrorOptions extends ErrorOptions {
  /** What is wrong. */
  readonly code: StreamDecodeErrorCode;
  /** The number of the line in the body, starting at 1; 0 if the error is not about a line. */
  readonly line?: number | undefined;
  /** The offset in the body, in bytes, of that line or of the first wrong byte. */
  readonly byteOffset?: number | undefined;
  /** The HTTP status of the response, if that is what is wrong. */
  readonly status?: number | undefined;
}

/** The JSON form of a {@linkcode StreamDecodeError}. */
export interface StreamDecodeErrorJson {
  /** Always `"StreamDecodeError"`. */
  readonly name: string;
  /** The whole message. */
  readonly message: string;
  /** What is wrong. */
  readonly code: StreamDecodeErrorCode;
  /** The number of the line in the body, starting at 1; 0 if the error is not about a line. */
  readonly line: number;
  /** The offset in the body, in bytes, of that line or of the first wrong byte. */
  readonly byteOffset: number;
  /** The HTTP status of the response, if that is what is wrong. */
  readonly status?: number;
}

/** One brand for every copy of the package, so that {@linkcode StreamDecodeError.is} knows them all. */
const BRAND = Symbol.for("@agent-stream/validator.StreamDecodeError");

/**
 * Says where a body stops being a stream of events. Its message and fields contain positions, but
 * never content.
 *
 * @example Recognising the error
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
  /** The number of the line in the body, starting at 1; 0 if the error is not about a line. */
  readonly line: number;
  /** The offset in the body, in bytes, of that line or of the first wrong byte. */
  readonly byteOffset: number;
  /** The HTTP status of the response, with the code `unexpected_status`. */
  readonly status: number | undefined;

  /**
   * Creates the error for one position in a body.
   *
   * @param detail What was expected and what was received, without content.
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
   * Whether a value is a `StreamDecodeError`, from this copy of the package or from another.
   *
   * @param value Any value.
   * @returns Whether it is one.
   */
  static is(value: unknown): value is StreamDecodeError {
    return value instanceof Error && BRAND in value;
  }

  /**
   * The error in a form for logs: all its fields and the message, without any content of the body.
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
