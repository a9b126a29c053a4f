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
    const error = isFirst || isLast ? readError(text) : undefined;
    this.#text = error || isLast || text.length > MAX_LENGTH ? "" : text;
    return error;
  }
}

function readError(text: string): AdapterError | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const error = isPlainObject(value) ? value.error : undefined;
  return isPlainObject(error) || (typeof error === "string" && error !== "")
    ? readProviderError(value)
    : undefined;
}
