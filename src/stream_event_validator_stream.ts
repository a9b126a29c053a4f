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
   * Ends the stream at once when it aborts, even while nobody reads: the readable side errors with
   * its reason, and upstream is cancelled. The `signal` of `pipeTo()` waits for a reader instead.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Passes every event on unchanged and only reports: a violation errors neither side, but
   * `result()` rejects with it. Use it to try the validator in production.
   *
   * @default {false}
   */
  readonly observe?: boolean | undefined;
  /**
   * Called once, with the first violation or the truncation. Errors that it throws are ignored.
   *
   * @param error What is wrong with the stream.
   */
  readonly onViolation?: ((error: StreamSequenceError) => unknown) | undefined;
}

/**
 * Passes on the events of a stream as long as each can follow the ones before it, and errors with a
 * {@linkcode StreamSequenceError} at the first that cannot.
 *
 * Every event before the rejected one is passed on, however slowly the reader reads: an error never
 * overtakes an accepted event. The reader, the writer and {@linkcode
 * StreamEventValidatorStream.result} all get the very same error object.
 *
 * | case | readable side | writable side | `result()` |
 * |---|---|---|---|
 * | `done` or `error` accepted | passes on | | resolves with its `message` |
 * | violation | errors | errors, upstream is cancelled | rejects |
 * | closed before a terminal event | errors with code `truncated` | close rejects | rejects |
 * | upstream fails or aborts | errors with that reason | | rejects with that reason |
 * | consumer cancels | | errors with that reason | rejects with it, or with an `AbortError` |
 * | `signal` fires | errors with its reason | errors, upstream is cancelled | rejects with it |
 *
 * The readable side queues no events (its high-water mark is 0), because an error would discard
 * them. The writable side takes one event ahead of the reader (its high-water mark is 1); that
 * event is validated only when the reader asks for it.
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
   * Creates a stream for one response.
   *
   * @param options How much a response may contain, and what ends the stream.
   * @throws {TypeError} A limit is not a number.
   * @throws {RangeError} A limit is neither a whole number of 0 or more nor `Infinity`.
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
   * The message of the terminal event. This does not read the stream: something else has to.
   *
   * Every call returns the same promise. It never causes an unhandled rejection.
   *
   * @returns A promise that resolves with the message. It rejects with the error of the readable
   * side or, if the consumer cancels, with the consumer's reason or an `AbortError`.
   */
  result(): Promise<AssistantMessage> {
    return this.#outcome.promise;
  }

  /**
   * The content so far that is safe to keep: the closed blocks, then the open text or thinking
   * block with the text received so far. An open tool call is left out.
   *
   * @returns A copy; changing it does not affect the stream.
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
