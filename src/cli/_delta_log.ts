import { findJsonError } from "./_json_error.ts";

/** A delta of the block at hand. */
export interface Delta {
  /** Its place among the events of the stream. */
  readonly eventIndex: number;
  readonly line: number;
  readonly text: string;
}

/** A delta in which something goes wrong. */
export interface LoggedDelta extends Delta {
  /** The delta before it, if it is not the first. */
  readonly before?: Delta;
  /** Whether it is the last, and what was looked for is behind it. */
  readonly isBefore: boolean;
}

/** How many deltas of a block are remembered; of a block with more, none is. */
const MAX_DELTAS = 100_000;

/** Remembers the deltas of the open block, to find the one in which its text goes wrong. */
export class DeltaLog {
  #eventIndex = 0;
  #texts: string[] = [];
  #lines: number[] = [];

  /** Begins with a block whose first delta would have the index. */
  begin(eventIndex: number): void {
    this.#eventIndex = eventIndex;
    this.#texts = [];
    this.#lines = [];
  }

  /** Remembers a delta. */
  append(text: string, line: number): void {
    const length = this.#texts.push(text);
    this.#lines.push(line);
    if (length > MAX_DELTAS) this.begin(NaN);
  }

  /** Finds the delta that has the code unit at an offset, or the last one where none has. */
  at(offset: number): LoggedDelta | undefined {
    let end = 0;
    for (const [index, text] of this.#texts.entries()) {
      end += text.length;
      if (end > offset) return this.#logged(index, false);
    }
    return this.#logged(this.#texts.length - 1, true);
  }

  /** Finds the delta in which the deltas stop being JSON. */
  atJsonError(): LoggedDelta | undefined {
    return this.at(findJsonError(this.#texts.join("")) ?? Infinity);
  }

  #logged(index: number, isBefore: boolean): LoggedDelta | undefined {
    const delta = this.#delta(index);
    const before = this.#delta(index - 1);
    return delta && { ...delta, isBefore, ...(before && { before }) };
  }

  #delta(index: number): Delta | undefined {
    const text = this.#texts[index];
    const line = this.#lines[index];
    if (text === undefined || line === undefined || Number.isNaN(this.#eventIndex)) {
      return undefined;
    }
    return { eventIndex: this.#eventIndex + index, line, text };
  }
}
