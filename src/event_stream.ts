import { kindOf } from "./_json.ts";
import { Outcome } from "./_outcome.ts";
import { Queue } from "./_queue.ts";

/**
 * How an {@linkcode EventStream} handles its events.
 *
 * If one of these functions throws, the stream ends with that error, as with
 * {@linkcode EventStream.fail}. The functions may end the stream themselves, but not push to it.
 *
 * @typeParam TEvent The type of the events.
 * @typeParam TResult The type of the result.
 */
export interface EventStreamOptions<TEvent, TResult> {
  /**
   * Throws if an event cannot follow the ones before it. Called first, once for each event. Without
   * it, every event is accepted.
   *
   * @param event The event that was pushed.
   */
  readonly validate?: ((event: TEvent) => void) | undefined;
  /**
   * Whether an event is the last one. Called after `validate`.
   *
   * @param event The event that was pushed.
   * @returns Whether no event can follow it.
   */
  readonly isTerminal: (event: TEvent) => boolean;
  /**
   * The result of the stream. Called with the terminal event.
   *
   * @param event The terminal event.
   * @returns What `result()` resolves with; a promise is awaited.
   */
  readonly getResult: (event: TEvent) => TResult | PromiseLike<TResult>;
  /**
   * Called when {@linkcode EventStream.end} is called before a terminal event: throws the error
   * that the stream is to end with. If it does not throw, or is missing, the error only says that
   * the stream ended before a terminal event.
   */
  readonly end?: (() => void) | undefined;
}

/** How a stream came to its end. */
interface Ending {
  /** What the consumer and `result()` see; none after a terminal event. */
  readonly error?: Error;
  /** Whether it was the consumer who stopped. */
  readonly isReturn?: boolean;
}

/**
 * A stream that a producer pushes events to, and that one consumer iterates over.
 *
 * An event is validated when it is pushed. If it is rejected, `push()` throws, and the stream ends
 * with the same error for the consumer and for {@linkcode EventStream.result}. The consumer gets
 * every event that was accepted before, then the error: an error never overtakes an accepted event.
 *
 * | case | later pushes throw | consumer gets what was accepted, then | `result()` |
 * |---|---|---|---|
 * | terminal event accepted | "EventStream is already settled" | the end | resolves |
 * | event rejected | "EventStream is already settled" | the error that the push threw | rejects with it |
 * | `fail(cause)` | "EventStream is already settled" | the cause | rejects with it |
 * | `end()` before a terminal event | "EventStream is already settled" | the check's error | rejects with it |
 * | consumer breaks out of the loop | the `AbortError` | (nothing more) | rejects with it |
 *
 * Pushing never waits: unread events are buffered without a limit, all of them if nobody iterates.
 * Events that have been read are released.
 *
 * @typeParam TEvent The type of the events.
 * @typeParam TResult The type of the result.
 *
 * @example Adding up numbers until a zero
 * ```ts
 * import { EventStream } from "@agent-stream/validator";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * let sum = 0;
 * const stream = new EventStream<number, number>({
 *   validate(event) {
 *     if (event < 0) throw new RangeError(`Expected no negative number, received ${event}`);
 *     sum += event;
 *   },
 *   isTerminal: (event) => event === 0,
 *   getResult: () => sum,
 * });
 * for (const event of [1, 2, 0]) stream.push(event);
 *
 * const seen: number[] = [];
 * for await (const event of stream) seen.push(event);
 * assertEquals(seen, [1, 2, 0]);
 * assertEquals(await stream.result(), 3);
 * assertThrows(() => stream.push(4), Error, "EventStream is already settled");
 * ```
 */
export class EventStream<TEvent, TResult> implements AsyncIterable<TEvent> {
  readonly #options: EventStreamOptions<TEvent, TResult>;
  readonly #outcome = new Outcome<TResult>();
  readonly #controller = new AbortController();
  /** What was accepted and not yet read. */
  readonly #events = new Queue<TEvent>();
  /** The calls of `next()` without an answer. Either this or `#events` is empty. */
  readonly #requests = new Queue<Outcome<IteratorResult<TEvent, undefined>>>();
  #ending: Ending | undefined;
  /** The error that the consumer is yet to see. */
  #unreported: Error | undefined;
  #hasIterator = false;
  /** Whether one of the options' functions is running. */
  #isAsking = false;

  /**
   * Creates an empty stream.
   *
   * @param options How the stream handles its events.
   * @throws {TypeError} One of the options is not a function.
   */
  constructor(options: EventStreamOptions<TEvent, TResult>) {
    for (const name of ["validate", "isTerminal", "getResult", "end"] as const) {
      const option: unknown = options[name];
      const isOptional = name === "validate" || name === "end";
      if (typeof option !== "function" && !(isOptional && option === undefined)) {
        throw new TypeError(
          `Expected option "${name}" to be a function, received ${kindOf(option)}`,
        );
      }
    }
    this.#options = options;
  }

