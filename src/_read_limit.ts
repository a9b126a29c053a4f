import { kindOf } from "./_json.ts";

/**
 * Reads a limit: a whole number from 0 on, or `Infinity`.
 *
 * @throws {TypeError} It is not a number.
 * @throws {RangeError} It is out of range.
 */
export function readLimit(name: string, value: number | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  if (typeof value !== "number") {
    throw new TypeError(`Expected limit "${name}" to be a number, received ${kindOf(value)}`);
  }
  if (value !== Infinity && (!Number.isInteger(value) || value < 0)) {
    throw new RangeError(
      `Expected limit "${name}" to be a whole number from 0 on or Infinity, received ${value}`,
    );
  }
  return value;
}
