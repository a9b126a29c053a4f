/**
 * A second opinion on the protocol: the table of rules, written down as predicates.
 *
 * Nothing is remembered from one event to the next. Each predicate is given the whole history (the
 * events accepted so far) and the event in question, and works out from scratch what it wants to
 * know: which block is open, what was streamed, which ids are taken. That is slow, and easy to check
 * by eye against the protocol. A predicate may rely on all rules above it having been kept.
 */

import type { StreamSequenceErrorCode } from "../mod.ts";

/** The limits, by the names that the validator's option has for them. */
export interface OracleLimits {
  readonly contentBlocks?: number;
  readonly messageLength?: number;
  readonly argumentsDepth?: number;
}

/** What the oracle says of a whole sequence: what its first violation is, if it has one. */
export type OracleVerdict =
  | "accept"
  | { readonly code: StreamSequenceErrorCode; readonly eventIndex: number };

// deno-lint-ignore no-explicit-any -- events are anything at all here, and rules read deep into them
type Loose = any;
type History = readonly Loose[];
type Rule = (history: History, event: Loose, limits: Required<OracleLimits>) => boolean;

const DEFAULT_LIMITS: Required<OracleLimits> = {
  contentBlocks: 10_000,
  messageLength: 67_108_864,
  argumentsDepth: 1_000,
};

const TYPES = [
  "start",
  "text_start",
  "text_delta",
  "text_end",
  "thinking_start",
  "thinking_delta",
  "thinking_end",
  "tool_call_start",
  "tool_call_delta",
  "tool_call_end",
  "done",
  "error",
];
const REASONS: Loose = { done: ["stop", "length", "tool_use"], error: ["error", "aborted"] };

/** The table of the protocol, row by row, in its order. */
const RULES: readonly (readonly [StreamSequenceErrorCode, Rule])[] = [
  ["malformed_event", (_, e) => !isObject(e) || typeof e.type !== "string"],
  ["expected_start", (h, e) => h.length === 0 && e.type !== "start"],
  ["after_terminal", (h) => h.some((past) => isTerminal(past))],
  ["duplicate_start", (h, e) => h.length > 0 && e.type === "start"],
  ["unknown_event", (_, e) => !TYPES.includes(e.type)],
  ["malformed_event", (_, e) => isBlockEvent(e) && typeof e.contentIndex !== "number"],
  ["malformed_event", (_, e) => isText(e) && isDelta(e) && typeof e.delta !== "string"],
  ["malformed_event", (_, e) => isText(e) && isEnd(e) && typeof e.content !== "string"],
  ["malformed_event", (_, e) => isTool(e) && isDelta(e) && typeof e.argumentsDelta !== "string"],
  ["malformed_event", (_, e) => isTool(e) && isStart(e) && (!isName(e.id) || !isName(e.name))],
  ["malformed_event", (_, e) => isTool(e) && isEnd(e) && !isToolCall(e.toolCall)],
  ["malformed_event", (_, e) => isTerminal(e) && !isMessage(e.message)],
  ["malformed_event", (_, e) => isTerminal(e) && !REASONS[e.type].includes(e.reason)],
  ["block_open", (h, e) => isStart(e) && openBlock(h) !== undefined],
  ["unexpected_index", (h, e) => isStart(e) && e.contentIndex !== blocks(h).length],
  [
    "duplicate_tool_id",
    (h, e) =>
      isTool(e) && isStart(e) && blocks(h).some(({ start }) => isTool(start) && start.id === e.id),
  ],
  ["wrong_block", (h, e) => isDeltaOrEnd(e) && openBlock(h)?.kind !== kindOf(e)],
  ["wrong_index", (h, e) => isDeltaOrEnd(e) && e.contentIndex !== openBlock(h)?.index],
  ["content_mismatch", (h, e) => isText(e) && isEnd(e) && e.content !== openBlock(h)?.joined],
  ["arguments_not_json", (h, e) => isTool(e) && isEnd(e) && spelled(h) === "not JSON"],
  [
    "limit_exceeded",
    (h, e, limits) => {
      if (!isTool(e) || !isEnd(e)) return false;
      const spelling = spelled(h);
      const values = [e.toolCall.arguments];
      if (typeof spelling === "object") values.push(spelling.value);
      return values.some((value) => levels(value, []) > limits.argumentsDepth) ||
        values.some((value) => levels(value, []) === Infinity);
    },
  ],
  [
    "arguments_not_object",
    (h, e) => {
      if (!isTool(e) || !isEnd(e)) return false;
      const spelling = spelled(h);
      const value = typeof spelling === "object" ? spelling.value : e.toolCall.arguments;
      return !isPlainObject(value) || canonical(value) === undefined;
    },
  ],
  [
    "tool_id_changed",
    (h, e) => isTool(e) && isEnd(e) && e.toolCall.id !== openBlock(h)?.start.id,
  ],
  [
    "tool_name_changed",
    (h, e) => isTool(e) && isEnd(e) && e.toolCall.name !== openBlock(h)?.start.name,
  ],
  [
    "arguments_mismatch",
    (h, e) => {
      if (!isTool(e) || !isEnd(e)) return false;
      const spelling = spelled(h);
      return typeof spelling === "object" &&
        canonical(spelling.value) !== canonical(e.toolCall.arguments);
    },
  ],
  ["block_open_at_done", (h, e) => e.type === "done" && openBlock(h) !== undefined],
  ["reason_mismatch", (_, e) => isTerminal(e) && e.reason !== e.message.stopReason],
  [
    "message_mismatch",
    (h, e) => isTerminal(e) && canonical(e.message.content) !== canonical(safeContent(h)),
  ],
  ["limit_exceeded", (h, e, limits) => isStart(e) && blocks(h).length + 1 > limits.contentBlocks],
  [
    "limit_exceeded",
    (h, e, limits) => isDelta(e) && deltaText([...h, e]).length > limits.messageLength,
  ],
];

