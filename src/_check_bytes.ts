import { kindOf } from "./_json.ts";

/**
 * Whether a value is a `Uint8Array`: by its tag, which Node's Buffer and the arrays of other realms
 * have too.
 */
export function isBytes(value: unknown): value is Uint8Array {
  return (value as Uint8Array | undefined | null)?.[Symbol.toStringTag] === "Uint8Array";
}

/**
 * Refuses a chunk that is no `Uint8Array`.
 *
 * @param chunk What came as a chunk of bytes.
 * @throws {TypeError} It is something else.
 */
export function checkBytes(chunk: unknown): void {
  if (!isBytes(chunk)) {
    throw new TypeError(`Expected a chunk to be a Uint8Array, received ${kindOf(chunk)}`);
  }
}
