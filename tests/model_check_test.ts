import { assert, assertEquals } from "@std/assert";
import {
  createStreamEventValidator,
  type StreamEvent,
  type StreamEventValidator,
  StreamSequenceError,
  type StreamSequenceErrorCode,
} from "../mod.ts";
import { brokenRule, type OracleLimits, phaseAfter, safeContent } from "./_oracle.ts";

/** Sequences of any events are covered up to this length. */
const SEQUENCE_LENGTH = 5;
/** Legal prefixes up to this length are followed by each event of the alphabet. */
const PREFIX_LENGTH = 9;
/** The same with small limits. */
const SMALL_LIMITS_PREFIX_LENGTH = 6;

const ARGUMENTS = { a: [] };
const HALVES = ['{"a":', "[]}"] as const;
const TEXT_A = { type: "text", text: "a" };
const TEXT_EMPTY = { type: "text", text: "" };
const THINKING_A = { type: "thinking", thinking: "a" };
const CALL_X = call("x", ARGUMENTS);
const CALL_Y = call("y", {});

const ALPHABET: readonly unknown[] = [
  // Not events, and events that lack what they need.
  null,
  { type: "ping" },
  { type: "text_start" },
  { type: "text_delta", contentIndex: 0 },
  { type: "tool_call_start", contentIndex: 0, id: "", name: "f" },
  { type: "tool_call_end", contentIndex: 0, toolCall: { id: "x", name: "f" } },
  terminal("done", "error", []),

  { type: "start" },

  // Starts, at the right index or not, with an id of their own or not.
  { type: "text_start", contentIndex: 0 },
  { type: "text_start", contentIndex: 1 },
  { type: "thinking_start", contentIndex: 0 },
  { type: "thinking_start", contentIndex: 1 },
  { type: "tool_call_start", contentIndex: 0, id: "x", name: "f" },
  { type: "tool_call_start", contentIndex: 1, id: "x", name: "f" },
  { type: "tool_call_start", contentIndex: 1, id: "y", name: "f" },
  { type: "tool_call_start", contentIndex: 2, id: "y", name: "f" },

  // Deltas, empty ones too.
  { type: "text_delta", contentIndex: 0, delta: "a" },
  { type: "text_delta", contentIndex: 0, delta: "" },
  { type: "text_delta", contentIndex: 1, delta: "a" },
  { type: "thinking_delta", contentIndex: 0, delta: "a" },
  { type: "thinking_delta", contentIndex: 1, delta: "a" },
  { type: "tool_call_delta", contentIndex: 0, argumentsDelta: HALVES[0] },
  { type: "tool_call_delta", contentIndex: 0, argumentsDelta: HALVES[1] },
  { type: "tool_call_delta", contentIndex: 0, argumentsDelta: "" },
  { type: "tool_call_delta", contentIndex: 0, argumentsDelta: "[]" },
  { type: "tool_call_delta", contentIndex: 1, argumentsDelta: "{}" },

  // Ends, with the streamed content or another.
  { type: "text_end", contentIndex: 0, content: "a" },
  { type: "text_end", contentIndex: 0, content: "" },
  { type: "text_end", contentIndex: 1, content: "a" },
  { type: "thinking_end", contentIndex: 0, content: "a" },
  { type: "thinking_end", contentIndex: 1, content: "" },
  { type: "tool_call_end", contentIndex: 0, toolCall: CALL_X },
  { type: "tool_call_end", contentIndex: 0, toolCall: call("x", {}) },
  { type: "tool_call_end", contentIndex: 0, toolCall: call("x", []) },
  { type: "tool_call_end", contentIndex: 0, toolCall: { ...CALL_X, name: "g" } },
  { type: "tool_call_end", contentIndex: 1, toolCall: CALL_Y },
  { type: "tool_call_end", contentIndex: 1, toolCall: CALL_X },
  { type: "tool_call_end", contentIndex: 2, toolCall: CALL_Y },

  // Terminals, with the streamed content or another.
  terminal("done", "stop", []),
  terminal("done", "stop", [TEXT_A]),
  terminal("done", "stop", [TEXT_EMPTY]),
  terminal("done", "stop", [THINKING_A]),
  terminal("done", "tool_use", [CALL_X]),
  terminal("done", "tool_use", [TEXT_A, CALL_Y]),
  terminal("done", "tool_use", [CALL_X, TEXT_A]),
  terminal("done", "tool_use", [CALL_X, CALL_Y]),
  terminal("done", "stop", [TEXT_A], "length"),
  terminal("error", "aborted", []),
  terminal("error", "error", [TEXT_A]),
  terminal("error", "error", [TEXT_EMPTY]),
  terminal("error", "error", [CALL_X]),
  terminal("error", "error", [TEXT_A, THINKING_A]),
  terminal("error", "error", [], "aborted"),
];

