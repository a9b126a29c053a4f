import { assert, assertEquals } from "@std/assert";
import { createAnthropicMessagesAdapter } from "../../src/adapters/anthropic_messages.ts";
import { outcomeOf } from "./_bodies.ts";
import { testCases } from "./_case_suite.ts";
import { eventsOf, messageOf } from "./_payloads.ts";
import { readRecordings } from "./_recordings.ts";

const create = () => createAnthropicMessagesAdapter({ now: () => 0, createId: () => "made_up" });

testCases({ name: "AnthropicMessagesAdapter", wire: "anthropic", create, count: 19 });

const START = {
  type: "message_start",
  message: { id: "msg_1", model: "m", content: [], usage: { input_tokens: 9, output_tokens: 1 } },
};
/** The start of a message that has a block already. */
const startWith = (block: unknown) => ({
  ...START,
  message: { ...START.message, content: [block] },
});
const END = { type: "message_stop" };
const stopFor = (reason: unknown, more: object = {}) => ({
  type: "message_delta",
  delta: { stop_reason: reason, ...more },
  usage: { output_tokens: 7 },
});
const start = (index: unknown, block: object) => ({
  type: "content_block_start",
  index,
  content_block: block,
});
const delta = (index: unknown, delta: unknown) => ({ type: "content_block_delta", index, delta });
const stop = (index?: unknown) => ({ type: "content_block_stop", index });
const text = (index: unknown, text: string) => [
  start(index, { type: "text", text: "" }),
  delta(index, { type: "text_delta", text }),
  stop(index),
];
const tool = (id: unknown, input: unknown = {}) => ({ type: "tool_use", id, name: "look", input });
const json = (text: unknown) => ({ type: "input_json_delta", partial_json: text });
/** A call of the tool whose arguments come in these pieces. */
const call = (index: unknown, id: unknown, ...pieces: string[]) => [
  start(index, tool(id)),
  ...pieces.map((piece) => delta(index, json(piece))),
  stop(index),
];

/** What the adapter makes of payloads: the reason and the content, or what was wrong. */
function verdictOf(payloads: readonly unknown[]): unknown[] {
  const message = messageOf(create(), payloads);
  return [
    message.stopReason === "error"
      ? `${message.errorCode}: ${message.errorMessage}`
      : message.stopReason,
    ...message.content.map((block) =>
      block.type === "text"
        ? block.text
        : block.type === "thinking"
        ? { thinking: block.thinking }
        : { [block.id]: block.arguments }
    ),
  ];
}

