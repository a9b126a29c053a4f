import { findMissing } from "./_find_missing.ts";
import { copyJson, isPlainObject, kindOf } from "./_json.ts";
import { quote } from "./_quote.ts";
import { createStreamEventValidator } from "./stream_event_validator.ts";
import { StreamSequenceError } from "./stream_sequence_error.ts";
import type {
  AssistantContent,
  AssistantMessage,
  JsonObject,
  JsonValue,
  StreamEvent,
} from "./types.ts";

/** Options of {@linkcode toStreamEvents}. */
export interface ToStreamEventsOptions {
  /**
   * The maximum length of a delta, in UTF-16 code units; with `Infinity`, each block has one delta.
   * A surrogate pair is never cut: a delta that would end inside a pair ends one code unit earlier,
   * and with a length of 1, a pair is a delta of its own.
   *
   * @default {Infinity}
   */
  readonly deltaLength?: number | undefined;
}

/** A block with the text that its deltas spell. */
interface Part {
  readonly block: AssistantContent;
  readonly text: string;
}

/** How deep arguments may nest, in levels: what a validator takes that nobody set a limit on. */
const MAX_DEPTH = 1_000;

/**
 * How long the arguments of one call may be, in UTF-16 code units: what a validator takes that
 * nobody set a limit on. Objects that stand in several places can spell a text without end.
 */
const MAX_ARGUMENTS_LENGTH = 67_108_864;

/** Whose event ends the stream, by why the message ended. */
const TERMINAL_TYPES: ReadonlyMap<unknown, "done" | "error"> = new Map([
  ["stop", "done"],
  ["length", "done"],
  ["tool_use", "done"],
  ["error", "error"],
  ["aborted", "error"],
]);

/**
 * Converts a finished message to a sequence of events that could have streamed it: for replaying a
 * cached answer, for tests, or for a fake provider.
 *
 * Every block is closed before the terminal event, even in a failed message. The text of each
 * block, and the JSON text of a tool call's arguments, is cut into deltas; an empty text has none.
 * The last event contains the message itself, with all its fields.
 *
 * The events depend only on `content` and `stopReason`; the message's other required fields are
 * only checked. A validator accepts the events if its limits are not below the defaults; a message
 * of more than 10,000 blocks or 67,108,864 UTF-16 code units needs higher limits.
 *
 * @param message A successful or failed message.
 * @param options How long the deltas are.
 * @returns The events, from `start` to `done` or `error`.
 * @throws {TypeError} The message cannot be streamed: a required field is missing or of the wrong
 * kind; a block has an extra field; a tool call has an empty id or name, or the id of an earlier
 * call; or its arguments are not JSON, nest more than 1,000 levels deep, contain themselves, or
 * take more than 67,108,864 UTF-16 code units.
 * @throws {TypeError} `deltaLength` is not a number.
 * @throws {RangeError} `deltaLength` is neither a whole number of 1 or more nor `Infinity`.
 *
 * @example Replaying an answer
 * ```ts
 * import { type AssistantMessage, toStreamEvents } from "@agent-stream/validator";
 * import { assertEquals } from "@std/assert";
 *
 * const message: AssistantMessage = {
 *   role: "assistant",
 *   content: [{ type: "text", text: "Hello" }],
 *   provider: "demo",
 *   model: "demo-1",
 *   usage: {
 *     input: 1,
 *     output: 1,
 *     cacheRead: 0,
 *     cacheWrite: 0,
 *     totalTokens: 2,
 *     cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
 *   },
 *   timestamp: 1_700_000_000_000,
 *   stopReason: "stop",
 * };
 *
 * assertEquals(toStreamEvents(message, { deltaLength: 3 }), [
 *   { type: "start" },
 *   { type: "text_start", contentIndex: 0 },
 *   { type: "text_delta", contentIndex: 0, delta: "Hel" },
 *   { type: "text_delta", contentIndex: 0, delta: "lo" },
 *   { type: "text_end", contentIndex: 0, content: "Hello" },
 *   { type: "done", reason: "stop", message },
 * ]);
 * ```
 */
export function toStreamEvents(
  message: AssistantMessage,
  options: ToStreamEventsOptions = {},
): StreamEvent[] {
  const deltaLength = deltaLengthOf(options.deltaLength);
  const { parts, terminal } = takeApart(message);
  // Whatever is still wrong with the message, the validator finds: it knows the rules.
  const validator = createStreamEventValidator({
    limits: { contentBlocks: Infinity, messageLength: Infinity },
  });
  try {
    for (const event of generate(parts, terminal, Infinity)) validator.accept(event);
  } catch (error) {
    if (!(error instanceof StreamSequenceError)) throw error;
    throw new TypeError(`Expected a message that can be streamed: ${error.detail}`, {
      cause: error,
    });
  }
  return [...generate(parts, terminal, deltaLength)];
}

