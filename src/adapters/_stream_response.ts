import { isPlainObject, kindOf } from "../_json.ts";
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
import { readClientError } from "./_client_error.ts";
import { excerptOf } from "./_excerpt.ts";
import { bytesOf, isSpent, streamOfPayloads } from "./_payload_body.ts";
import { isRefusedBase, readProviderError } from "./_provider_error.ts";
import { requestIdOf, retryAfterOf } from "./_response_headers.ts";

/**
 * What a provider's answer can be read from:
 * - a response, as `fetch` or an HTTP client with the same interface returns it;
 * - a body of bytes;
 * - single payloads, such as the stream of a provider's own client, or your own queue or socket,
 *   yields; also chunks of bytes, such as Node's streams yield. A ReadableStream may hold either.
 */
export type ResponseSource = Response | ReadableStream<unknown> | AsyncIterable<unknown>;

/** Options of every `stream…` function. */
export interface StreamResponseOptions extends AdapterOptions {
  /**
   * Ends the stream when it aborts, with an `error` event whose reason is `aborted`. Pass the same
   * signal to `fetch`: until there is a response, nothing else can cancel the request.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long to wait for the next byte, in milliseconds, before the stream ends with the
   * `errorCode` `idle_timeout`. The time that the consumer takes does not count.
   *
   * Any byte resets it, even that of a heartbeat: it detects a dead connection, not a slow model. Of
   * payloads that come one by one, only the next payload does, since clients keep heartbeats to
   * themselves. It also covers the wait for the response, but does not cancel a `fetch` that is still pending.
   *
   * @default {Infinity}
   */
  readonly idleTimeout?: number | undefined;
}

/** What a `stream…` function has to know about its wire format. */
export interface ResponseFormat {
  /** How the payloads are written. */
  readonly format: StreamEventFormat;
  /** The content types of the format, without parameters and in lower case. */
  readonly contentTypes: readonly string[];
  /** The headers that may hold the id of the request, in order of preference. */
  readonly requestIdHeaders: readonly string[];
}

/** A body that is no stream of payloads: what it is, and what is known of it. */
interface Refusal {
  readonly code: AssistantErrorCode;
  readonly message: string;
  readonly details: AssistantErrorDetails;
  readonly contentType: string;
}

/** The adapter has them, and ends the response with an event where it goes past one. */
const NO_LIMITS = { contentBlocks: Infinity, messageLength: Infinity, argumentsDepth: Infinity };

/** How much of a body that is not the wire's is read, in bytes. */
const REFUSED_LENGTH = 65_536;

/** Content types that say nothing; what comes will show. */
const MUTE_CONTENT_TYPES: readonly string[] = ["", "application/octet-stream", "text/plain"];

/**
 * Reads a response as events, in one pass. Whatever the provider or the connection does ends in a
 * terminal event, and `result()` resolves with its message.
 *
 * @param response A response or another source, or a promise of one.
 * @param adapter The adapter that converts the payloads to events.
 * @param wire What else there is to know about the wire format.
 * @param options How to read it. How much the response may contain is up to the adapter.
 * @returns The events, for one loop. `result()` also works without a loop.
 * @throws {TypeError} An option is of the wrong kind, or the adapter has been used for another response.
 * @throws {RangeError} `idleTimeout` is out of range.
 */
export function streamResponse(
  response: ResponseSource | PromiseLike<ResponseSource>,
  adapter: Adapter,
  wire: ResponseFormat,
  options: Pick<StreamResponseOptions, "signal" | "idleTimeout" | "now"> = {},
): StreamEventReader {
  const { signal, idleTimeout } = options;
  const decoder = new ResponseDecoder(adapter, wire, options);
  const pending = Promise.resolve(response);
  // Whoever reads is told; where nobody does, it is no unhandled rejection.
  pending.then((source) => decoder.attend(source)).catch(() => {});
  return new EventReader(
    async () => decoder.open(await pending),
    decoder,
    { signal, idleTimeout },
  );
}

