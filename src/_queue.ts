/**
 * First in, first out, at the same cost an item however many wait. `Array.prototype.shift` moves
 * all that wait each time once there are many.
 */
export class Queue<T> {
  #incoming: T[] = [];
  #outgoing: (T | undefined)[] = [];
  /** The slot of `#outgoing` that is next. */
  #head = 0;

  /** How many items wait. */
  get size(): number {
    return this.#outgoing.length - this.#head + this.#incoming.length;
  }

  /** Adds an item at the end. */
  push(item: T): void {
    this.#incoming.push(item);
  }

  /** Takes the first item; only where there is one. */
  shift(): T {
    if (this.#head === this.#outgoing.length) {
      this.#outgoing = this.#incoming;
      this.#incoming = [];
      this.#head = 0;
    }
    const item = this.#outgoing[this.#head] as T;
    // What was taken belongs to the consumer: it must not live as long as all that came with it.
    this.#outgoing[this.#head++] = undefined;
    return item;
  }

  /** Forgets every item. */
  clear(): void {
    this.#incoming = [];
    this.#outgoing = [];
    this.#head = 0;
  }
}