function call(id: string, args: unknown): Record<string, unknown> {
  return { type: "tool_call", id, name: "f", arguments: args };
}

function terminal(type: string, reason: string, content: unknown[], stopReason = reason): unknown {
  return { type, reason, message: { role: "assistant", content, stopReason } };
}

/** What a walk over the legal prefixes has counted. */
interface Counts {
  /** Legal prefixes, by their length. */
  readonly prefixes: number[];
  /** A prefix and an event after it, given to the validator and to the oracle. */
  checks: number;
  /** Rejections by their code. */
  readonly rejections: Map<StreamSequenceErrorCode, number>;
}

/**
 * Gives every event of the alphabet to a validator after every legal prefix up to a length, and holds
 * its verdict against the oracle's.
 *
 * The verdict on a sequence is settled by its first violation, so this covers every sequence that is
 * one event longer: either it is a legal prefix and an event, or it goes on behind a violation that
 * was looked at. Nor is anything left to see behind a violation, if a rejection leaves no trace. That
 * is checked on the way: one validator is given all events that are illegal after the prefix, one
 * after another, its phase and content being compared each time, and then one that is legal.
 */
function walk(maxLength: number, limits: OracleLimits): Counts {
  const counts: Counts = { prefixes: [], checks: 0, rejections: new Map() };
  let prefixes: (readonly unknown[])[] = [[]];
  for (let length = 0; length <= maxLength; length++) {
    counts.prefixes.push(prefixes.length);
    prefixes = prefixes.flatMap((prefix) => checkAfter(prefix, limits, counts));
  }
  return counts;
}

/** Checks each event of the alphabet after one legal prefix; returns the prefixes one event longer. */
function checkAfter(
  prefix: readonly unknown[],
  limits: OracleLimits,
  counts: Counts,
): (readonly unknown[])[] {
  const illegal: (readonly [unknown, StreamSequenceErrorCode])[] = [];
  const legal: unknown[] = [];
  for (const event of ALPHABET) {
    const code = brokenRule(prefix, event, limits);
    if (code === undefined) legal.push(event);
    else illegal.push([event, code]);
  }
  counts.checks += ALPHABET.length;

  const validator = replay(prefix, limits);
  const state = JSON.stringify([phaseAfter(prefix), safeContent(prefix)]);
  let eventIndex = prefix.length;
  checkState(validator, state, prefix);
  for (const [event, code] of illegal) {
    checkVerdict(validator, event, { code, eventIndex: eventIndex++ }, prefix);
    checkState(validator, state, [...prefix, event]);
    counts.rejections.set(code, (counts.rejections.get(code) ?? 0) + 1);
  }
  const isComplete = phaseAfter(prefix) === "terminal";
  checkEnd(validator, isComplete ? undefined : { code: "truncated", eventIndex }, prefix);
  checkState(validator, state, prefix);

  for (const [at, event] of legal.entries()) {
    checkVerdict(at === 0 ? validator : replay(prefix, limits), event, undefined, prefix);
  }
  return legal.map((event) => [...prefix, event]);
}