const VERDICTS: Readonly<Record<string, readonly [readonly unknown[], ...unknown[]]>> = {
  "is healthy": [[START, ...text(0, "Hi"), stopFor("end_turn"), END], "stop", "Hi"],
  "stops at a sequence": [[START, ...text(0, "Hi"), stopFor("stop_sequence"), END], "stop", "Hi"],
  "ends without message_stop": [[START, ...text(0, "Hi"), stopFor("end_turn")], "stop", "Hi"],
  "ends with [DONE] behind the end": [
    [START, ...text(0, "Hi"), stopFor("end_turn"), END, "[DONE]"],
    "stop",
    "Hi",
  ],
  "ends with [DONE] instead of message_stop": [
    [START, ...text(0, "Hi"), stopFor("end_turn"), "[DONE]"],
    "stop",
    "Hi",
  ],
  "has text in the start of a block": [
    [
      START,
      start(0, { type: "text", text: "H" }),
      delta(0, { type: "text_delta", text: "i" }),
      stop(0),
      stopFor("end_turn"),
      END,
    ],
    "stop",
    "Hi",
  ],
  "leaves a text block open": [
    [START, ...text(0, "Hi").slice(0, 2), stopFor("end_turn"), END],
    "stop",
    "Hi",
  ],
  "repeats its openers": [
    [START, START, text(0, "")[0], ...text(0, "Hi"), stop(0), stop(), stopFor("end_turn"), END],
    "stop",
    "Hi",
  ],
  "begins a second message": [
    [START, { ...START, message: { ...START.message, id: "msg_2" } }],
    'wire_order: Expected "message_start" only once',
  ],
  "begins the same message after a block": [
    [START, ...text(0, "Hi"), START],
    'wire_order: Expected "message_start" only once',
    "Hi",
  ],
  "has content in message_start that its blocks bring": [
    [startWith({ type: "text", text: "H" }), ...text(0, "Hi"), stopFor("end_turn"), END],
    "stop",
    "Hi",
  ],
  "has a call in message_start that its blocks bring": [
    [
      startWith({ type: "tool_use", id: "a", name: "f", input: {} }),
      ...call(0, "a", '{"x":1}'),
      stopFor("tool_use"),
      END,
    ],
    "tool_use",
    { a: { x: 1 } },
  ],
  "has content in message_start alone": [
    [startWith({ type: "text", text: "Hi" }), stopFor("end_turn"), END],
    "wire_order: Expected the content of message_start to come in blocks",
  ],
  "has other content in message_start than in its blocks": [
    [startWith({ type: "text", text: "Oh" }), ...text(0, "Hi"), stopFor("end_turn"), END],
    "wire_order: Expected the content of message_start to come in blocks",
    "Hi",
  ],
  "has another call in message_start than in its blocks": [
    [
      startWith({ type: "tool_use", id: "b", name: "f", input: {} }),
      ...call(0, "a", '{"x":1}'),
      stopFor("tool_use"),
      END,
    ],
    "wire_order: Expected the content of message_start to come in blocks",
    { a: { x: 1 } },
  ],
  "has something else than blocks in message_start": [
    [startWith("Hi"), ...text(0, "Hi"), stopFor("end_turn"), END],
    "wire_order: Expected the content of message_start to come in blocks",
    "Hi",
  ],
  "has no message in message_start": [
    [{ type: "message_start" }],
    "malformed_frame: Expected message_start to have a message",
  ],
  "has a block before the message": [
    text(0, "Hi"),
    'wire_order: Expected "message_start" before "content_block_start"',
  ],
  "begins an index again": [
    [START, ...text(0, "Hi"), ...text(0, "Hi")],
    "wire_order: Expected content_block_start for a new block, received index 0 again",
    "Hi",
  ],
  "begins every call at index 0": [
    [START, ...call(0, "a", '{"x":1}'), ...call(0, "b", '{"y":2}'), stopFor("tool_use"), END],
    "tool_use",
    { a: { x: 1 } },
    { b: { y: 2 } },
  ],
  "begins the same call at index 0 again": [
    [START, ...call(0, "a", '{"x":1}'), ...call(0, "a", '{"x":1}')],
    "wire_order: Expected content_block_start for a new block, received index 0 again",
    { a: { x: 1 } },
  ],
  "begins the same call at another index": [
    [START, ...call(0, "a", '{"x":1}'), ...call(1, "a", '{"x":1}')],
    'ambiguous_tool_call: Expected another id for a second tool call, received "a" again',
    { a: { x: 1 } },
  ],
  "counts from one, with gaps": [
    [START, ...call(1, "a", "{}"), ...call(5, "b", "{}"), stopFor("tool_use"), END],
    "tool_use",
    { a: {} },
    { b: {} },
  ],
  "counts down": [
    [START, ...call(1, "a", "{}"), ...call(0, "b", "{}"), stopFor("tool_use"), END],
    "tool_use",
    { a: {} },
    { b: {} },
  ],
  "has no index at all": [
    [START, ...text(undefined, "Hi"), ...call(null, "a", "{}"), stopFor("tool_use"), END],
    "tool_use",
    "Hi",
    { a: {} },
  ],
  "has no index where two calls are open, after one that names its call": [
    [
      START,
      start(0, tool("a")),
      start(1, tool("b")),
      delta(0, json("{")),
      delta(null, json("}")),
      stop(0),
      delta(null, json("{}")),
      stop(1),
      stopFor("tool_use"),
      END,
    ],
    "tool_use",
    { a: {} },
    { b: {} },
  ],
  "has no index where two calls are open and the named one is closed": [
    [
      START,
      start(0, tool("a")),
      start(1, tool("b")),
      start(2, tool("c")),
      stop(2),
      delta(null, json("{}")),
    ],
    "ambiguous_tool_call: Expected an index, since more than one block is open",
  ],
  "has an index that is none": [
    [START, start("0", { type: "text", text: "" })],
    "malformed_frame: Expected index to be a whole number from 0 on",
  ],
  "sends a delta of another kind": [
    [START, text(0, "")[0], delta(0, json("{}"))],
    'wire_order: Expected a delta for a block of type "text", received "input_json_delta"',
  ],
  "sends a delta without its text": [
    [START, text(0, "")[0], delta(0, { type: "text_delta" })],
    "malformed_frame: Expected text to be a string, received undefined",
  ],
  "sends a delta that is null": [
    [START, text(0, "")[0], delta(0, null)],
    "malformed_frame: Expected content_block_delta to have a delta",
  ],
  "stops a block that never began": [
    [START, stop(3)],
    "wire_order: Expected content_block_start before the stop of the block at index 3",
  ],
  "sends a delta after the stop reason": [
    [START, text(0, "")[0], stopFor("end_turn"), delta(0, { type: "text_delta", text: "Hi" })],
    'wire_order: Expected no "content_block_delta" after the stop_reason',
  ],
  "begins the same block after a delta": [
    [START, ...text(0, "Hi").slice(0, 2), text(0, "")[0]],
    "wire_order: Expected content_block_start for a new block, received index 0 again",
    "Hi",
  ],
  "begins another call at the index of an open one": [
    [START, start(0, tool("a")), start(0, tool("b"))],
    "wire_order: Expected content_block_start for a new block, received index 0 again",
  ],
  "sends a delta after the stop": [
    [START, ...text(0, "Hi"), delta(0, { type: "text_delta", text: "!" })],
    "wire_order: Expected no delta of the block at index 0 after its content_block_stop",
    "Hi",
  ],
  "begins a block after the stop reason": [
    [START, ...text(0, "Hi"), stopFor("end_turn"), ...text(1, "more"), END],
    'wire_order: Expected no "content_block_start" after the stop_reason',
    "Hi",
  ],
  "has a stop reason that is no text": [
    [START, stopFor(1), END],
    "malformed_frame: Expected stop_reason to be a string",
  ],
  "has no index behind the start of a second call": [
    [
      START,
      start(0, tool("a")),
      start(1, tool("b")),
      delta(null, json('{"y":2}')),
      stop(null),
      delta(null, json('{"x":1}')),
      stop(null),
      stopFor("tool_use"),
    ],
    "tool_use",
    { a: { x: 1 } },
    { b: { y: 2 } },
  ],
  "has an empty stop reason before its own": [
    [START, ...text(0, "Hi"), stopFor(""), stopFor("end_turn"), END],
    "stop",
    "Hi",
  ],
  "has nothing but an empty stop reason": [
    [START, ...text(0, "Hi"), stopFor("")],
    'truncated: Expected "message_stop" before the end of the response',
    "Hi",
  ],
  "sends a delta without a type": [
    [START, text(0, "")[0], delta(0, { text: "Hi" })],
    "malformed_frame: Expected a delta to have a type",
  ],
  "sends text in a delta of another type": [
    [START, text(0, "")[0], delta(0, { type: "text", text: "Hi" })],
    'malformed_frame: Expected more of a block of type "text" in a delta of its kind, received ' +
    '"text"',
  ],
  "sends thinking in a delta of another type": [
    [START, start(0, { type: "thinking" }), delta(0, { type: "summary_delta", thinking: "Hm" })],
    'malformed_frame: Expected more of a block of type "thinking" in a delta of its kind, ' +
    'received "summary_delta"',
  ],
  "sends arguments in a delta of another type": [
    [START, start(0, tool("a")), delta(0, { type: "tool_delta", input: { x: 1 } })],
    'malformed_frame: Expected more of a block of type "tool_use" in a delta of its kind, ' +
    'received "tool_delta"',
  ],
  "changes its stop reason": [
    [START, ...text(0, "Hi"), stopFor("end_turn"), stopFor("max_tokens"), END],
    'wire_order: Expected stop_reason "end_turn" to stay, received "max_tokens"',
    "Hi",
  ],
  "stops without a reason": [
    [START, ...text(0, "Hi"), END],
    'wire_order: Expected a stop_reason before "message_stop"',
    "Hi",
  ],
  "ends before it began": [
    [],
    'truncated: Expected "message_start" before the end of the response',
  ],
  "ends in the middle": [
    [START, ...text(0, "Hi")],
    'truncated: Expected "message_stop" before the end of the response',
    "Hi",
  ],
  "is paused": [
    [START, ...text(0, "Hi"), stopFor("pause_turn"), END],
    'paused: The response was paused: stop_reason "pause_turn"',
    "Hi",
  ],
  "is refused": [
    [START, ...text(0, "Hi"), stopFor("refusal"), END],
    "refusal: The model refused to go on",
    "Hi",
  ],
  "stops for a reason of the future": [
    [START, ...text(0, "Hi"), stopFor("tired"), END],
    'unknown_stop_reason: Expected a known stop_reason, received "tired"',
    "Hi",
  ],
  "stops for a tool call that is not there": [
    [START, ...text(0, "Hi"), stopFor("tool_use"), END],
    "missing_tool_call: Expected a tool call, since the response stopped for one",
    "Hi",
  ],
  "has events of the future": [
    [START, { type: "weather" }, ...text(0, "Hi"), stopFor("end_turn"), END],
    "stop",
    "Hi",
  ],
  "has a payload that is no object": [
    [START, 1],
    "malformed_frame: Expected an event to be an object, received a number",
  ],
  "has an event without a type": [
    [START, {}],
    "malformed_frame: Expected an event to have a type",
  ],
  "says flatly what failed": [
    [START, { type: "overloaded_error", message: "Busy" }],
    "provider_error: Busy",
  ],
  "says in the words of others what failed": [
    [{ error: { message: "Busy", type: "server_error" } }],
    "provider_error: Busy",
  ],
  "has the arguments of a call in its start": [
    [START, start(0, tool("a", { x: 1 })), stop(0), stopFor("tool_use"), END],
    "tool_use",
    { a: { x: 1 } },
  ],
  "repeats the arguments of a call": [
    [START, start(0, tool("a", { x: 1 })), delta(0, json('{"x":1}')), stop(0), stopFor("tool_use")],
    "tool_use",
    { a: { x: 1 } },
  ],
  "has a placeholder before the arguments": [
    [START, start(0, tool("a", { x: 0 })), delta(0, json('{"x":1}')), stop(0)],
    'invalid_tool_arguments: Expected the arguments of tool "look" as text or as an object, ' +
    "received both",
  ],
  "has arguments in a string": [
    [START, start(0, tool("a", "{}"))],
    'invalid_tool_arguments: Expected the arguments of tool "look" to be a JSON object, received ' +
    "a string",
  ],
  "has a JSON string for arguments": [
    [START, ...call(0, "a", '"{}"'), stopFor("tool_use"), END],
    'invalid_tool_arguments: Expected the arguments of tool "look" to be a JSON object, received ' +
    "a string",
  ],
  "has two values for arguments": [
    [START, ...call(0, "a", "{}{}"), stopFor("tool_use"), END],
    'invalid_tool_arguments: Expected the arguments of tool "look" to be valid JSON',
  ],
  "has half the arguments, and goes on": [
    [START, ...call(0, "a", "{"), ...text(1, "Hi")],
    'invalid_tool_arguments: Expected the arguments of tool "look" to be valid JSON',
  ],
  "has half the arguments at the output limit": [
    [START, ...text(0, "Hi"), ...call(1, "a", "{"), stopFor("max_tokens"), END],
    'output_limit: The output limit cut the call of tool "look"',
    "Hi",
  ],
  "has none of the arguments at the output limit": [
    [START, ...call(0, "a", "{}"), ...call(1, "b", ""), stopFor("max_tokens"), END],
    'output_limit: The output limit cut the call of tool "look"',
    { a: {} },
  ],
  "has an open call at the output limit": [
    [START, ...call(0, "a", '{"x":1}').slice(0, 2), stopFor("max_tokens"), END],
    'output_limit: The output limit cut the call of tool "look"',
  ],
  "has a whole call at the output limit": [
    [START, ...call(0, "a", '{"x":1}'), stopFor("max_tokens"), END],
    "length",
    { a: { x: 1 } },
  ],
  "leaves a call open": [
    [START, ...call(0, "a", '{"x":1}').slice(0, 2), stopFor("tool_use"), END],
    'wire_order: Expected the end of the call of tool "look" before the end of the response',
  ],
  "has a call without an id": [
    [START, start(0, tool("")), delta(0, json("{}")), stop(0), stopFor("tool_use"), END],
    "tool_use",
    { made_up: {} },
  ],
  "has a call without a name": [
    [START, start(0, { type: "tool_use", id: "a", input: {} }), stop(0), ...text(1, "Hi")],
    "ambiguous_tool_call: Expected a tool call to have a name",
  ],
  "has an id that is a number": [
    [START, start(0, tool(1))],
    "malformed_frame: Expected the id and name of a tool call to be strings",
  ],
  "leaves one of its own tools open": [
    [
      START,
      start(0, { type: "server_tool_use", id: "s", name: "web_search" }),
      stopFor("end_turn"),
    ],
    'wire_order: Expected the content_block_stop of a block of type "server_tool_use"',
  ],
  "has a broken input for one of its own tools": [
    [
      START,
      start(0, { type: "server_tool_use", id: "s", name: "web_search", input: {} }),
      delta(0, json("{")),
      stop(0),
      stopFor("end_turn"),
      END,
    ],
    'malformed_frame: Expected the input of a block of type "server_tool_use" to be valid JSON',
  ],
};

