import { findMissing } from "../_find_missing.ts";
import { isRecord } from "../_is_record.ts";
import { kindOf } from "../_json.ts";
import { MAX_DELAY } from "../_max_delay.ts";
import { noUsage } from "../_no_usage.ts";
import { StreamSequenceError } from "../stream_sequence_error.ts";
import {
  createStreamEventValidator,
  type StreamEventValidatorOptions,
} from "../stream_event_validator.ts";
import type { FailedAssistantMessage, StreamEvent } from "../types.ts";
import { encodeEvent } from "./_encode_event.ts";
import { checkFormat } from "./_format.ts";
import type { StreamEventFormat } from "./_frame_parser.ts";

/** Options of {@linkcode toResponse}. */
export interface ToResponseOptions extends StreamEventValidatorOptions {
  /**
   * How to write the events.
   *
   * @default {"sse"}
   */
  readonly format?: StreamEventFormat | undefined;
  /**
   * How long to wait for an event before sending a heartbeat, in milliseconds. A heartbeat is a
   * comment, or a blank line in NDJSON. `Infinity` sends none.
   *
   * @default {15_000}
   */
  readonly heartbeat?: number | undefined;
  /** Additional headers; they replace those that the format sets. */
  readonly headers?: Headers | Record<string, string> | Array<[string, string]> | undefined;
  /**
   * The status of the response.
   *
   * @default {200}
   */
  readonly status?: number | undefined;
  /**
   * Who served the response, for a message that has to be generated.
   *
   * @default {"unknown"}
   */
  readonly provider?: string | undefined;
  /**
   * The model that answered, for a message that has to be generated.
   *
   * @default {"unknown"}
   */
  readonly model?: string | undefined;
  /**
   * Returns the time in Unix milliseconds, for a message that has to be generated.
   *
   * @default {Date.now}
   */
  readonly now?: (() => number) | undefined;
  /**
   * Returns the event to write in place of an event of the source, before it is validated: to log
   * events as they pass, or to remove what the client should not see. If it throws, that counts as
   * a failure of the source.
   *
   * A generator around the source could do the same, but while it waits for an event, it does not
   * notice that the client has disconnected.
   *
   * @param event The event.
   * @returns The event to write.
   */
  readonly map?: ((event: StreamEvent) => StreamEvent) | undefined;
}

const CONTENT_TYPES: Readonly<Record<StreamEventFormat, string>> = {
  sse: "text/event-stream; charset=utf-8",
  ndjson: "application/x-ndjson; charset=utf-8",
};

/**
 * Creates a response that streams events, and guarantees the client that they are valid and end in
 * a terminal event. If something goes wrong with the source (a violation, a truncation, a failure),
 * the response ends with an `error` event that has the content that is safe to keep. If a rule was
 * broken, the message's `errorCode` is its code. The message of a failure is not written, since it
 * may not be meant for the client.
 *
 * The source is read only as fast as the client reads. When the client disconnects, an iterator's
 * `return()` is called, or a `ReadableStream` is cancelled. An async generator notices this only
 * after the promise that it is waiting for has settled; give whatever it waits for a signal of its
 * own.
 *
 * @param events The events.
 * @param options How to write them.
 * @returns A response whose headers keep proxies from holding events back.
 * @throws {TypeError} `events` cannot be iterated, or an option is of the wrong kind.
 * @throws {TypeError} `status` does not allow a body, such as 204.
 * @throws {RangeError} `heartbeat` is not above 0, or `status` or a limit is out of range.
 *
 * @example A source that breaks off
 * ```ts
 * import { readStreamEvents, toResponse } from "@agent-stream/validator/wire";
 * import { assertEquals } from "@std/assert";
 *
 * async function* answer() {
 *   yield { type: "start" } as const;
 *   yield { type: "text_start", contentIndex: 0 } as const;
 *   yield { type: "text_delta", contentIndex: 0, delta: "Hel" } as const;
 *   await Promise.reject(new Error("database gone"));
 * }
 * const message = await readStreamEvents(toResponse(answer())).result();
 * assertEquals(message.stopReason, "error");
 * assertEquals(message.errorMessage, "The source of the stream failed");
 * assertEquals(message.content, [{ type: "text", text: "Hel" }]);
 * ```
 */
