import { checkBytes } from "../_check_bytes.ts";
import { kindOf } from "../_json.ts";
import { quote } from "../_quote.ts";
import { createStreamEventValidator } from "../stream_event_validator.ts";
import type { AssistantContent, AssistantErrorDetails, StreamEvent } from "../types.ts";
import { type BytesToEvents, EventReader, type StreamEventReader } from "../wire/_event_reader.ts";
import type { StreamEventFormat } from "../wire/_frame_parser.ts";
import {
  type Adapter,
  AdapterError,
  type AdapterOptions,
  type AssistantErrorCode,
  type Emit,
} from "./_adapter.ts";
import { BodyDecoder } from "./_body_decoder.ts";
import { excerptOf } from "./_excerpt.ts";
import { readProviderError } from "./_provider_error.ts";

/** Options of every `stream…` function. */
export interface StreamResponseOptions extends AdapterOptions {
  /**
   * Ends the stream when it fires: with an `error` event whose reason is `aborted`. Give the same one
   * to `fetch`, which nothing else can stop before it has answered.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long to wait for the next byte, in milliseconds; then the stream ends with the `errorCode`
   * `idle_timeout`. The time that the consumer takes does not count.
   *
   * Each byte counts, those of a heartbeat too: this finds a connection that died, not a model that
   * takes its time. The wait for the response counts as well; a `fetch` that has not answered goes on
   * all the same.
   *
   * @default {Infinity}
   */
  readonly idleTimeout?: number | undefined;
}

/** What a `stream…` function has to know of its wire. */
export interface ResponseFormat {
  /** How the payloads are written. */
  readonly format: StreamEventFormat;
  /** The content types that say so, by their essence. */
  readonly contentTypes: readonly string[];
  /** The headers that may hold the id of the request, the first one first. */
  readonly requestIdHeaders: readonly string[];
}

/** A body that is no stream of payloads: what it is, and what is known of it. */
interface Refusal {
  readonly code: AssistantErrorCode;
  readonly message: string;
  readonly details: AssistantErrorDetails;
  readonly contentType: string;
}

/** How much of a body that is not the wire's is read, in bytes. */
const REFUSED_LENGTH = 65_536;

/** Content types that say nothing; what comes will show. */
const MUTE_CONTENT_TYPES: readonly string[] = ["", "application/octet-stream", "text/plain"];

/**
 * Reads the events of a response, in one pass. Whatever the provider or the connection does becomes the
 * terminal event, and `result()` resolves with its message.
 *
 * @param response A response, or a promise of one.
 * @param adapter What makes events of the payloads.
 * @param wire What else is to know of the wire.
 * @param options How to read it.
 * @returns The events, for one loop; and `result()`, which is enough by itself.
 * @throws {TypeError} An option is of the wrong kind.
 * @throws {RangeError} `idleTimeout` or a limit is out of range.
 */
export function streamResponse(
  response: Response | PromiseLike<Response>,
  adapter: Adapter,
  wire: ResponseFormat,
  options: StreamResponseOptions = {},
): StreamEventReader {
  const { signal, idleTimeout } = options;
  const decoder = new ResponseDecoder(adapter, wire, options);
  const pending = Promise.resolve(response);
  // Whoever reads is told; where nobody does, it is no unhandled rejection.
  pending.catch(() => {});
  return new EventReader(
    async () => decoder.open(await pending),
    decoder,
    { signal, idleTimeout },
  );
}

/** The body of a response in, validated events out. */
class ResponseDecoder implements BytesToEvents {
  readonly #decoder: BodyDecoder;
  readonly #validator;
  readonly #wire: ResponseFormat;
  readonly #options: StreamResponseOptions;
  #requestId: string | undefined;
  /** A fault of the caller; it is thrown at the caller. */
  #misuse: TypeError | undefined;
  #refusal: Refusal | undefined;
  /** What came of a refused body. */
  #refused: Uint8Array[] = [];
  #refusedLength = 0;

  constructor(adapter: Adapter, wire: ResponseFormat, options: StreamResponseOptions) {
    this.#decoder = new BodyDecoder(adapter, wire.format);
    this.#validator = createStreamEventValidator(options);
    this.#wire = wire;
    this.#options = options;
  }

  get isFinished(): boolean {
    return this.#validator.phase === "terminal";
  }