/**
 * The rule that an event breaks, or `undefined` if it is legal.
 *
 * @param history The events that were accepted before it.
 */
export function brokenRule(
  history: readonly unknown[],
  event: unknown,
  limits: OracleLimits = {},
): StreamSequenceErrorCode | undefined {
  const all = { ...DEFAULT_LIMITS, ...limits };
  return RULES.find(([, isBroken]) => isBroken(history, event, all))?.[0];
}

/** The first violation of a sequence; with `end`, also whether it stops too early. */
export function judge(
  events: readonly unknown[],
  limits: OracleLimits = {},
  end = false,
): OracleVerdict {
  for (let index = 0; index < events.length; index++) {
    const code = brokenRule(events.slice(0, index), events[index], limits);
    if (code !== undefined) return { code, eventIndex: index };
  }
  if (end && !events.some((event) => isTerminal(event))) {
    return { code: "truncated", eventIndex: events.length };
  }
  return "accept";
}

/** The verdict on each event, when those that were rejected are taken as if they had never come. */
export function judgeEach(
  events: readonly unknown[],
  limits: OracleLimits = {},
): (StreamSequenceErrorCode | undefined)[] {
  const history: unknown[] = [];
  return events.map((event) => {
    const code = brokenRule(history, event, limits);
    if (code === undefined) history.push(event);
    return code;
  });
}

/** What is safe to keep of an accepted history: the content of its terminal message, if it has one. */
export function safeContent(history: readonly unknown[]): unknown[] {
  return blocks(history).flatMap(({ kind, start, joined, end }): unknown[] => {
    if (kind === "text") return [{ type: "text", text: joined }];
    if (kind === "thinking") return [{ type: "thinking", thinking: joined }];
    if (end === undefined) return [];
    const { id, name } = start;
    return [{ type: "tool_call", id, name, arguments: end.toolCall.arguments }];
  });
}

/** Where an accepted history stands. */
export function phaseAfter(history: readonly unknown[]): "idle" | "streaming" | "terminal" {
  if (history.length === 0) return "idle";
  return history.some((event) => isTerminal(event)) ? "terminal" : "streaming";
}

interface Block {
  readonly kind: string;
  readonly index: number;
  readonly start: Loose;
  readonly deltas: number;
  readonly joined: string;
  readonly end: Loose;
}

