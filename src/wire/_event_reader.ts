import { kindOf } from "../_json.ts";
import { MAX_DELAY } from "../_max_delay.ts";
import { Outcome } from "../_outcome.ts";
import type { AssistantContent, AssistantMessage, StreamEvent } from "../types.ts";

/** What turns the bytes of one body into events. */
export interface BytesToEvents {
  /** Whether the terminal event was emitted. */
  readonly isFinished: boolean;
  /** Takes the next bytes; what it throws ends the stream after the events emitted before. */
  push(bytes: Uint8Array, emit: (event: StreamEvent) => void): void;
  /** Takes the end of the body. */
  end(emit: (event: StreamEvent) => void): void;
  /**
   * Takes a failure of the stream, an abort included, where that is a terminal event too. What it
   * throws ends the stream instead.
   */
  fail?(cause: unknown, emit: (event: StreamEvent) => void): void;
  /** What is safe to keep of what was emitted. */
  partialContent(): AssistantContent[];
}

/** Options of {@linkcode EventReader}. */
export interface EventReaderOptions {
  readonly signal?: AbortSignal | undefined;
  /** In milliseconds. */
  readonly idleTimeout?: number | undefined;
}

/** A stream of events, read from a body by iterating or by calling `result()`. */
export interface StreamEventReader extends AsyncIterable<StreamEvent> {
  /**
   * Starts iterating, which is possible only once, and not after `result()` has begun to read.
   * Leaving the loop cancels the body.
   *
   * @returns The only iterator; it can be used in a `for await` loop too.
   * @throws {TypeError} The stream is already being read.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<StreamEvent, undefined>;
  /**
   * The message of the terminal event. If nobody iterates, this reads the stream by itself.
   *
   * Every call returns the same promise. It never causes an unhandled rejection.
   *
   * @returns A promise that resolves with the message. It rejects with the error that the iteration
   * throws, or with an `AbortError` if the loop was left; the streams of adapters resolve with an
   * `aborted` message in that case.
   */
  result(): Promise<AssistantMessage>;
  /**
   * The content so far that is safe to keep: the closed blocks, then the open text or thinking
   * block with the text received so far. An open tool call is left out.
   *
   * @returns A copy; changing it does not affect the stream.
   */
  partialContent(): AssistantContent[];
}

/** How long the end of a body may come behind the terminal event, in milliseconds. */
const END_DELAY = 250;

/** How many chunks may come in between. */
const END_CHUNKS = 64;

type Body = ReadableStream<Uint8Array>;
type Result = IteratorResult<StreamEvent, undefined>;

const END: Result = { done: true, value: undefined };

/**
 * Reads a body and decodes it in one pass: a chunk's events are there without another turn of the
 * event loop, where each chained stream would cost twenty times the check itself.
 */
export class EventReader implements StreamEventReader {
  readonly #open: () => Promise<Body>;
  readonly #machine: BytesToEvents;
  readonly #options: EventReaderOptions;
  readonly #outcome = new Outcome<AssistantMessage>();
  readonly #emit = (event: StreamEvent): void => {
    // What follows the terminal event is not looked at: it may or may not be in the same chunk.
    if (this.#isSettled) return;
    this.#queue.push(event);
    if (this.#machine.isFinished) {
      this.#isSettled = true;
      this.#outcome.resolve((event as { readonly message: AssistantMessage }).message);
    }
  };
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #queue: StreamEvent[] = [];
  #head = 0;
  #isSettled = false;
  #ending: { readonly error: unknown } | "closed" | undefined;
  /** Who reads: an iterator, or `result()` by itself. */
  #consumer: "iterator" | "result" | undefined;
  /** Calls of `next()` that wait, one after the other. */
  #waiting = 0;
  #turn: Promise<unknown> = Promise.resolve();
  /** Ends the wait for the response. */
  #interruptOpening: ((reason: unknown) => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onAbort = (): void => this.#interrupt(this.#options.signal?.reason);