for (const [name, [payloads, ...verdict]] of Object.entries(VERDICTS)) {
  Deno.test(`AnthropicMessagesAdapter gives its verdict when the wire ${name}`, () => {
    assertEquals(verdictOf(payloads), verdict);
  });
}

Deno.test("AnthropicMessagesAdapter says why the model refused", () => {
  const details = { type: "refusal", category: "bio", explanation: "Not about that." };

  const message = messageOf(create(), [
    START,
    stopFor("refusal", { stop_details: details }),
    END,
  ]);

  assert(message.stopReason === "error");
  assertEquals(message.errorMessage, "The model refused to go on: Not about that.");
  assertEquals(message.errorDetails, { providerErrorType: "bio" });
});

Deno.test("AnthropicMessagesAdapter keeps the type and the request of an error in the body", () => {
  const error = { details: null, type: "overloaded_error", message: "Overloaded" };

  const message = messageOf(create(), [START, { type: "error", error, request_id: "req_1" }]);

  assert(message.stopReason === "error");
  assertEquals(message.errorCode, "provider_error");
  assertEquals(message.errorMessage, "Overloaded");
  assertEquals(message.errorDetails, {
    providerErrorType: "overloaded_error",
    requestId: "req_1",
  });
});

Deno.test("AnthropicMessagesAdapter is truncated when the body ends within a character", () => {
  const body = new TextEncoder().encode(`data: ${JSON.stringify(START)}\n\ndata: é`);

  const { message } = outcomeOf(create(), [body.subarray(0, -1)]);

  assert(message.stopReason === "error");
  assertEquals(message.errorCode, "truncated");
});

