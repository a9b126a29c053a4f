/** Arbitraries for legal streams and the messages that they build, for property tests. */

import fc from "fast-check";
import type {
  AssistantContent,
  FailedAssistantMessage,
  JsonObject,
  JsonValue,
  StreamEvent,
  SuccessfulAssistantMessage,
  ToolCallContent,
  Usage,
} from "../mod.ts";

/** A usage that adds up to nothing. */
export const NO_USAGE: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** Text with astral characters, lone surrogates, control characters and the empty string among it. */
export function arbitraryText(): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.string({ maxLength: 12 }) },
    { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
    {
      weight: 1,
      arbitrary: fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 }).map((units) =>
        String.fromCharCode(...units)
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "\u0000", "\ud800", "\udc00", "é", "e\u0301", "𝄞"),
    },
  );
}

/** Text that survives UTF-8: as `arbitraryText`, without lone surrogates. */
export function arbitraryWellFormedText(): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.string({ maxLength: 12 }) },
    { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "\u0000", "é", "e\u0301", "𝄞", "\u2028", "\ufeff"),
    },
  );
}

/** A JSON value as `JSON.parse` returns it: own `__proto__` keys, -0 and all. */
export function arbitraryJson(
  text: fc.Arbitrary<string> = arbitraryText(),
): fc.Arbitrary<JsonValue> {
  return fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.oneof(
        fc.constant(null),
        fc.boolean(),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom(0, -0),
        text,
      ),
      fc.array(tie("value"), { maxLength: 3 }),
      tie("object"),
    ),
    object: objectOf(tie("value"), text),
  })).value;
}

/** A JSON object, as the arguments of a tool call. */
export function arbitraryArguments(
  text: fc.Arbitrary<string> = arbitraryText(),
): fc.Arbitrary<JsonObject> {
  return objectOf(arbitraryJson(text), text);
}

function objectOf(
  value: fc.Arbitrary<JsonValue>,
  text: fc.Arbitrary<string>,
): fc.Arbitrary<JsonObject> {
  // V8 13.6 to 15.0 read the key `"\n"` as a backslash where an object that began alike had that as
  // its key: so no key here has one.
  const key = fc.oneof(
    text.filter((name) => !name.includes("\\")),
    fc.constantFrom("__proto__", "constructor", "toString", "0", "1", "a"),
  );
  // Built through JSON so that `__proto__` becomes a key like any other.
  return fc.array(fc.tuple(key, value), { maxLength: 4 }).map((members) => {
    const object: JsonObject = {};
    for (const [name, item] of members) {
      Object.defineProperty(object, name, {
        value: item,
        configurable: true,
        enumerable: true,
        writable: true,
      });
    }
    return object;
  });
}

interface Block {
  readonly kind: "text" | "thinking" | "tool_call";
  readonly pieces: readonly string[];
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
  /** Where to cut the arguments' text; `undefined` for a call without deltas. */
  readonly cuts: readonly number[] | undefined;
}

/** What can be set about the legal streams. */
export interface LegalStreamOptions {
  /** At most so many blocks; 5 where not given. */
  readonly maxBlocks?: number;
  /** The text in blocks and arguments; `arbitraryText` where not given. */
  readonly text?: fc.Arbitrary<string>;
}

