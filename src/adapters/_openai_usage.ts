import { isPlainObject } from "../_json.ts";
import { noUsage } from "../_no_usage.ts";
import type { Usage } from "../types.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The first field that is a count of tokens, among the names that servers give it. */
function count(...candidates: readonly unknown[]): number | undefined {
  return candidates.find((value) => Number.isFinite(value) && (value as number) >= 0) as
    | number
    | undefined;
}

function objectOf(value: unknown): Fields {
  return isPlainObject(value) ? value : {};
}

/**
 * Reads the usage of Chat Completions, of Responses, and of the servers that imitate them. On this
 * wire the input includes what was read from and written to the cache; in ours it does not.
 */
export function readOpenAiUsage(value: Fields): Usage {
  const inputDetails = objectOf(value.prompt_tokens_details ?? value.input_tokens_details);
  const outputDetails = objectOf(value.completion_tokens_details ?? value.output_tokens_details);
  const cacheRead = count(
    inputDetails.cached_tokens,
    value.prompt_cache_hit_tokens,
    value.cached_tokens,
    value.cache_read_input_tokens,
  ) ?? 0;
  const cacheWrite = count(
    inputDetails.cache_write_tokens,
    inputDetails.cache_creation_tokens,
    value.cache_creation_input_tokens,
  ) ?? 0;
  const prompt = count(value.prompt_tokens, value.input_tokens) ?? 0;
  let output = count(value.completion_tokens, value.output_tokens) ?? 0;
  const reasoning = count(outputDetails.reasoning_tokens, value.reasoning_tokens) ?? 0;
  const total = count(value.total_tokens);
  const cache = cacheRead + cacheWrite;
  // Some servers count the cache apart from the prompt; only then do all together make the total.
  const isCacheApart = cache > prompt ||
    (cache > 0 && total === prompt + cache + output && total !== prompt + output + reasoning);
  const input = isCacheApart ? prompt : prompt - cache;
  // Some count reasoning apart from the completion, or in nothing but the total.
  const rest = (total ?? 0) - input - cache - output;
  if (rest > 0) output += rest;
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: total ?? input + cache + output,
    cost: noUsage().cost,
  };
}