Deno.test("AnthropicMessagesAdapter makes no type of the word error alone", () => {
  const message = messageOf(create(), [{ type: "error", message: "Busy" }]);

  assert(message.stopReason === "error");
  assertEquals([message.errorMessage, message.errorDetails], ["Busy", undefined]);
});

Deno.test("AnthropicMessagesAdapter says who answered, and adds the usage up", () => {
  const usage = { input_tokens: 5, cache_read_input_tokens: 20, output_tokens: 1 };
  const last = { input_tokens: null, cache_creation_input_tokens: 300, output_tokens: 4000 };

  const message = messageOf(create(), [
    { type: "message_start", message: { model: "claude-test-1", content: null, usage } },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: last },
    END,
  ]);

  assertEquals(message, {
    role: "assistant",
    content: [],
    provider: "anthropic",
    model: "claude-test-1",
    usage: {
      input: 5,
      output: 4000,
      cacheRead: 20,
      cacheWrite: 300,
      totalTokens: 4325,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    timestamp: 0,
    stopReason: "stop",
  });
});

Deno.test("AnthropicMessagesAdapter shows signed thinking without text, and keeps its signature", () => {
  const block = { type: "thinking", thinking: "", signature: "" };
  const signature = (signature: string) => delta(0, { type: "signature_delta", signature });
  const payloads = [START, start(0, block), signature("c2"), signature("ln"), stop(0)];

  const message = messageOf(create(), [...payloads, stopFor("end_turn"), END]);

  assertEquals(message.content, [{ type: "thinking", thinking: "" }]);
  assertEquals(message.providerReplay, {
    api: "anthropic-messages",
    data: { content: [{ type: "thinking", thinking: "", signature: "c2ln" }] },
  });
});

