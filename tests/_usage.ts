import type { Usage } from "../mod.ts";

/** Tokens that cost nothing, where a test does not care. */
export const USAGE: Usage = {
  input: 1,
  output: 2,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 3,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
