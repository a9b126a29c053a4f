import { StreamSequenceError } from "@agent-stream/validator";
import { StreamDecodeError } from "@agent-stream/validator/wire";

/**
 * Gives errors and reasons names, the same object the same name, so that a verdict shows whether it
 * was the same object that arrived everywhere.
 */
export class Names {
  readonly #names = new Map<unknown, string>();

  /** Names a value beforehand. */
  give<T>(value: T, name: string): T {
    this.#names.set(value, name);
    return value;
  }

  /** The name of a value. */
  of(value: unknown): string {
    const known = this.#names.get(value);
    if (known !== undefined) return known;
    if (typeof value !== "object" || value === null) return String(value);
    const described = describe(value);
    const isTaken = [...this.#names.values()].includes(described);
    const name = isTaken ? `another ${described}` : described;
    this.#names.set(value, name);
    return name;
  }

  /** The name of what a promise rejects with. */
  async ofRejection(promise: Promise<unknown>): Promise<string> {
    try {
      await promise;
    } catch (error) {
      return this.of(error);
    }
    return "no rejection";
  }

  /** What a promise came to, by the names of both. */
  async ofOutcome(promise: Promise<unknown>): Promise<string> {
    try {
      return this.of(await promise);
    } catch (error) {
      return `rejected with ${this.of(error)}`;
    }
  }
}

function describe(value: object): string {
  if (StreamSequenceError.is(value)) return `${value.code} at ${value.eventIndex}`;
  if (StreamDecodeError.is(value)) return `${value.code} in line ${value.line}`;
  return value instanceof Error ? value.name : "an object";
}

/** Lets every promise that can settle do so. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** What a reader got, and what it ended with. */
export interface Read<T> {
  readonly values: readonly T[];
  readonly error?: unknown;
  readonly isFailed: boolean;
}

/** Reads to the end; a slow reader lets everything else happen before each read. */
export async function readAll<T>(
  reader: ReadableStreamDefaultReader<T>,
  isSlow = false,
): Promise<Read<T>> {
  const values: T[] = [];
  try {
    for (;;) {
      if (isSlow) await turn();
      const { done, value } = await reader.read();
      if (done) return { values, isFailed: false };
      values.push(value);
    }
  } catch (error) {
    return { values, error, isFailed: true };
  }
}

/** A source that records whether and why it was cancelled. */
export class Source<T> {
  readonly readable: ReadableStream<T>;
  /** Resolves with the reason. */
  readonly cancelled: Promise<unknown>;
  pulls = 0;

  /**
   * @param chunks What comes first.
   * @param ending How it goes on: it closes, it stays open, or it fails.
   */
  constructor(
    chunks: readonly T[],
    ending: "close" | "stay open" | { readonly error: unknown },
  ) {
    let onCancel!: (reason: unknown) => void;
    this.cancelled = new Promise((resolve) => onCancel = resolve);
    this.readable = new ReadableStream<T>({
      pull: (controller) => {
        const index = this.pulls++;
        if (index < chunks.length) controller.enqueue(chunks[index] as T);
        else if (ending === "close") controller.close();
        else if (ending !== "stay open") controller.error(ending.error);
      },
      cancel: (reason) => onCancel(reason),
    }, { highWaterMark: 0 });
  }
}

/** JSON text that does not depend on the order of keys. */
export function canonical(value: unknown): string {
  return JSON.stringify(
    value,
    (_, part) =>
      typeof part === "object" && part !== null && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => a < b ? -1 : 1))
        : part,
  );
}
