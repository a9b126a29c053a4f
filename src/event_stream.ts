import { kindOf } from "./_json.ts";
import { Outcome } from "./_outcome.ts";
import { Queue } from "./_queue.ts";

/**
 * What an {@linkcode EventStream} knows of its events.
 *
 * What one of these functions throws ends the stream, as {@linkcode EventStream.fail} does. They
 * may end the stream themselves, but not push to it.
 *
 * @typeParam TEvent An event.
 * @typeParam TResult What the events come to.
 */
export interface EventStreamOptions<TEvent, TResult> {
  /**
   * Throws if an event cannot follow those before it. Called first, once for each event. Without it
   * every event is taken.
   *
   * @param event The event that was pushed.
   */
  readonly validate?: ((event: TEvent) => void) | undefined;
  /**
   * Whether an event is the last. Called after `validate`.
   *
   * @param event The event that was pushed.
   * @returns Whether nothing can follow it.
   */
  readonly isTerminal: (event: TEvent) => boolean;
  /**
   * What the events come to. Called with the last one.
   *
   * @param event The terminal event.
   * @returns What `result()` resolves with; a promise is waited for.
   */
  readonly getResult: (event: TEvent) => TResult | PromiseLike<TResult>;
  /**
   * Throws the error that the stream is to end with where {@linkcode EventStream.end} is called
   * before a terminal event. Where it throws nothing, or is not there, the error only says that no
   * terminal event came.
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
 * The push side of a stream: takes events from whoever produces them, hands them to one consumer.
 *
 * An event is validated as it is pushed. One that is refused throws at the producer what the
 * consumer and {@linkcode EventStream.result} will see, and ends the stream. The consumer gets
 * every event that was accepted before, then the error: no error overtakes an accepted event.
 *
 * | happening | later pushes throw | consumer gets what was accepted, then | `result()` |
 * |---|---|---|---|
 * | terminal event accepted | "EventStream is already settled" | the end | resolves |
 * | event refused | "EventStream is already settled" | the error that the push threw | rejects with it |
 * | `fail(cause)` | "EventStream is already settled" | the cause | rejects with it |
 * | `end()` before a terminal event | "EventStream is already settled" | the check's error | rejects with it |
 * | consumer breaks out of the loop | the `AbortError` | (nothing more) | rejects with it |
 *
 * Pushing never waits: events that nobody has read yet are buffered, all of them where nobody
 * iterates. What was read is no longer held.
 *
 * @typeParam TEvent An event.
 * @typeParam TResult What the events come to.
 *
 * @example Summing up numbers until a zero
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
   * Creates a stream that holds nothing.
   *
   * @param options What the stream knows of its events.
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
   * Aborted with an `AbortError` when the consumer stops before the stream has ended, so that a
   * producer can stop the request that it is paying for. Nothing else aborts it.
   */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Validates an event and hands it to the consumer, now or when it asks.
   *
   * @param event The next event; the consumer gets the same object.
   * @throws {Error} What `validate`, `isTerminal` or `getResult` threw. The stream has ended with
   * it; what was not an `Error` is the `cause` of one.
   * @throws {Error} The stream has ended already: "EventStream is already settled". Its `cause` is the error that it ended with,
   * if it did.
   * @throws {TypeError} One of the options' functions is running.
   * @throws {DOMException} The consumer stopped: the `AbortError` that `signal` was aborted with.
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
   * Ends the stream with an error. Does nothing once it has ended.
   *
   * @param cause What went wrong; what is not an `Error` becomes the `cause` of one.
   */
  fail(cause: unknown): void {
    this.#settle({ error: toError(cause) });
  }

  /**
   * Says that no event will follow. Without a terminal event that is an error, which goes to the
   * consumer and to `result()`; it is not thrown here, so that a `finally` can call this without
   * hiding what it was entered with. Does nothing once the stream has ended.
   */
  end(): void {
    if (this.#ending) return;
    if (!this.#isAsking) this.#ask(() => this.#options.end?.());
    this.#settle({ error: new Error("EventStream ended before a terminal event") });
  }

  /**
   * What the events came to. Nobody needs to iterate for it to settle.
   *
   * It is one promise, settles once, and causes no unhandled rejection.
   *
   * @returns A promise that resolves with what `getResult` made of the terminal event, and rejects
   * with the error that the stream ended with.
   */
  result(): Promise<TResult> {
    return this.#outcome.promise;
  }

  /**
   * Starts iterating; possible once. Calls of `next()` are answered in their order, however many
   * wait. Calling `return()`, as `break` does, ends the stream with an `AbortError` and drops what
   * was not read; it leaves a result that is settled as it is.
   *
   * @returns The one iterator, which a loop takes too.
   * @throws {TypeError} There is an iterator already.
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
