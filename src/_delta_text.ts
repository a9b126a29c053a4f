/** How many pieces a level gathers before they become one flat string. A power of two. */
const FAN = 16;

/**
 * A text that grows by small pieces, in bounded memory.
 *
 * Engines keep `text += delta` as a rope of one node a delta, which takes 14 times the memory of the
 * text where deltas have four characters. Three levels (the tail flattened every 16 pieces, the
 * middle every 16 tails, then the head) keep it near the text itself.
 */
export class DeltaText {
  #head = "";
  #middle = "";
  #tail = "";
  /** How many pieces were appended. */
  pieces = 0;

  /** Adds a piece at the end. */
  append(piece: string): void {
    this.#tail += piece;
    if (++this.pieces % FAN === 0) this.#fold();
  }

  /** Forgets everything. */
  clear(): void {
    this.#head = this.#middle = this.#tail = "";
    this.pieces = 0;
  }

  /** The whole text. */
  toString(): string {
    return this.#head + this.#middle + this.#tail;
  }

  #fold(): void {
    this.#middle += flatten(this.#tail);
    this.#tail = "";
    if (this.pieces % (FAN * FAN) === 0) {
      this.#head += flatten(this.#middle);
      this.#middle = "";
    }
  }
}

/** Makes an engine turn a rope into one flat string. */
function flatten(text: string): string {
  // Reading a character flattens, but only where the result is used.
  return text.charCodeAt(0) === -1 ? "" : text;
}
