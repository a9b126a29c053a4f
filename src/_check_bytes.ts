import { kindOf } from "./_json.ts";

/**
 * Refuses a chunk that is no `Uint8Array`: by its tag, which Node's Buffer and the arrays of other
 * realms have too.
 *
 * @param chunk What came as a chunk of bytes.
 * @throws {TypeError} It is something else.
 */
export function checkBytes(chunk: Uint8Array): void {
  if (chunk?.[Symbol.toStringTag] !== "Uint8Array") {
    throw new TypeError(`Expected a chunk to be a Uint8Array, received ${kindOf(chunk)}`);
  }
}