  /**
   * Aborts with an `AbortError` when the consumer stops before the stream has ended, so that the
   * producer can cancel a request that it pays for. Nothing else aborts it.
   */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Validates an event and passes it to the consumer, at once or when the consumer asks for it.
   *
   * @param event The next event; the consumer gets the same object.
   * @throws {Error} `validate`, `isTerminal` or `getResult` threw this error, and the stream has
   * ended with it. A thrown value that is not an `Error` is the `cause` of one.
   * @throws {Error} The stream has already ended: "EventStream is already settled". If it ended
   * with an error, that is the `cause`.
   * @throws {TypeError} It was called from one of the options' functions.
   * @throws {DOMException} The consumer has stopped: the `AbortError` that `signal` aborted with.
   */
  push(event: TEvent): void {
    if (this.#ending) throw refusalAfter(this.#ending);
    if (this.#isAsking) {
      throw new TypeError("EventStream takes no event from within its own options");
    }
    let isTerminal = false;
    let result: TResult | PromiseLike<TResult> | undefined;
    this.#ask(() => {
      this.#options.validate?.(event);
      isTerminal = this.#options.isTerminal(event);
      if (isTerminal) result = this.#options.getResult(event);
    });
    // Not only by what was thrown: the functions may have ended the stream themselves.
    const ending = this.#ending as Ending | undefined;
    if (ending) throw ending.error;
    if (this.#requests.size > 0) {
      this.#requests.shift().resolve({ done: false, value: event });
    } else {
      this.#events.push(event);
    }
    if (isTerminal) {
      this.#settle({});
      this.#outcome.resolve(result as TResult);
    }
  }

  /**
   * Ends the stream with an error. Does nothing if the stream has already ended.
   *
   * @param cause What went wrong; a value that is not an `Error` becomes the `cause` of one.
   */
  fail(cause: unknown): void {
    this.#settle({ error: toError(cause) });
  }

  /**
   * Marks the end of the events. If there was no terminal event, the stream ends with an error,
   * which the consumer and `result()` get. This method does not throw it, so that a `finally` block
   * can call `end()` without hiding an earlier error. Does nothing if the stream has already ended.
   */
  end(): void {
    if (this.#ending) return;
    if (!this.#isAsking) this.#ask(() => this.#options.end?.());
    this.#settle({ error: new Error("EventStream ended before a terminal event") });
  }

  /**
   * The result of the stream. It settles even if nobody iterates.
   *
   * Every call returns the same promise. It never causes an unhandled rejection.
   *
   * @returns A promise that resolves with what `getResult` returned for the terminal event, or
   * rejects with the error that the stream ended with.
   */
  result(): Promise<TResult> {
    return this.#outcome.promise;
  }

  /**
   * Starts iterating, which is possible only once. Calls of `next()` are answered in order, however
   * many are pending. Calling `return()`, as `break` does, ends the stream with an `AbortError` and
   * discards unread events; a result that has already settled does not change.
   *
   * @returns The only iterator; it can be used in a `for await` loop too.
   * @throws {TypeError} There is already an iterator.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<TEvent, undefined> {
    if (this.#hasIterator) throw new TypeError("EventStream supports exactly one async iterator");
    this.#hasIterator = true;
    return {
      next: () => this.#next(),
      return: () => this.#return(),
      // As those of the language, so that a loop can go on where `next()` was called by hand.
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** Calls functions of the options. What they throw ends the stream. */
  #ask(ask: () => void): void {
    this.#isAsking = true;
    try {
      ask();
    } catch (error) {
      this.#settle({ error: toError(error) });
    }
    this.#isAsking = false;
  }

  #settle(ending: Ending): void {
    if (this.#ending) return;
    this.#ending = ending;
    if (ending.error) {
      if (!ending.isReturn) this.#unreported = ending.error;
      this.#outcome.reject(ending.error);
    }
    while (this.#requests.size > 0) this.#conclude(this.#requests.shift());
  }

  /** Answers with the error, once, and from then on that there is nothing more. */
  #conclude(request: Outcome<IteratorResult<TEvent, undefined>>): void {
    const error = this.#unreported;
    this.#unreported = undefined;
    if (error) request.reject(error);
    else request.resolve({ done: true, value: undefined });
  }

  #next(): Promise<IteratorResult<TEvent, undefined>> {
    if (this.#events.size > 0) {
      return Promise.resolve({ done: false, value: this.#events.shift() });
    }
    // Already marked as handled: an error must not bring a consumer down that reads ahead and has
    // not come to await this answer yet.
    const request = new Outcome<IteratorResult<TEvent, undefined>>();
    if (this.#ending) this.#conclude(request);
    else this.#requests.push(request);
    return request.promise;
  }

  #return(): Promise<IteratorResult<TEvent, undefined>> {
    this.#events.clear();
    this.#unreported = undefined;
    if (!this.#ending) {
      const error = new DOMException("The consumer left the stream", "AbortError");
      this.#settle({ error, isReturn: true });
      // Last, since it calls listeners: whatever they call here finds the stream ended.
      this.#controller.abort(error);
    }
    return Promise.resolve({ done: true, value: undefined });
  }
}

/** What a push throws that comes after the end. */
function refusalAfter(ending: Ending): unknown {
  if (ending.isReturn) return ending.error;
  const options = ending.error && { cause: ending.error };
  return new Error("EventStream is already settled", options);
}

function toError(cause: unknown): Error {
  try {
    // `isError` also knows those of another realm, where the engine has it.
    if (cause instanceof Error || Error.isError?.(cause)) return cause;
  } catch {
    // A proxy that cannot be looked at is no error.
  }
  return new Error("EventStream failed", { cause });
}
