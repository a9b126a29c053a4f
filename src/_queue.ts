/** How many items stand in one array. */
const CHUNK_LENGTH = 1024;

/** Some of the items, and what comes after them. */
interface Chunk<T> {
  readonly items: (T | undefined)[];
  next?: Chunk<T>;
}

/**
 * First in, first out, at the same cost an item however many wait: short arrays in a chain.
 * `Array.prototype.shift` moves all that wait each time once there are many, and one array of a
 * million is moved as it grows.
 */
export class Queue<T> {
  #first: Chunk<T> = { items: [] };
  #last: Chunk<T> = this.#first;
  /** The slot of the first chunk that is next. */
  #head = 0;
  #size = 0;

  /** How many items wait. */
  get size(): number {
    return this.#size;
  }

  /** Adds an item at the end. */
  push(item: T): void {
    if (this.#last.items.length === CHUNK_LENGTH) this.#last = this.#last.next = { items: [] };
    this.#last.items.push(item);
    this.#size++;
  }

  /** Takes the first item; only where there is one. */
  shift(): T {
    if (this.#head === CHUNK_LENGTH) {
      this.#first = this.#first.next as Chunk<T>;
      this.#head = 0;
    }
    const { items } = this.#first;
    const item = items[this.#head] as T;
    // What was taken belongs to the consumer: it must not live as long as its neighbours.
    items[this.#head++] = undefined;
    this.#size--;
    return item;
  }

  /** Forgets every item. */
  clear(): void {
    this.#first = this.#last = { items: [] };
    this.#head = 0;
    this.#size = 0;
  }
}