/** A whole legal stream: from `start` to `done`, or to an `error` anywhere. */
export function arbitraryLegalStream(
  options: LegalStreamOptions = {},
): fc.Arbitrary<StreamEvent[]> {
  const text = options.text ?? arbitraryText();
  const block: fc.Arbitrary<Block> = fc.record({
    kind: fc.constantFrom("text", "thinking", "tool_call"),
    pieces: fc.array(text, { maxLength: 4 }),
    id: text,
    name: text.map((name) => name || "tool"),
    arguments: arbitraryArguments(text),
    cuts: fc.option(fc.array(fc.nat({ max: 40 }), { maxLength: 3 }), { nil: undefined }),
  });
  return fc.record({
    blocks: fc.array(block, { maxLength: options.maxBlocks ?? 5 }),
    successReason: fc.constantFrom("stop", "length", "tool_use"),
    failureReason: fc.constantFrom("error", "aborted"),
    // Four streams in seven finish; the others break off after some event.
    breakOff: fc.option(fc.nat({ max: 40 }), { freq: 1, nil: undefined }),
  }).map(({ blocks, successReason, failureReason, breakOff }) => {
    const events: StreamEvent[] = [{ type: "start" }];
    const content: AssistantContent[] = [];
    // What an `error` after each event would have to carry.
    const safe: AssistantContent[][] = [[]];
    const add = (event: StreamEvent, open?: AssistantContent) => {
      events.push(event);
      safe.push(open === undefined ? [...content] : [...content, open]);
    };
    for (const [contentIndex, block] of blocks.entries()) {
      addBlock(add, content, contentIndex, block);
    }
    if (breakOff === undefined) {
      const message = arbitrarySuccess(content, successReason);
      return [...events, { type: "done", reason: successReason, message }];
    }
    const length = 1 + breakOff % events.length;
    const message = arbitraryFailure(safe[length - 1] ?? [], failureReason);
    return [...events.slice(0, length), { type: "error", reason: failureReason, message }];
  });
}

/** The beginning of a legal stream, without its terminal event. */
export function arbitraryLegalPrefix(
  options: LegalStreamOptions = {},
): fc.Arbitrary<StreamEvent[]> {
  return fc.tuple(arbitraryLegalStream(options), fc.nat({ max: 60 })).map(([events, cut]) =>
    events.slice(0, cut % events.length)
  );
}

/** The message of a stream that finished. */
export function arbitrarySuccess(
  content: readonly AssistantContent[],
  stopReason: "stop" | "length" | "tool_use",
): SuccessfulAssistantMessage {
  return { ...BASE, content, stopReason };
}

/** The message of a stream that broke off. */
export function arbitraryFailure(
  content: readonly AssistantContent[],
  stopReason: "error" | "aborted",
): FailedAssistantMessage {
  return { ...BASE, content, stopReason, errorMessage: "Connection lost" };
}

const BASE = {
  role: "assistant",
  provider: "demo",
  model: "demo-1",
  usage: NO_USAGE,
  timestamp: 0,
} as const;

function addBlock(
  add: (event: StreamEvent, open?: AssistantContent) => void,
  content: AssistantContent[],
  contentIndex: number,
  block: Block,
): void {
  if (block.kind === "tool_call") {
    // The index makes the id unique.
    const id = `${block.id}#${contentIndex}`;
    add({ type: "tool_call_start", contentIndex, id, name: block.name });
    for (const argumentsDelta of argumentDeltas(block)) {
      add({ type: "tool_call_delta", contentIndex, argumentsDelta });
    }
    const toolCall: ToolCallContent = {
      type: "tool_call",
      id,
      name: block.name,
      arguments: block.arguments,
    };
    content.push(toolCall);
    add({ type: "tool_call_end", contentIndex, toolCall });
    return;
  }
  const { kind } = block;
  const whole = (text: string): AssistantContent =>
    kind === "text" ? { type: kind, text } : { type: kind, thinking: text };
  add({ type: `${kind}_start`, contentIndex }, whole(""));
  let text = "";
  for (const delta of block.pieces) {
    text += delta;
    add({ type: `${kind}_delta`, contentIndex, delta }, whole(text));
  }
  content.push(whole(text));
  add({ type: `${kind}_end`, contentIndex, content: text });
}

function argumentDeltas(block: Block): string[] {
  if (block.cuts === undefined) return [];
  // JSON.stringify writes 0 for -0; both are equal to the protocol.
  const text = JSON.stringify(block.arguments);
  const cuts = [0, ...block.cuts.map((cut) => cut % (text.length + 1)), text.length];
  cuts.sort((a, b) => a - b);
  return cuts.slice(1).map((cut, at) => text.slice(cuts[at], cut));
}
