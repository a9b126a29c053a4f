import { copyJson } from "../_json.ts";
import { AdapterError } from "./_adapter.ts";

/** How deep what is kept for the next turn may nest, in levels: who stores it as JSON recurses. */
const MAX_REPLAY_DEPTH = 1_000;

/** Whether a value nests too deep to be kept for the next turn. */
export function isTooDeepToKeep(value: unknown): boolean {
  return copyJson("data", value, MAX_REPLAY_DEPTH).tooDeep;
}

/**
 * Refuses what nests too deep to be kept for the next turn.
 *
 * @throws {AdapterError} With the code `limit_exceeded`.
 */
export function checkReplayDepth(value: unknown, what: string): void {
  if (isTooDeepToKeep(value)) {
    throw new AdapterError(
      "limit_exceeded",
      `Expected ${what} to nest at most ${MAX_REPLAY_DEPTH} levels deep`,
    );
  }
}