  open(response: Response): ReadableStream<Uint8Array> {
    const body = this.#bodyOf(response);
    const { status, headers } = response;
    this.#requestId = requestIdOf(headers, this.#wire.requestIdHeaders);
    const contentType = headers.get("content-type") ?? "";
    const essence = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
    if (status < 200 || status > 299) {
      const retryAfter = retryAfterOf(headers, this.#options.now ?? Date.now);
      this.#refusal = {
        code: "http_error",
        message: `HTTP status ${status}`,
        details: { status, ...(retryAfter !== undefined && { retryAfter }) },
        contentType: essence,
      };
    } else if (
      !this.#wire.contentTypes.includes(essence) && !MUTE_CONTENT_TYPES.includes(essence)
    ) {
      const expected = this.#wire.contentTypes.map(quote).join(" or ");
      this.#refusal = {
        code: "unexpected_content_type",
        message: `Expected content type ${expected}, received ${quote(contentType)}${
          essence === "application/json" ? ", as where a request asks for no stream" : ""
        }`,
        details: { status },
        contentType: essence,
      };
    }
    return body ?? new ReadableStream({ start: (controller) => controller.close() });
  }

  push(bytes: Uint8Array, emit: Emit): void {
    checkBytes(bytes);
    if (!this.#refusal) {
      this.#decoder.push(bytes, this.#checked(emit));
      return;
    }
    const rest = bytes.subarray(0, REFUSED_LENGTH - this.#refusedLength);
    this.#refused.push(rest);
    this.#refusedLength += rest.length;
    if (this.#refusedLength === REFUSED_LENGTH) this.#refuse(this.#refusal, emit);
  }

  end(emit: Emit): void {
    if (this.#refusal) this.#refuse(this.#refusal, emit);
    else this.#decoder.end(this.#checked(emit));
  }

  fail(cause: unknown, emit: Emit): void {
    if (this.#misuse) throw this.#misuse;
    if (this.#options.signal?.aborted) {
      this.#decoder.fail(abortOf(cause), this.#checked(emit));
    } else if (this.#refusal && !isAbort(cause)) {
      // The status says more than what happened to the page behind it.
      this.#refuse(this.#refusal, emit);
    } else {
      this.#decoder.fail(cause, this.#checked(emit));
    }
  }

  partialContent(): AssistantContent[] {
    return this.#validator.partialContent();
  }

  /** By its looks: an HTTP client from npm has a class of its own. */
  #bodyOf(response: Response): ReadableStream<Uint8Array> | null {
    const isResponse = typeof response === "object" && response !== null &&
      typeof response.status === "number" && typeof response.headers?.get === "function";
    const body = isResponse ? response.body ?? null : undefined;
    if (body === undefined || (body !== null && typeof body.getReader !== "function")) {
      throw this.#misuse = new TypeError(`Expected a Response, received ${kindOf(response)}`);
    }
    if (body?.locked || response.bodyUsed) {
      throw this.#misuse = new TypeError("Expected a body that nobody reads, received one in use");
    }
    return body;
  }

  #refuse({ code, message, details, contentType }: Refusal, emit: Emit): void {
    const error = new AdapterError(code, message, details);
    const text = new TextDecoder().decode(joined(this.#refused, this.#refusedLength)).trim();
    this.#decoder.fail(quoteBody(error, text, contentType), this.#checked(emit));
  }

  /** Holds the events to the protocol, and tells whose request failed. */
  #checked(emit: Emit): Emit {
    return (event) => {
      const told = event.type === "error" ? withRequestId(event, this.#requestId) : event;
      this.#validator.accept(told);
      emit(told);
    };
  }
}

function withRequestId(
  event: Extract<StreamEvent, { readonly type: "error" }>,
  requestId: string | undefined,
): StreamEvent {
  if (requestId === undefined) return event;
  const { message } = event;
  return {
    ...event,
    message: { ...message, errorDetails: { requestId, ...message.errorDetails } },
  };
}

function requestIdOf(headers: Headers, names: readonly string[]): string | undefined {
  for (const name of names) {
    const id = headers.get(name);
    if (id) return id;
  }
  return undefined;
}

/** Reads how long to wait, in milliseconds: as such, in seconds, or until a date. */
function retryAfterOf(headers: Headers, now: () => number): number | undefined {
  const milliseconds = readNumber(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return milliseconds;
  const after = headers.get("retry-after");
  const seconds = readNumber(after);
  if (seconds !== undefined) return seconds * 1000;
  // Every date of HTTP has its day in words, and nothing else that stands here has letters.
  const date = after && /[a-z]/i.test(after) ? Date.parse(after) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now());
}

function readNumber(value: string | null): number | undefined {
  if (value === null || !/^\s*\d{1,15}(\.\d+)?\s*$/.test(value)) return undefined;
  return Number(value);
}

function isAbort(cause: unknown): boolean {
  return cause instanceof Error && cause.name === "AbortError";
}

/** A signal may fire with any reason; it is an abort all the same. */
function abortOf(cause: unknown): AdapterError {
  const reason = cause instanceof Error ? cause.message : typeof cause === "string" ? cause : "";
  return new AdapterError("aborted", reason === "" ? "The response was aborted" : reason);
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    all.set(chunk, offset);
    offset += chunk.length;
  }
  return all;
}

/** Adds what the body says: the provider's error, or else the beginning of its text. */
function quoteBody(error: AdapterError, text: string, contentType: string): AdapterError {
  const { code, message, details } = error;
  if (text === "") return error;
  let said: AdapterError | undefined;
  try {
    const value = JSON.parse(text);
    // A good status with an error inside; else it is an answer, which is not for a message.
    if (code !== "http_error" && !hasError(value)) return error;
    said = readProviderError(value);
  } catch {
    return new AdapterError(code, `${message}: ${excerptOf(text, contentType)}`, details);
  }
  return code === "http_error"
    ? new AdapterError(code, `${message}: ${said.message}`, { ...said.details, ...details })
    : new AdapterError("provider_error", said.message, { ...said.details, ...details });
}

function hasError(value: unknown): boolean {
  return typeof value === "object" && value !== null && "error" in value;
}