export function toResponse(
  events: AsyncIterable<StreamEvent> | Iterable<StreamEvent> | ReadableStream<StreamEvent>,
  options: ToResponseOptions = {},
): Response {
  const { heartbeat = 15_000, headers, status = 200, now = Date.now, map } = options;
  const format = checkFormat(options.format ?? "sse");
  if (typeof heartbeat !== "number") {
    throw new TypeError(`Expected heartbeat to be a number, received ${kindOf(heartbeat)}`);
  }
  if (!(heartbeat > 0)) {
    throw new RangeError(`Expected heartbeat to be above 0, received ${heartbeat}`);
  }
  if (map !== undefined && typeof map !== "function") {
    throw new TypeError(`Expected map to be a function, received ${kindOf(map)}`);
  }
  const validator = createStreamEventValidator(options);
  const encoder = new TextEncoder();
  const beat = encoder.encode(format === "sse" ? ": heartbeat\n\n" : "\n");
  let position = 0;
  let hasLeft = false;
  let timer: ReturnType<typeof setInterval> | undefined;

  const encode = (event: StreamEvent, json?: string): Uint8Array =>
    encoder.encode(encodeEvent(event, format, position++, json));

  const body = new ReadableStream<Uint8Array>({
    // Called when the client waits and nothing is there for it.
    async pull(controller) {
      if (heartbeat !== Infinity) {
        timer = setInterval(() => {
          if (controller.desiredSize === 0) controller.enqueue(beat);
        }, Math.min(heartbeat, MAX_DELAY));
      }
      try {
        const event = await source.next();
        if (hasLeft) return;
        if (event === undefined) {
          validator.end();
        } else {
          // Before it is accepted: what cannot be written was not said.
          const said = writtenOf(map ? map(event) : event);
          const json = JSON.stringify(said);
          validator.accept(said);
          checkMessage(said);
          controller.enqueue(encode(said, json));
        }
      } catch (error) {
        if (hasLeft) return;
        try {
          for (const event of closing(error)) controller.enqueue(encode(event));
        } catch (failure) {
          // The clock of the options throws: the reader is told, and the source is let go all the same.
          source.cancel(failure);
          throw failure;
        }
      } finally {
        clearInterval(timer);
      }
      if (validator.phase === "terminal") {
        controller.close();
        source.cancel(undefined);
      }
    },
    cancel(reason) {
      hasLeft = true;
      // A source that says nothing more never comes to do it.
      clearInterval(timer);
      source.cancel(reason);
    },
  }, { highWaterMark: 0 });

  /** What ends the stream for the client when the source cannot. */
  function* closing(error: unknown): Generator<StreamEvent> {
    if (validator.phase === "idle") {
      const start: StreamEvent = { type: "start" };
      validator.accept(start);
      yield start;
    }
    const fault = faultOf(error);
    const message: FailedAssistantMessage = {
      role: "assistant",
      content: validator.partialContent(),
      provider: options.provider ?? "unknown",
      model: options.model ?? "unknown",
      usage: noUsage(), // Not known of a stream that broke off.
      timestamp: now(),
      stopReason: "error",
      errorMessage: fault?.message ?? "The source of the stream failed",
      ...(fault && { errorCode: fault.code }),
    };
    const event: StreamEvent = { type: "error", reason: "error", message };
    // What the rules let pass, and is not written all the same, may have been a terminal event.
    if (validator.phase !== "terminal") validator.accept(event);
    yield event;
  }

  const allHeaders = new Headers({
    "content-type": CONTENT_TYPES[format],
    // No cache may keep it, and no proxy may compress it, which would hold events back.
    "cache-control": "no-cache, no-transform",
    // What makes nginx pass each event on at once.
    "x-accel-buffering": "no",
  });
  new Headers(headers).forEach((value, name) => {
    // The only one that may stand there more than once.
    if (name === "set-cookie") allHeaders.append(name, value);
    else allHeaders.set(name, value);
  });
  const response = new Response(body, { status, headers: allHeaders });
  // Last: where an option is wrong, the source is still the caller's.
  const source = pullFrom(events);
  return response;
}

/** A terminal event whose message no reader would take. */
class IncompleteMessage extends TypeError {
  readonly code = "invalid_message";
}

function checkMessage(event: StreamEvent): void {
  if (event?.type !== "done" && event?.type !== "error") return;
  const missing = findMissing(event.message, event.type === "error");
  if (missing) throw new IncompleteMessage(`Expected message with ${missing}`);
}

/** What is wrong with the events, if that is what failed: a client may be told. */
function faultOf(error: unknown): StreamSequenceError | IncompleteMessage | undefined {
  try {
    return error instanceof IncompleteMessage || StreamSequenceError.is(error) ? error : undefined;
  } catch {
    // A proxy that cannot be looked at is none.
    return undefined;
  }
}

/** What JSON writes of an event, read once: not what it inherits or hides, nor what a getter says next. */
function writtenOf(event: StreamEvent): StreamEvent {
  // The validator says what else came.
  if (!isRecord(event) || ArrayBuffer.isView(event)) return event;
  if (hasToJson(event)) return JSON.parse(JSON.stringify(event));
  const written: Record<string, unknown> = { ...event };
  const { type, toolCall } = written;
  // Of a message nobody has looked at all the rest: it may hold an instance of a class, or a getter.
  if (type === "done" || type === "error" || hasToJson(toolCall)) {
    return JSON.parse(JSON.stringify(written));
  }
  if (isRecord(toolCall)) written.toolCall = { ...toolCall };
  return written as unknown as StreamEvent;
}

function hasToJson(value: unknown): boolean {
  return typeof (value as { readonly toJSON?: unknown } | null | undefined)?.toJSON === "function";
}

/** One way to read every kind of source. */
interface Source {
  /** The next event, or `undefined` at the end. */
  next(): Promise<StreamEvent | undefined>;
  /** Lets the source go; nobody waits for it. */
  cancel(reason: unknown): void;
}

function pullFrom(
  events: AsyncIterable<StreamEvent> | Iterable<StreamEvent> | ReadableStream<StreamEvent>,
): Source {
  const isIterable = typeof events === "object" && events !== null &&
    ["getReader", Symbol.asyncIterator, Symbol.iterator].some((key) => key in events);
  if (!isIterable) {
    throw new TypeError(`Expected events that can be iterated, received ${kindOf(events)}`);
  }
  // Not every browser can iterate over a stream.
  if ("getReader" in events) {
    const reader = events.getReader();
    return {
      next: async () => (await reader.read()).value,
      cancel: (reason) => void reader.cancel(reason).catch(() => {}),
    };
  }
  const iterator = Symbol.asyncIterator in events
    ? events[Symbol.asyncIterator]()
    : events[Symbol.iterator]();
  return {
    async next() {
      const { done, value } = await iterator.next();
      return done ? undefined : value;
    },
    cancel: () => void (async () => await iterator.return?.())().catch(() => {}),
  };
}