function replay(events: readonly unknown[], limits: OracleLimits): StreamEventValidator {
  const validator = createStreamEventValidator({ limits });
  for (const event of events) validator.accept(event as StreamEvent);
  return validator;
}

interface Verdict {
  readonly code: StreamSequenceErrorCode;
  readonly eventIndex: number;
}

function verdictOf(act: () => void): Verdict | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    assert(error instanceof StreamSequenceError, String(error));
    return { code: error.code, eventIndex: error.eventIndex };
  }
}

// assertEquals with its message only where something differs: there are millions of checks.

function checkVerdict(
  validator: StreamEventValidator,
  event: unknown,
  expected: Verdict | undefined,
  prefix: readonly unknown[],
): void {
  const actual = verdictOf(() => validator.accept(event as StreamEvent));
  if (actual?.code === expected?.code && actual?.eventIndex === expected?.eventIndex) return;
  assertEquals(actual, expected, `after ${JSON.stringify(prefix)}: ${JSON.stringify(event)}`);
}

function checkEnd(
  validator: StreamEventValidator,
  expected: Verdict | undefined,
  prefix: readonly unknown[],
): void {
  const actual = verdictOf(() => validator.end());
  if (actual?.code === expected?.code && actual?.eventIndex === expected?.eventIndex) return;
  assertEquals(actual, expected, `at the end of ${JSON.stringify(prefix)}`);
}

function checkState(
  validator: StreamEventValidator,
  expected: string,
  events: readonly unknown[],
): void {
  const actual = JSON.stringify([validator.phase, validator.partialContent()]);
  if (actual !== expected) assertEquals(actual, expected, `after ${JSON.stringify(events)}`);
}

/** Runs without stack traces: they would take most of the time. */
function withoutStackTraces<T>(act: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return act();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function report(name: string, { prefixes, checks, rejections }: Counts): void {
  const total = prefixes.reduce((sum, count) => sum + count, 0);
  console.log(
    `${name}: ${total} legal prefixes up to length ${prefixes.length - 1} (${
      prefixes.join(", ")
    }), ` +
      `each followed by each of ${ALPHABET.length} events: ${checks} checks`,
  );
  console.log(
    [...rejections].sort(([, a], [, b]) => b - a).map(([code, count]) => `${code} ${count}`)
      .join(", "),
  );
}

Deno.test("StreamEventValidator agrees with the oracle when any event follows any legal prefix", () => {
  const counts = withoutStackTraces(() => walk(PREFIX_LENGTH, {}));

  report("Default limits", counts);
  // Every sequence of up to SEQUENCE_LENGTH events: the tree goes deeper than that.
  assert(counts.prefixes.length > SEQUENCE_LENGTH);
  let sequences = 0;
  for (let length = 0; length <= SEQUENCE_LENGTH; length++) sequences += ALPHABET.length ** length;
  const settled = counts.prefixes.slice(0, SEQUENCE_LENGTH).reduce((sum, count) => sum + count, 0);
  console.log(
    `That covers all ${sequences} sequences up to length ${SEQUENCE_LENGTH}, settled at their first ` +
      `violation by ${settled * ALPHABET.length} of these checks`,
  );
  // What no event of this alphabet can break at the default limits.
  const codes = [...counts.rejections.keys(), "limit_exceeded", "truncated"];
  assertEquals(codes.length, 21, `codes seen: ${codes.join(", ")}`);
});

Deno.test("StreamEventValidator agrees with the oracle when the limits are small", () => {
  for (
    const limits of [
      { contentBlocks: 1, messageLength: 2, argumentsDepth: 1 },
      { contentBlocks: 2, messageLength: 9, argumentsDepth: 1 },
      { contentBlocks: 0, messageLength: 0, argumentsDepth: 0 },
    ]
  ) {
    const counts = withoutStackTraces(() => walk(SMALL_LIMITS_PREFIX_LENGTH, limits));

    report(`Limits ${JSON.stringify(limits)}`, counts);
    assert(counts.rejections.has("limit_exceeded"));
  }
});