/** The body of a response in, validated events out. */
class ResponseDecoder implements BytesToEvents {
  readonly #decoder: BodyDecoder;
  readonly #validator = createStreamEventValidator({ limits: NO_LIMITS });
  readonly #wire: ResponseFormat;
  readonly #options: Pick<StreamResponseOptions, "signal" | "now">;
  /** What was made of a source of payloads. */
  #payloads: ReadableStream<unknown> | undefined;
  /** Whether it had given all to somebody else. */
  #isSpent = false;
  #requestId: string | undefined;
  /** A fault of the caller; it is thrown at the caller. */
  #misuse: TypeError | undefined;
  #refusal: Refusal | undefined;
  /** What came of a refused body. */
  #refused: Uint8Array[] = [];
  #refusedLength = 0;

  constructor(
    adapter: Adapter,
    wire: ResponseFormat,
    options: Pick<StreamResponseOptions, "signal" | "now">,
  ) {
    this.#decoder = new BodyDecoder(adapter, wire.format);
    this.#wire = wire;
    this.#options = options;
  }

  get isFinished(): boolean {
    return this.#validator.phase === "terminal";
  }

  /** Begins to listen to what would not wait for whoever reads. */
  attend(source: ResponseSource): void {
    const body: unknown = isResponse(source) ? source.body : source;
    if (isStream(body) || !isAsyncIterable(body)) return;
    this.#isSpent = isSpent(body);
    this.#payloads = streamOfPayloads(body);
  }

  open(source: ResponseSource): ReadableStream<Uint8Array> {
    const body = this.#bodyOf(source);
    if (isResponse(source)) this.#look(source);
    // What comes of it is looked at piece by piece.
    return body as ReadableStream<Uint8Array> | null ??
      new ReadableStream({ start: (controller) => controller.close() });
  }

  /** Looks at what a response says of its body. */
  #look({ status, headers }: Response): void {
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
  }

  push(piece: unknown, emit: Emit): void {
    const bytes = bytesOf(piece, this.#wire.format);
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
      const said = readClientError(
        cause,
        this.#wire.requestIdHeaders,
        this.#options.now ?? Date.now,
      );
      this.#decoder.fail(said ?? cause, this.#checked(emit));
    }
  }

  partialContent(): AssistantContent[] {
    return this.#validator.partialContent();
  }

  #bodyOf(source: ResponseSource): ReadableStream<unknown> | null {
    const body: unknown = isResponse(source) ? source.body ?? null : source;
    const isUsed = isResponse(source) && source.bodyUsed;
    if (isUsed || this.#isSpent || (isStream(body) && body.locked)) {
      throw this.#misuse = new TypeError("Expected a body that nobody reads, received one in use");
    }
    if (body === null || isStream(body)) return body;
    if (this.#payloads) return this.#payloads;
    throw this.#misuse = new TypeError(
      `Expected a Response, a body or the payloads of one, received ${kindOf(source)}`,
    );
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

/** By its looks: an HTTP client from npm has a class of its own. */
function isResponse(source: ResponseSource): source is Response {
  return typeof source === "object" && source !== null && "status" in source &&
    typeof source.status === "number" && typeof source.headers?.get === "function";
}

function isStream(body: unknown): body is ReadableStream<unknown> {
  return typeof (body as ReadableStream | undefined | null)?.getReader === "function";
}

function isAsyncIterable(body: unknown): body is AsyncIterable<unknown> {
  const iterate = (body as AsyncIterable<unknown> | undefined | null)?.[Symbol.asyncIterator];
  return typeof iterate === "function";
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
    const failed = code === "http_error" ? value : [value].flat().find(hasError);
    if (failed === undefined) return error;
    said = readProviderError(failed);
  } catch {
    return new AdapterError(code, `${message}: ${excerptOf(text, contentType)}`, details);
  }
  return code === "http_error"
    ? new AdapterError(code, `${message}: ${said.message}`, { ...said.details, ...details })
    : new AdapterError("provider_error", said.message, { ...details, ...said.details });
}

function hasError(value: unknown): boolean {
  return isPlainObject(value) && ("error" in value || isRefusedBase(value));
}