  constructor(open: () => Promise<Body>, machine: BytesToEvents, options: EventReaderOptions) {
    this.#open = open;
    this.#machine = machine;
    this.#options = options;
    const { signal, idleTimeout } = options;
    if (signal !== undefined && typeof signal?.addEventListener !== "function") {
      throw new TypeError(`Expected signal to be an AbortSignal, received ${kindOf(signal)}`);
    }
    if (idleTimeout !== undefined && typeof idleTimeout !== "number") {
      throw new TypeError(`Expected idleTimeout to be a number, received ${kindOf(idleTimeout)}`);
    }
    if (idleTimeout !== undefined && !(idleTimeout >= 0)) {
      throw new RangeError(`Expected idleTimeout to be from 0 on, received ${idleTimeout}`);
    }
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort);
  }

  result(): Promise<AssistantMessage> {
    // A loop that begins in the same turn is the one that reads.
    queueMicrotask(() => {
      if (this.#consumer === undefined) {
        this.#consumer = "result";
        this.#drain();
      }
    });
    return this.#outcome.promise;
  }

  partialContent(): AssistantContent[] {
    return this.#machine.partialContent();
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<StreamEvent, undefined> {
    if (this.#consumer !== undefined) {
      throw new TypeError(
        this.#consumer === "iterator"
          ? "The stream supports exactly one async iterator"
          : "The stream is being read by result(); iterate first",
      );
    }
    this.#consumer = "iterator";
    return {
      next: () => this.#next(),
      return: () => {
        this.#leave();
        return Promise.resolve(END);
      },
      // As those of the language, so that a loop can go on where `next()` was called by hand.
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  #next(): Promise<Result> {
    if (this.#waiting === 0 && this.#head < this.#queue.length) {
      return Promise.resolve(this.#take());
    }
    this.#waiting++;
    const next = this.#turn.then(async () => {
      try {
        await this.#fill();
        return this.#take();
      } finally {
        this.#waiting--;
      }
    });
    this.#turn = next.catch(() => {});
    return next;
  }

  /** The next event that is there, or the end; a failure is told once. */
  #take(): Result {
    if (this.#head < this.#queue.length) {
      return { done: false, value: this.#queue[this.#head++] as StreamEvent };
    }
    const ending = this.#ending;
    this.#ending = "closed";
    if (ending !== undefined && ending !== "closed") throw ending.error;
    return END;
  }

  /** Reads until an event is there, or the end. */
  async #fill(): Promise<void> {
    if (this.#head < this.#queue.length || this.#ending) return;
    this.#queue = [];
    this.#head = 0;
    try {
      const reader = this.#reader ?? await this.#opened();
      while (this.#queue.length === 0 && !this.#ending) {
        this.#startTimer();
        const { done, value } = await reader.read();
        // An empty chunk brings no byte: the wait goes on.
        if (value?.length !== 0) this.#stopTimer();
        if (this.#ending) return;
        if (done) this.#machine.end(this.#emit);
        else this.#machine.push(value, this.#emit);
        if (this.#isSettled || done) this.#end("closed");
      }
    } catch (error) {
      if (this.#ending) return;
      if (this.#isSettled) this.#end("closed");
      else this.#fail(error);
    }
  }

  /** Ends the stream with a failure: as the machine's terminal event, or as an error. */
  #fail(cause: unknown): void {
    try {
      this.#machine.fail?.(cause, this.#emit);
      this.#end(this.#isSettled ? "closed" : { error: cause }, cause);
    } catch (error) {
      this.#end({ error });
    }
  }

  async #opened(): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    this.#startTimer();
    const opening = this.#open();
    try {
      const interrupted = new Promise<never>((_, reject) => this.#interruptOpening = reject);
      const body = await Promise.race([opening, interrupted]);
      // It may have come in the moment in which the stream was ended.
      if (this.#ending) await interrupted;
      // Here, not where this is awaited: an end in between has to find it.
      return this.#reader = body.getReader();
    } catch (error) {
      // What arrives after all is not wanted any more.
      opening.then((body) => body.cancel(error)).catch(() => {});
      throw error;
    } finally {
      this.#interruptOpening = undefined;
      this.#stopTimer();
    }
  }

  async #drain(): Promise<void> {
    while (!this.#ending) {
      await this.#fill();
      this.#queue = [];
      this.#head = 0;
    }
  }

  /** Starts to wait for a byte, unless it waits already. */
  #startTimer(): void {
    const { idleTimeout } = this.#options;
    if (this.#timer !== undefined || idleTimeout === undefined || idleTimeout === Infinity) return;
    this.#timer = setTimeout(
      () =>
        this.#interrupt(
          new DOMException(`No byte came for ${idleTimeout} milliseconds`, "TimeoutError"),
        ),
      Math.min(idleTimeout, MAX_DELAY),
    );
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Ends the stream at once; what waits to be read is dropped, unless a terminal event follows it. */
  #interrupt(reason: unknown): void {
    if (this.#ending) return;
    if (!this.#machine.fail) {
      this.#queue = [];
      this.#head = 0;
    }
    this.#fail(reason);
  }

  #leave(): void {
    this.#interrupt(new DOMException("The consumer left the stream", "AbortError"));
    this.#queue = [];
    this.#head = 0;
    this.#ending = "closed";
  }

  #end(ending: { readonly error: unknown } | "closed", cause?: unknown): void {
    this.#ending = ending;
    this.#stopTimer();
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    const error = ending === "closed" ? cause : ending.error;
    if (ending !== "closed") this.#outcome.reject(error);
    // Nobody waits for the body to be let go: a server may hold it open for ever.
    if (this.#reader && this.#isSettled && cause === undefined) readToEnd(this.#reader);
    else if (this.#reader) this.#reader.cancel(error).catch(() => {});
    else if (this.#interruptOpening) this.#interruptOpening(error);
    else this.#open().then((body) => body.cancel(error)).catch(() => {});
  }
}

/**
 * Reads what is behind the terminal event, unless it goes on for too long: a connection can be used
 * again only if its body was read to the end, and that often comes in a packet of its own.
 */
async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const cancel = (): void => void reader.cancel().catch(() => {});
  const timer = setTimeout(cancel, END_DELAY);
  try {
    for (let i = 0; i < END_CHUNKS; i++) if ((await reader.read()).done) return;
    cancel();
  } catch {
    // The stream was whole before; what becomes of its connection is nobody's business.
  } finally {
    clearTimeout(timer);
  }
}