/** All blocks of a history; the events of one lie between its start and the next. */
function blocks(history: History): Block[] {
  const starts = history.flatMap((event, at) => isStart(event) ? [at] : []);
  return starts.map((at, index) => {
    const own = history.slice(at, starts[index + 1]).filter((event) => isBlockEvent(event));
    return {
      kind: kindOf(own[0]),
      index,
      start: own[0],
      deltas: own.filter((event) => isDelta(event)).length,
      joined: deltaText(own),
      end: own.find((event) => isEnd(event)),
    };
  });
}

function openBlock(history: History): Block | undefined {
  return blocks(history).find((block) => block.end === undefined);
}

function deltaText(events: readonly Loose[]): string {
  return events.filter((event) => isDelta(event))
    .map((event) => isTool(event) ? event.argumentsDelta : event.delta).join("");
}

/** What the deltas of the open tool call spell. */
function spelled(history: History): "no deltas" | "not JSON" | { value: unknown } {
  const block = openBlock(history);
  if (block === undefined || block.deltas === 0) return "no deltas";
  try {
    return { value: JSON.parse(block.joined) };
  } catch {
    return "not JSON";
  }
}

function isStart(event: Loose): boolean {
  return isBlockEvent(event) && event.type.endsWith("_start");
}

function isDelta(event: Loose): boolean {
  return isBlockEvent(event) && event.type.endsWith("_delta");
}

function isEnd(event: Loose): boolean {
  return isBlockEvent(event) && event.type.endsWith("_end");
}

function isDeltaOrEnd(event: Loose): boolean {
  return isDelta(event) || isEnd(event);
}

function isTerminal(event: Loose): boolean {
  return event.type === "done" || event.type === "error";
}

function isBlockEvent(event: Loose): boolean {
  return event.type !== "start" && !isTerminal(event);
}

function isTool(event: Loose): boolean {
  return kindOf(event) === "tool_call";
}

function isText(event: Loose): boolean {
  return kindOf(event) === "text" || kindOf(event) === "thinking";
}

function kindOf(event: Loose): string {
  return event.type.replace(/_[a-z]+$/, "");
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isToolCall(value: Loose): boolean {
  return isObject(value) && typeof value.id === "string" && typeof value.name === "string" &&
    value.arguments !== undefined;
}

function isMessage(value: Loose): boolean {
  return isObject(value) && Array.isArray(value.content) && typeof value.stopReason === "string";
}

/** A plain object of any realm: its prototype is null, or some realm's `Object.prototype`. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null ||
    Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

/** A plain array of any realm; of a subclass the prototype is no array itself. */
function isPlainArray(value: unknown): value is unknown[] {
  return Array.isArray(value) && Array.isArray(Object.getPrototypeOf(value));
}

/** How many arrays and plain objects lie in one another at most; infinitely many in a cycle. */
function levels(value: unknown, around: readonly unknown[]): number {
  if (!isPlainArray(value) && !isPlainObject(value)) return 0;
  if (around.includes(value)) return Infinity;
  // Of an array the items only, as JSON sees it.
  const items = isPlainArray(value) ? [...value] : Object.values(value);
  const inner = items.map((item) => levels(item, [...around, value]));
  return 1 + inner.reduce((most, count) => Math.max(most, count), 0);
}

/** One text for all values that JSON holds to be equal, `undefined` for what is not JSON. */
function canonical(value: unknown, around: readonly unknown[] = []): string | undefined {
  if (value === null || typeof value === "boolean" || typeof value === "string") {
    return JSON.stringify(value);
  }
  // JSON.stringify writes 0 for -0.
  if (typeof value === "number") return Number.isFinite(value) ? JSON.stringify(value) : undefined;
  if (around.includes(value)) return undefined;
  if (isPlainArray(value)) {
    // Array.from makes holes visible.
    const items = Array.from(value, (item) => canonical(item, [...around, value]));
    return items.includes(undefined) ? undefined : `[${items.join(",")}]`;
  }
  if (!isPlainObject(value)) return undefined;
  const members = Object.keys(value).sort().map((key) => {
    const item = canonical(value[key], [...around, value]);
    return item === undefined ? undefined : `${JSON.stringify(key)}:${item}`;
  });
  return members.includes(undefined) ? undefined : `{${members.join(",")}}`;
}