/** Blocks with something that the next turn must send back, each by itself. */
const OPAQUE: Readonly<Record<string, readonly [readonly unknown[], ...unknown[]]>> = {
  "a signature at the start": [
    [start(0, { type: "thinking", thinking: "", signature: "c2ln" })],
    { type: "thinking", thinking: "", signature: "c2ln" },
  ],
  "redacted thinking, but thinking that is not signed": [
    [
      ...text(0, "Hi"),
      start(1, { type: "thinking", thinking: "hm" }),
      stop(1),
      start(2, { type: "redacted_thinking", data: "b3Bh" }),
    ],
    { type: "text", text: "Hi" },
    { type: "redacted_thinking", data: "b3Bh" },
  ],
  "citations that come with the start": [
    [start(0, { type: "text", text: "Hi", citations: [{ url: "a" }] })],
    { type: "text", text: "Hi", citations: [{ url: "a" }] },
  ],
  "citations at the start and behind it": [
    [
      start(0, { type: "text", text: "Hi", citations: [{ url: "a" }] }),
      delta(0, { type: "citations_delta", citation: { url: "b" } }),
    ],
    { type: "text", text: "Hi", citations: [{ url: "a" }, { url: "b" }] },
  ],
  "who called a tool": [
    [start(0, { ...tool("a"), caller: { type: "code", tool_id: "b" } }), stop(0)],
    { ...tool("a"), caller: { type: "code", tool_id: "b" } },
  ],
  "the set that a tool is of": [
    [start(0, { ...tool("a"), toolset_name: "browser" }), stop(0)],
    { ...tool("a"), toolset_name: "browser" },
  ],
  "what a gateway says of a tool call, but nothing that is empty": [
    [
      start(0, {
        ...tool("a"),
        thought_signature: "c2ln",
        text: "",
        index: null,
        list: [],
        of: {},
      }),
      stop(0),
    ],
    { ...tool("a"), thought_signature: "c2ln", text: "", index: null, list: [], of: {} },
  ],
  "a field of the future in text": [
    [start(0, { type: "text", text: "Hi", tone: ["calm"] })],
    { type: "text", text: "Hi", tone: ["calm"] },
  ],
  "that another model took over": [
    [start(0, { type: "fallback", to: { model: "m2" } }), stop(0)],
    { type: "fallback", to: { model: "m2" } },
  ],
  "a block of the future": [
    [
      start(0, { type: "weather", wind: "NW" }),
      delta(0, { type: "wind_delta", wind: " 4", sea: 2 }),
      stop(0),
    ],
    { type: "weather", wind: "NW 4", sea: 2 },
  ],
  "a delta of the future": [
    [...text(0, "Hi").slice(0, 2), delta(0, { type: "tone_delta", tone: "calm" }), stop(0)],
    { type: "text", text: "Hi", tone: "calm" },
  ],
};

