import { kindOf } from "../_json.ts";
import {
  createStreamEventValidator,
  type StreamEventValidatorOptions,
} from "../stream_event_validator.ts";
import type { StreamEvent } from "../types.ts";
import { createEventDecoder, type EventDecoder } from "./_event_decoder.ts";
import { type BytesToEvents, EventReader, type StreamEventReader } from "./_event_reader.ts";
import { checkFormat, checkStatus, formatOf } from "./_format.ts";
import type { StreamEventFormat } from "./_frame_parser.ts";

/** Options of {@linkcode readStreamEvents}. */
export interface ReadStreamEventsOptions extends StreamEventValidatorOptions {
  /**
   * How the events are written. A response tells this by its content type; for a body of bytes,
   * this option is required.
   */
  readonly format?: StreamEventFormat | undefined;
  /**
   * Ends the stream at once when it aborts, and discards unread events. Pass the same signal to
   * `fetch`: until there is a response, nothing else can cancel the request.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long to wait for the next byte, in milliseconds, before the stream fails with a
   * `TimeoutError`. The time that the consumer takes does not count.
   *
   * Any byte resets it, even that of a heartbeat: it detects a dead connection, not a slow model.
   * It also covers the wait for the response, but does not cancel a `fetch` that is still pending.
   *
   * @default {Infinity}
   */
  readonly idleTimeout?: number | undefined;
  /**
   * The maximum length of a line, and of the data of a server-sent event, in UTF-16 code units.
   *
   * @default {67_108_864}
   */
  readonly maxLineLength?: number | undefined;
}

/** Where events are read from. */
export type StreamEventSource = Response | ReadableStream<Uint8Array>;

/**
 * Reads a response that consists of stream events, and validates them, in one pass: the fastest and
 * shortest way. A provider's own stream has other events; read it with its adapter, such as
 * `streamAnthropicMessages()`.
 *
 * The iteration ends at the terminal event, even if the server holds the body open. Whatever
 * follows is ignored; it is read for at most a quarter of a second, because a connection can only
 * be reused once its body has been read to the end. Leaving the loop cancels the body at once. An
 * error never overtakes an accepted event, unless `signal` aborts.
 *
 * The iteration and `result()` fail with
 * - a `StreamSequenceError` if the events break a rule or end too early,
 * - a `StreamDecodeError` if the body, its content type or its status is wrong,
 * - the reason of `signal`, a `TimeoutError`, or the error that the body itself failed with.
 *
 * @param source A response, a body, or a promise of either.
 * @param options How to read it.
 * @returns The events, for one loop. `result()` also works without a loop.
 * @throws {TypeError} An option is of the wrong kind.
 * @throws {RangeError} A limit, `idleTimeout` or `maxLineLength` is out of range.
 *
 * @example The final message
 * ```ts
 * import { toStreamEvents } from "@agent-stream/validator";
 * import { readStreamEvents } from "@agent-stream/validator/wire";
 * import { assertEquals } from "@std/assert";
 *
 * const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
 * const answer = toStreamEvents({
 *   role: "assistant",
 *   content: [{ type: "text", text: "Hello" }],
 *   provider: "demo",
 *   model: "demo-1",
 *   usage: { input: 9, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 11, cost },
 *   timestamp: 0,
 *   stopReason: "stop",
 * });
 * const response = new Response(answer.map((event) => JSON.stringify(event)).join("\n"), {
 *   headers: { "content-type": "application/x-ndjson" },
 * });
 * const message = await readStreamEvents(response).result();
 * assertEquals(message.content, [{ type: "text", text: "Hello" }]);
 * ```
 */
export function readStreamEvents(
  source: StreamEventSource | PromiseLike<StreamEventSource>,
  options: ReadStreamEventsOptions = {},
): StreamEventReader {
  const { format, signal, idleTimeout, maxLineLength } = options;
  if (format !== undefined) checkFormat(format);
  const machine = new ValidatedDecoder(options);
  // Checks the length now, not when the response has come.
  createEventDecoder("ndjson", maxLineLength);
  const pending = Promise.resolve(source);
  // Whoever reads is told; where nobody does, it is no unhandled rejection.
  pending.catch(() => {});
  return new EventReader(
    async () => {
      const opened = await pending;
      const [body, ownFormat] = isResponse(opened)
        ? openResponse(opened, format)
        : [opened, format];
      if (typeof body?.getReader !== "function") {
        throw new TypeError(`Expected a Response or a ReadableStream, received ${kindOf(body)}`);
      }
      if (ownFormat === undefined) {
        throw new TypeError(
          'Expected the option "format" to be "ndjson" or "sse" for a body without a content type',
        );
      }
      machine.decoder = createEventDecoder(ownFormat, maxLineLength);
      return body;
    },
    machine,
    { signal, idleTimeout },
  );
}

/** By its looks: an HTTP client from npm has a class of its own. */
function isResponse(source: StreamEventSource): source is Response {
  return typeof source === "object" && source !== null && "headers" in source && "body" in source;
}

function openResponse(
  response: Response,
  format: StreamEventFormat | undefined,
): readonly [ReadableStream<Uint8Array>, StreamEventFormat] {
  try {
    checkStatus(response);
    // Before the body is touched: Bun then forgets the type of a Blob, such as a data: address has.
    const ownFormat = format ?? formatOf(response);
    const body = response.body ?? new ReadableStream({ start: (controller) => controller.close() });
    return [body, ownFormat];
  } catch (error) {
    // The body of a client from npm may be of another kind; what is wrong with the response comes first.
    (async () => await response.body?.cancel?.(error))().catch(() => {});
    throw error;
  }
}

/** Decodes and validates in one pass. */
class ValidatedDecoder implements BytesToEvents {
  /** Set once the format is known, before any byte comes. */
  decoder!: EventDecoder;
  readonly #validator;
  #emit: (event: StreamEvent) => void = () => {};
  readonly #accept = (event: StreamEvent): void => {
    if (this.isFinished) return;
    this.#validator.accept(event);
    this.#emit(event);
  };

  constructor(options: StreamEventValidatorOptions) {
    this.#validator = createStreamEventValidator(options);
  }

  get isFinished(): boolean {
    return this.#validator.phase === "terminal";
  }

  push(bytes: Uint8Array, emit: (event: StreamEvent) => void): void {
    this.#emit = emit;
    this.decoder.push(bytes, this.#accept);
  }

  end(emit: (event: StreamEvent) => void): void {
    this.#emit = emit;
    this.decoder.end(this.#accept);
    this.#validator.end();
  }

  partialContent(): ReturnType<StreamEventReader["partialContent"]> {
    return this.#validator.partialContent();
  }
}
