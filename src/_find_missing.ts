import { isRecord } from "./_is_record.ts";

const COST_FIELDS = ["input", "output", "cacheRead", "cacheWrite", "total"];
const USAGE_FIELDS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"];

/**
 * Names the first thing that a terminal event's message lacks, of what the validator does not read.
 *
 * @param message The message.
 * @param isFailed Whether it has to say what went wrong.
 * @returns What is missing or of the wrong kind, if anything is.
 */
export function findMissing(message: unknown, isFailed: boolean): string | undefined {
  if (!isRecord(message)) return undefined; // The validator says so, with the event's index.
  if (message.role !== "assistant") return `role "assistant"`;
  if (typeof message.provider !== "string") return "a string provider";
  if (typeof message.model !== "string") return "a string model";
  // JSON writes no other number, and reads one that is too large as Infinity.
  if (!Number.isFinite(message.timestamp)) return "a numeric timestamp";
  if (!isRecord(message.usage)) return "usage";
  const { usage } = message;
  const field = USAGE_FIELDS.find((field) => !Number.isFinite(usage[field]));
  if (field) return `a numeric usage.${field}`;
  if (!isRecord(usage.cost)) return "usage.cost";
  const { cost } = usage;
  const costField = COST_FIELDS.find((field) => !Number.isFinite(cost[field]));
  if (costField) return `a numeric usage.cost.${costField}`;
  if (isFailed && typeof message.errorMessage !== "string") return "a string errorMessage";
  return undefined;
}
