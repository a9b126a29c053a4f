import type { Usage } from "./types.ts";

/**
 * The usage of a response of which none is known. A new one each time: whoever puts a price into the
 * message that it goes into must not put it into every other.
 */
export function noUsage(): Usage {
  return {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
}
