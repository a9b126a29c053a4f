import { Outcome } from "./_outcome.ts";

/** How an {@linkcode EventStream} judges its events. */
export interface EventStreamOptions<TEvent, TResult> {
  /**
   * Called with each event before it is taken. What it throws ends the stream: the producer, the
   * consumer and `result()` get that very error.
   */
  readonly validate?: (event: TEvent) => void;
  /** Whether an event is the last one. */
  readonly isTerminal: (event: TEvent) => boolean;
  /** The result that a terminal event carries. */
  readonly getResult: (event: TEvent) => TResult;
  /** Called when the producer ends without a terminal event; throws to say what is missing. */
  readonly end?: () => void;
}

/** A consumer that waits for the next event. */
interface Waiter<TEvent> {
  readonly resolve: (result: IteratorResult<TEvent, undefined>) => void;
  readonly reject: (reason: unknown) => void;
}

/** How a stream ended: with a failure, or without. */
type Ending = { readonly error: unknown } | "closed";

/**
 * The side of a stream that produces: events are pushed in, one consumer iterates over them, and
 * `result()` waits for the last.
 *
 * What is pushed before anybody iterates waits, without a bound. No failure overtakes an event: the
 * consumer gets everything that was accepted, then the failure.
 *
 * @example Producing and consuming
 * ```ts
 * import { EventStream } from "@agent-stream/validator";
 * import { assertEquals } from "@std/assert";
 *
 * const stream = new EventStream<number, string>({
 *   isTerminal: (event) => event === 0,
 *   getResult: () => "landed",
 * });
 * for (const event of [3, 2, 1, 0]) stream.push(event);
 *
 * const events: number[] = [];
 * for await (const event of stream) events.push(event);
 * assertEquals(events, [3, 2, 1, 0]);
 * assertEquals(await stream.result(), "landed");
 * ```
 */
export class EventStream<TEvent, TResult> implements AsyncIterable<TEvent> {
  readonly #options: EventStreamOptions<TEvent, TResult>;
  readonly #outcome = new Outcome<TResult>();
  readonly #abort = new AbortController();
  /** The events that wait, from `#head` on; `shift()` is quadratic in V8 past some 16,000. */
  #queue: Array<TEvent | undefined> = [];
  #head = 0;
  readonly #waiters: Array<Waiter<TEvent>> = [];
  #ending: Ending | undefined;
  /** What later pushes throw after the consumer left. */
  #left: DOMException | undefined;
  #hasIterator = false;

  /**
   * Creates a stream that holds nothing.
   *
   * @param options How to judge the events.
   */
  constructor(options: EventStreamOptions<TEvent, TResult>) {
    this.#options = options;
  }

  /** Fires when the consumer leaves, so that the producer can stop what it is paying for. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /**
   * Takes the next event.
   *
   * @param event The event.
   * @throws {Error} The stream has ended: "EventStream is already settled".
   * @throws {DOMException} The consumer has left: an `AbortError`.
   * @throws {unknown} What `validate`, `isTerminal` or `getResult` threw; the stream has ended with
   * it.
   */
  push(event: TEvent): void {
    this.#assertOpen();
    let isTerminal: boolean;
    let result: TResult | undefined;
    try {
      this.#options.validate?.(event);
      isTerminal = this.#options.isTerminal(event);
      if (isTerminal) result = this.#options.getResult(event);
    } catch (error) {
      if (!this.#ending) this.#end({ error });
      throw error;
    }
    // A callback may have ended the stream.
    this.#assertOpen();
    const waiter = this.#waiters.shift();
    if (waiter) waiter.resolve({ done: false, value: event });
    else this.#queue.push(event);
    if (isTerminal) {
      this.#outcome.resolve(result as TResult);
      this.#end("closed");
    }
  }

  /**
   * Ends the stream with a failure. Nothing happens where it has ended.
   *
   * @param cause What went wrong; what is not an `Error` is wrapped, and kept as its `cause`.
   */
  fail(cause: unknown): void {
    if (this.#ending) return;
    this.#end({
      error: cause instanceof Error ? cause : new Error("EventStream failed", { cause }),
    });
  }

  /**
   * Says that no event will follow. Nothing happens where the stream has ended; where no terminal
   * event came, it ends with what the option `end` throws, or with an `Error`.
   */
  end(): void {
    if (this.#ending) return;
    let error: unknown = new Error("EventStream ended before a terminal event");
    try {
      this.#options.end?.();
    } catch (thrown) {
      error = thrown;
    }
    if (!this.#ending) this.#end({ error });
  }

  /**
   * What the terminal event carried. It is one promise, settles once, and causes no unhandled
   * rejection.
   *
   * @returns A promise that rejects with what ended the stream, where that was no terminal event.
   */
  result(): Promise<TResult> {
    return this.#outcome.promise;
  }

  /**
   * The one consumer. Leaving it (`break`, `return()`) ends the stream with an `AbortError`.
   *
   * @returns The iterator.
   * @throws {TypeError} There is one already.
   */
  [Symbol.asyncIterator](): AsyncIterator<TEvent, undefined> {
    if (this.#hasIterator) throw new TypeError("EventStream supports exactly one async iterator");
    this.#hasIterator = true;
    return {
      next: () => this.#next(),
      return: () => {
        this.#leave();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  #next(): Promise<IteratorResult<TEvent, undefined>> {
    if (this.#head < this.#queue.length) {
      const value = this.#queue[this.#head] as TEvent;
      this.#queue[this.#head++] = undefined;
      if (this.#head === this.#queue.length) {
        this.#queue = [];
        this.#head = 0;
      }
      return Promise.resolve({ done: false, value });
    }
    const ending = this.#ending;
    if (ending === undefined) {
      return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
    }
    // A failure is told once; after it, as after every iterator's end, there is nothing.
    this.#ending = "closed";
    return ending === "closed"
      ? Promise.resolve({ done: true, value: undefined })
      : Promise.reject(ending.error);
  }

  #leave(): void {
    this.#queue = [];
    this.#head = 0;
    if (this.#ending) {
      this.#ending = "closed";
      return;
    }
    this.#left = new DOMException("The consumer left the stream", "AbortError");
    this.#outcome.reject(this.#left);
    this.#end("closed");
    this.#abort.abort(this.#left);
  }

  #end(ending: Ending): void {
    this.#ending = ending;
    if (ending !== "closed") this.#outcome.reject(ending.error);
    const waiters = this.#waiters.splice(0);
    // Only the first waiter gets the failure, as it would had it come later.
    if (waiters.length > 0 && ending !== "closed") {
      this.#ending = "closed";
      waiters.shift()?.reject(ending.error);
    }
    for (const { resolve } of waiters) resolve({ done: true, value: undefined });
  }

  #assertOpen(): void {
    if (this.#left) throw this.#left;
    if (this.#ending) throw new Error("EventStream is already settled");
  }
}