for (const [what, [blocks, ...content]] of Object.entries(OPAQUE)) {
  Deno.test(`AnthropicMessagesAdapter keeps ${what}`, () => {
    const message = messageOf(create(), [START, ...blocks, stopFor("end_turn"), END]);

    assert(message.stopReason !== "error");
    assertEquals(message.providerReplay?.api, "anthropic-messages");
    assertEquals<unknown>(message.providerReplay?.data, { content });
  });
}

Deno.test("AnthropicMessagesAdapter keeps nothing where the events say it all", () => {
  const direct = {
    ...tool("a"),
    caller: { type: "direct" },
    toolset_name: null,
    text: "",
    citations: [],
    of: {},
    isLast: false,
  };

  const message = messageOf(create(), [
    START,
    ...text(0, "Hi"),
    start(1, direct),
    stop(1),
    stopFor("tool_use"),
    END,
  ]);

  assertEquals(message.providerReplay, undefined);
});

Deno.test("AnthropicMessagesAdapter counts what it keeps towards the length of the message", () => {
  const adapter = createAnthropicMessagesAdapter({ limits: { messageLength: 20 } });
  const block = { type: "thinking", thinking: "", signature: "x".repeat(21) };

  const message = messageOf(adapter, [START, start(0, block)]);

  assert(message.stopReason === "error");
  assertEquals(message.errorCode, "limit_exceeded");
});

Deno.test("AnthropicMessagesAdapter counts the blocks that the events cannot express", () => {
  for (const [contentBlocks, ends] of [[2, "limit_exceeded"], [3, undefined]] as const) {
    const adapter = createAnthropicMessagesAdapter({ limits: { contentBlocks } });
    const message = messageOf(adapter, [
      START,
      ...text(0, "Hi"),
      ...[1, 2].flatMap((index) => [start(index, { type: "other" }), stop(index)]),
      stopFor("end_turn"),
      END,
    ]);
    assertEquals(message.errorCode, ends);
    assertEquals(message.content, [{ type: "text", text: "Hi" }]);
  }
});