function* generate(
  parts: readonly Part[],
  terminal: StreamEvent,
  deltaLength: number,
): Generator<StreamEvent, undefined> {
  yield { type: "start" };
  for (const [contentIndex, { block, text }] of parts.entries()) {
    switch (block.type) {
      case "text":
      case "thinking":
        yield { type: `${block.type}_start`, contentIndex };
        for (const delta of cut(text, deltaLength)) {
          yield { type: `${block.type}_delta`, contentIndex, delta };
        }
        yield { type: `${block.type}_end`, contentIndex, content: text };
        break;
      case "tool_call":
        yield { type: "tool_call_start", contentIndex, id: block.id, name: block.name };
        for (const argumentsDelta of cut(text, deltaLength)) {
          yield { type: "tool_call_delta", contentIndex, argumentsDelta };
        }
        yield { type: "tool_call_end", contentIndex, toolCall: block };
        break;
      default:
        block satisfies never;
    }
  }
  yield terminal;
}

/** Cuts a text into pieces, none of which begins or ends within a surrogate pair. */
function* cut(text: string, length: number): Generator<string, undefined> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + length, text.length);
    if (isWithinPair(text, end)) end += end - start > 1 ? -1 : 1;
    yield text.slice(start, end);
    start = end;
  }
}

function isWithinPair(text: string, offset: number): boolean {
  return (text.charCodeAt(offset - 1) & 0xfc00) === 0xd800 &&
    (text.charCodeAt(offset) & 0xfc00) === 0xdc00;
}

function deltaLengthOf(value: number = Infinity): number {
  if (typeof value !== "number") {
    throw new TypeError(
      `Expected deltaLength to be a number, received ${kindOf(value)}`,
    );
  }
  if (value !== Infinity && (!Number.isInteger(value) || value < 1)) {
    throw new RangeError(
      `Expected deltaLength to be a whole number from 1 on or Infinity, received ${value}`,
    );
  }
  return value;
}

/** Checks what has to hold before there can be events, and copies the blocks. */
function takeApart(message: AssistantMessage): { parts: Part[]; terminal: StreamEvent } {
  const content: unknown = message?.content;
  if (!Array.isArray(content)) {
    throw new TypeError(
      `Expected a message with a content array, received content ${kindOf(content)}`,
    );
  }
  const { stopReason } = message;
  const type = TERMINAL_TYPES.get(stopReason);
  if (type === undefined) {
    throw new TypeError(
      `Expected message.stopReason to be one of "${[...TERMINAL_TYPES.keys()].join('", "')}", ` +
        `received ${typeof stopReason === "string" ? quote(stopReason) : kindOf(stopReason)}`,
    );
  }
  const missing = findMissing(message, type === "error");
  if (missing) throw new TypeError(`Expected a message with ${missing}`);
  const parts: Part[] = [];
  // By index: `map` would pass over holes.
  for (let i = 0; i < content.length; i++) parts.push(takeBlockApart(`content[${i}]`, content[i]));
  return { parts, terminal: { type, reason: stopReason, message } as StreamEvent };
}

function takeBlockApart(path: string, block: unknown): Part {
  const wrongBlock = (): TypeError =>
    new TypeError(`Expected ${path} to be a text, thinking or tool_call block`);
  if (!isPlainObject(block)) throw wrongBlock();
  const { type } = block;
  switch (type) {
    case "text": {
      const text = stringOf(path, block, "text");
      return { block: { type, text }, text };
    }
    case "thinking": {
      const thinking = stringOf(path, block, "thinking");
      return { block: { type, thinking }, text: thinking };
    }
    case "tool_call": {
      const id = stringOf(path, block, "id");
      const name = stringOf(path, block, "name");
      const args = argumentsOf(`${path}.arguments`, block.arguments);
      return { block: { type, id, name, arguments: args }, text: JSON.stringify(args) };
    }
    default:
      throw wrongBlock();
  }
}

function stringOf(path: string, block: Record<string, unknown>, field: string): string {
  const value = block[field];
  if (typeof value === "string") return value;
  throw new TypeError(`Expected ${path}.${field} to be a string, received ${kindOf(value)}`);
}

/** Copies arguments that can be written as JSON text. */
function argumentsOf(path: string, value: unknown): JsonObject {
  if (!isPlainObject(value)) {
    throw new TypeError(`Expected ${path} to be a JSON object, received ${kindOf(value)}`);
  }
  const copy = copyJson(path, value, MAX_DEPTH);
  if (copy.tooDeep) {
    throw new TypeError(
      `Expected ${path} to be at most ${MAX_DEPTH} levels deep and not to contain itself`,
    );
  }
  if (copy.notJson !== undefined) {
    throw new TypeError(
      `Expected ${path} to be a JSON object, received one with a value that is not JSON at ` +
        copy.notJson,
    );
  }
  const args = copy.value as JsonObject;
  if (lengthOf(args, new Map()) > MAX_ARGUMENTS_LENGTH) {
    throw new TypeError(
      `Expected ${path} to take at most ${MAX_ARGUMENTS_LENGTH} UTF-16 code units as JSON text`,
    );
  }
  return args;
}

/**
 * How many UTF-16 code units a value takes as JSON text, without escapes. What stands in several
 * places is looked at once, so that this ends where writing the text would not.
 */
function lengthOf(value: JsonValue, known: Map<object, number>): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return String(value).length;
  let length = known.get(value);
  if (length === undefined) {
    length = 2;
    for (const [key, member] of Object.entries(value)) {
      length += lengthOf(member as JsonValue, known) + (Array.isArray(value) ? 1 : key.length + 4);
    }
    known.set(value, length);
  }
  return length;
}
