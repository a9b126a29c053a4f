import { Outcome } from "./_outcome.ts";
import type { StreamSequenceError } from "./stream_sequence_error.ts";
import {
  createStreamEventValidator,
  type StreamEventValidator,
  type StreamEventValidatorOptions,
} from "./stream_event_validator.ts";
import type { AssistantContent, AssistantMessage, JsonValue, StreamEvent } from "./types.ts";

/** Options of {@linkcode StreamEventValidatorStream}. */
export interface StreamEventValidatorStreamOptions extends StreamEventValidatorOptions {
  /**
   * Ends the stream at once when it fires, even while nobody reads: the readable side errors with
   * its reason and upstream is cancelled. A pipe's own `signal` waits for the reader instead.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Lets everything pass, untouched, and only reports: neither side errors for a violation, only
   * `result()` rejects with it. For trying the validator in production.
   *
   * @default {false}
   */
  readonly observe?: boolean | undefined;
  /**
   * Called once, with the first violation or with the truncation. What it throws is ignored.
   *
   * @param error What was wrong.
   */
  readonly onViolation?: ((error: StreamSequenceError) => unknown) | undefined;
}

/**
 * Lets the events of a stream pass while they can follow one another, and errors with a
 * {@linkcode StreamSequenceError} at the first that cannot.
 *
 * The offending event is not passed on, every event before it is, however slowly they are read:
 * no error overtakes an accepted event. The very same error object arrives at the reader, at the
 * writer and at {@linkcode StreamEventValidatorStream.result}.
 *
 * | happening | readable side | writable side | `result()` |
 * |---|---|---|---|
 * | `done` or `error` accepted | passes on | | resolves with its `message` |
 * | violation | errors | errors, upstream is cancelled | rejects |
 * | closed before a terminal event | errors with code `truncated` | close rejects | rejects |
 * | upstream fails or aborts | errors with that reason | | rejects with that reason |
 * | consumer cancels | | errors with that reason | rejects with it, or with an `AbortError` |
 * | `signal` fires | errors with its reason | errors, upstream is cancelled | rejects with it |
 *
 * The readable side holds no event back (its high-water mark is 0), since a queued event would be
 * lost to an error. The writable side takes one event ahead of the reader (its high-water mark is
 * 1), which is not accepted yet.
 *
 * @example Validating the events of a pipe
 * ```ts
 * import { StreamEventValidatorStream, StreamSequenceError } from "@agent-stream/validator";
 * import { assertEquals, assertRejects } from "@std/assert";
 *
 * const source = new ReadableStream({
 *   start(controller) {
 *     controller.enqueue({ type: "start" });
 *     controller.enqueue({ type: "text_start", contentIndex: 0 });
 *     controller.close();
 *   },
 * });
 * const validator = new StreamEventValidatorStream();
 * const reader = source.pipeThrough(validator).getReader();
 * assertEquals((await reader.read()).value, { type: "start" });
 * assertEquals((await reader.read()).value, { type: "text_start", contentIndex: 0 });
 * const error = await assertRejects(() => reader.read(), StreamSequenceError);
 * assertEquals(error.code, "truncated");
 * await assertRejects(() => validator.result(), StreamSequenceError);
 * ```
 */
export class StreamEventValidatorStream
  extends TransformStream<StreamEvent | JsonValue, StreamEvent> {
  readonly #validator: StreamEventValidator;
  readonly #outcome: Outcome<AssistantMessage>;

  /**
   * Creates a stream that has seen nothing.
   *
   * @param options How much a response may hold, and what ends the stream.
   * @throws {TypeError} A limit is not a number.
   * @throws {RangeError} A limit is neither a whole number from 0 on nor `Infinity`.
   */
  constructor(options: StreamEventValidatorStreamOptions = {}) {
    const { signal, observe = false, onViolation } = options;
    const validator = createStreamEventValidator(options);
    const outcome = new Outcome<AssistantMessage>();
    let violation: StreamSequenceError | undefined;

    let stopListening = (): void => {};
    const fail = (reason: unknown): void => {
      stopListening();
      outcome.reject(reason);
    };
    const report = (error: unknown): void => {
      violation = error as StreamSequenceError;
      if (observe) outcome.reject(violation);
      else fail(violation);
      // An async function turns what the callback throws, and a promise that it rejects, into one
      // rejection that can be ignored.
      (async (error) => await onViolation?.(error))(violation).catch(() => {});
      if (!observe) throw violation;
    };

    super(
      {
        start(controller) {
          if (!signal) return;
          const abort = (): void => {
            fail(signal.reason);
            controller.error(signal.reason);
          };
          if (signal.aborted) return abort();
          signal.addEventListener("abort", abort);
          stopListening = () => signal.removeEventListener("abort", abort);
        },
        transform(event, controller) {
          if (violation === undefined) {
            try {
              validator.accept(event as StreamEvent);
              if (validator.phase === "terminal") {
                outcome.resolve((event as { readonly message: AssistantMessage }).message);
              }
            } catch (error) {
              report(error);
            }
          }
          controller.enqueue(event as StreamEvent);
        },
        flush() {
          if (violation === undefined) {
            try {
              validator.end();
            } catch (error) {
              report(error);
            }
          }
          stopListening();
        },
        cancel: fail,
      },
      // Sixteen would take a fifth off the time of an event on Deno, but let as many more pass once a
      // pipe's signal has fired.
      { highWaterMark: 1 },
      // What is queued here would be lost to an error.
      { highWaterMark: 0 },
    );
    this.#validator = validator;
    this.#outcome = outcome;
    if (!callsTransformerCancel()) {
      Object.defineProperty(this, "readable", { value: watch(super.readable, fail) });
    }
  }

  /**
   * The message of the terminal event. The promise does not pull: somebody has to read the stream.
   *
   * It is one promise, settles once, and causes no unhandled rejection.
   *
   * @returns A promise that rejects with what the readable side errors with, and with the
   * consumer's reason, or an `AbortError`, where the consumer cancels.
   */
  result(): Promise<AssistantMessage> {
    return this.#outcome.promise;
  }

  /**
   * What is safe to keep of what was streamed so far: the closed blocks, then the open text or
   * thinking block as far as it came. An open tool call is left out.
   *
   * @returns A copy; changing it changes nothing here.
   */
  partialContent(): AssistantContent[] {
    return this.#validator.partialContent();
  }
}

let hasCancelHook: boolean | undefined;

/**
 * Whether this engine calls a transformer's `cancel`. Chromium 156, Firefox 153 and WebKitGTK 2.50
 * do not yet.
 *
 * @see {@link https://streams.spec.whatwg.org/#dom-transformer-cancel}
 */
function callsTransformerCancel(): boolean {
  if (hasCancelHook === undefined) {
    hasCancelHook = false;
    const cancel = (): void => {
      hasCancelHook = true;
    };
    new TransformStream({ cancel } as Transformer).readable.cancel().catch(() => {});
  }
  return hasCancelHook;
}

/**
 * Puts a readable of our own before one that nobody tells us about: this one sees a consumer's
 * cancel and an upstream failure, even while nobody reads.
 */
function watch<T>(source: ReadableStream<T>, fail: (reason: unknown) => void): ReadableStream<T> {
  const reader = source.getReader();
  return new ReadableStream<T>({
    start(controller) {
      reader.closed.then(
        () => controller.close(),
        (reason) => {
          fail(reason);
          controller.error(reason);
        },
        // Cancelled: there is nothing left to close.
      ).catch(() => {});
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!done) controller.enqueue(value);
    },
    cancel(reason) {
      fail(reason);
      return reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}