Deno.test("AnthropicMessagesAdapter counts an input that comes whole", () => {
  const block = { type: "tool_use", id: "a", name: "f", input: { x: "a".repeat(100) } };
  for (const [messageLength, ends] of [[100, "limit_exceeded"], [200, undefined]] as const) {
    const adapter = createAnthropicMessagesAdapter({ limits: { messageLength } });
    const message = messageOf(adapter, [
      START,
      start(0, block),
      { type: "content_block_stop", index: 0 },
      stopFor("tool_use"),
      END,
    ]);
    assertEquals(message.errorCode, ends);
  }
});

Deno.test("AnthropicMessagesAdapter counts no tokens that are no count", () => {
  const usage = { input_tokens: -1, output_tokens: "7", cache_read_input_tokens: Infinity };

  const message = messageOf(create(), [START, { ...stopFor("end_turn"), usage }, END]);

  assertEquals(message.usage.totalTokens, 10);
});

Deno.test("AnthropicMessagesAdapter keeps the count of the prompt when the end says that there was none", () => {
  const usage = {
    input_tokens: 5,
    cache_read_input_tokens: 20,
    cache_creation_input_tokens: 300,
    output_tokens: 1,
  };
  const start = { type: "message_start", message: { usage } };
  const countsOf = (last: object) => {
    const payloads = [start, { ...stopFor("end_turn"), usage: last }, END];
    const { input, output, cacheRead, cacheWrite, totalTokens } =
      messageOf(create(), payloads).usage;
    return [input, output, cacheRead, cacheWrite, totalTokens];
  };

  assertEquals(countsOf({ input_tokens: 0, output_tokens: 7 }), [5, 7, 20, 300, 332]);
  assertEquals(
    countsOf({
      input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      output_tokens: 7,
    }),
    [5, 7, 20, 300, 332],
  );
  // All of it was in the cache.
  assertEquals(
    countsOf({
      input_tokens: 0,
      cache_read_input_tokens: 325,
      cache_creation_input_tokens: 0,
      output_tokens: 7,
    }),
    [0, 7, 325, 0, 332],
  );
});

Deno.test("AnthropicMessagesAdapter names the model that took a response over", () => {
  const fallback = (to: unknown) => start(0, { type: "fallback", from: { model: "m" }, to });
  const modelOf = (to: unknown) => messageOf(create(), [START, fallback(to), stop(0)]).model;

  assertEquals(modelOf({ model: "m2" }), "m2");
  for (const to of [undefined, {}, { model: "" }, { model: 1 }]) assertEquals(modelOf(to), "m");
});

Deno.test("AnthropicMessagesAdapter takes an empty signature for none", () => {
  const block = { type: "thinking", thinking: "", signature: "" };
  const empty = delta(0, { type: "signature_delta", signature: "" });

  const message = messageOf(create(), [
    START,
    start(0, block),
    empty,
    stop(0),
    stopFor("end_turn"),
  ]);

  assertEquals(message.content, []);
  assertEquals(message.providerReplay, undefined);
});

Deno.test("AnthropicMessagesAdapter keeps what the next turn must send back", () => {
  const recording = readRecordings("anthropic").find(({ name }) => name === "server_tool");

  const { message } = outcomeOf(create(), [recording?.body as Uint8Array]);

  assertEquals(message.content, [
    { type: "thinking", thinking: "" },
    { type: "text", text: "I search for it. " },
    { type: "text", text: "Dues are 14 crowns a metre" },
    { type: "text", text: "." },
  ]);
  assertEquals(message.providerReplay, {
    api: "anthropic-messages",
    data: {
      content: [
        {
          type: "redacted_thinking",
          data: "EmwKAhgBEgx0ZXN0LXJlZGFjdGVkGgxmb3ItdGVzdHMtMw==",
        },
        { type: "text", text: "I search for it. " },
        {
          type: "server_tool_use",
          id: "srvtoolu_01Wx",
          name: "web_search",
          input: { query: "harbour dues 2031" },
        },
        {
          type: "web_search_tool_result",
          tool_use_id: "srvtoolu_01Wx",
          content: [
            {
              type: "web_search_result",
              title: "Harbour dues",
              url: "https://harbour.example/dues",
              encrypted_content: "EqgfCioIARgBIiQ3dGVzdA==",
              page_age: "3 days ago",
            },
          ],
        },
        {
          citations: [
            {
              type: "web_search_result_location",
              cited_text: "14 crowns per metre and night",
              url: "https://harbour.example/dues",
              title: "Harbour dues",
              encrypted_index: "Eo8BCioIAhgBIiQ3dGVzdA==",
            },
          ],
          type: "text",
          text: "Dues are 14 crowns a metre",
        },
        { type: "text", text: "." },
      ],
    },
  });
});

