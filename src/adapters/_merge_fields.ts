import { sameJson } from "../_json.ts";
import { setMember } from "../_set_member.ts";
import { jsonSize } from "./_json_size.ts";

/** How deep a repeated value is compared, in levels; one that nests deeper counts again. */
const COMPARE_DEPTH = 64;

/**
 * Adds what a piece says to the fields that are kept of what it belongs to, in place: to make them
 * anew for each piece would be quadratic. Absent values say nothing, and what is said again adds
 * nothing.
 *
 * @param kept The fields so far.
 * @param piece More of them.
 * @param texts The names of the fields that go on where the one before ended; others replace it.
 * @returns How much was added, in UTF-16 code units.
 */
export function mergeFields(
  kept: Record<string, unknown>,
  piece: Readonly<Record<string, unknown>>,
  texts: readonly string[] = [],
): number {
  let added = 0;
  for (const [key, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    const before = Object.hasOwn(kept, key) ? kept[key] : undefined;
    if (typeof before === "string" && typeof value === "string" && texts.includes(key)) {
      kept[key] = before + value;
      added += value.length;
    } else if (before !== value && !sameJson(before, value, COMPARE_DEPTH)) {
      setMember(kept, key, value);
      added += key.length + 4 + jsonSize(value);
    }
  }
  return added;
}
