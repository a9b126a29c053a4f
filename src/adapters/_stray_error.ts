import { isPlainObject } from "../_json.ts";
import type { AdapterError } from "./_adapter.ts";
import { readProviderError } from "./_provider_error.ts";

/** The longest error, in UTF-16 code units. */
const MAX_LENGTH = 65_536;

/**
 * Finds the error among lines that are in no server-sent event. Where a response breaks off, Google's
 * servers put one there as it is, on many lines, and so do proxies.
 */
export class StrayError {
  /** The JSON so far that has not ended. */
  #text = "";

  /**
   * Takes a line that is JSON by its looks.
   *
   * @returns The error that ends with it.
   */
  take(line: string, isMore: boolean): AdapterError | undefined {
    const isFirst = !isMore || this.#text === "";
    if (isFirst && !line.startsWith("{")) return undefined;
    const text = isFirst ? line : `${this.#text}\n${line}`;
    // It is on one line, or the last of many begins with the brace: to try every line is quadratic.
    const isLast = !isFirst && line.startsWith("}");
    const value = isFirst || isLast ? readJson(text) : undefined;
    // What follows a whole value is another one.
    this.#text = value !== undefined || isLast || text.length > MAX_LENGTH ? "" : text;
    return readError(value);
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readError(value: unknown): AdapterError | undefined {
  const error = isPlainObject(value) ? value.error : undefined;
  return isPlainObject(error) || (typeof error === "string" && error !== "")
    ? readProviderError(value)
    : undefined;
}