Deno.test("AnthropicMessagesAdapter keeps closed blocks and calls beside signed thinking", () => {
  const payloads = [
    START,
    start(0, { type: "thinking", thinking: "hm", signature: "c2ln" }),
    stop(0),
    ...call(1, "", '{"x":1}'),
    start(2, { type: "text", text: "" }),
    stop(2),
    start(3, { type: "compaction", content: "" }),
    delta(3, { type: "compaction_delta", content: "Sum" }),
    delta(3, { type: "compaction_delta", content: "mary", "__proto__": null }),
    stop(3),
    start(4, { type: "text", text: "cut" }),
  ];

  const message = messageOf(create(), payloads);

  assertEquals(message.stopReason, "error");
  assertEquals(message.providerReplay?.data, {
    content: [
      { type: "thinking", thinking: "hm", signature: "c2ln" },
      { type: "tool_use", id: "made_up", name: "look", input: { x: 1 } },
      { type: "compaction", content: "Summary" },
    ],
  });
});

Deno.test("AnthropicMessagesAdapter keeps the container, and who called a tool", () => {
  const container = { id: "container_1", expires_at: "2031-04-05T06:00:00Z" };
  const caller = { type: "code_execution_20260120", tool_id: "srvtoolu_1" };

  const message = messageOf(create(), [
    START,
    start(0, { ...tool("a"), caller }),
    stop(0),
    stopFor("tool_use", { container }),
    END,
  ]);

  assertEquals(message.providerReplay?.data, {
    content: [{ type: "tool_use", id: "a", name: "look", input: {}, caller }],
    container,
  });
});

Deno.test("AnthropicMessagesAdapter ends in an error when what it keeps nests too deep", () => {
  let nested: unknown = 1;
  for (let i = 0; i < 5_000; i++) nested = [nested];
  const server = start(0, { type: "server_tool_use", id: "s", name: "web_search", input: {} });
  const bodies: readonly (readonly unknown[])[] = [
    [start(0, { type: "mcp_tool_result", content: nested })],
    [server, delta(0, json(JSON.stringify(nested))), stop(0)],
    [stopFor("end_turn", { container: { nested } })],
  ];

  for (const payloads of bodies) {
    assertEquals(verdictOf([START, ...payloads]), [
      "limit_exceeded: Expected a block to nest at most 1000 levels deep",
    ]);
  }
});

Deno.test("AnthropicMessagesAdapter emits arguments as they come", () => {
  const events = eventsOf(create(), [
    START,
    ...call(0, "a", "", '{"x":', "", "1}"),
    stopFor("tool_use"),
    END,
  ]);

  assertEquals(events.slice(0, 5), [
    { type: "start" },
    { type: "tool_call_start", contentIndex: 0, id: "a", name: "look" },
    { type: "tool_call_delta", contentIndex: 0, argumentsDelta: '{"x":' },
    { type: "tool_call_delta", contentIndex: 0, argumentsDelta: "1}" },
    {
      type: "tool_call_end",
      contentIndex: 0,
      toolCall: { type: "tool_call", id: "a", name: "look", arguments: { x: 1 } },
    },
  ]);
});

Deno.test("AnthropicMessagesAdapter says what it got when a name or type is no string", () => {
  const type = { toString: 1 };
  const message = messageOf(create(), [
    START,
    { type: "content_block_start", index: 0, content_block: { type, input: {} } },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: "x" },
    },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" } },
    { type: "message_stop" },
  ]);

  assert(message.stopReason === "error");
  assertEquals(
    message.errorMessage,
    "Expected the input of a block of type an object to be valid JSON",
  );
});
