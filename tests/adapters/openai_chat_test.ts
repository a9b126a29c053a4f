import { assert, assertEquals } from "@std/assert";
import type { JsonValue, StreamEvent } from "../../mod.ts";
import type { Adapter } from "../../src/adapters/_adapter.ts";
import { createOpenAiChatAdapter } from "../../src/adapters/openai_chat.ts";
import { assertPart, bytesOf, outcomeOf, type WireCase } from "./_bodies.ts";
import { testCases } from "./_case_suite.ts";
import { eventsOf, messageOf } from "./_payloads.ts";

/** An adapter whose messages are the same each time. */
function create(): Adapter {
  let made = 0;
  return createOpenAiChatAdapter({ now: () => 0, createId: () => `made_up${++made}` });
}

const CASES = testCases({
  name: "OpenAiChatAdapter",
  wire: "openai-chat",
  create,
  count: 48,
  cutToWhole: ["oc-finish-stop-every-chunk", "oc-json-concatenated"],
});

Deno.test("OpenAiChatAdapter keeps what came when a body that stops in each chunk is cut", () => {
  const wireCase = CASES.find(({ id }) => id === "oc-finish-stop-every-chunk");
  const body = bytesOf(wireCase as WireCase);

  for (let at = 0; at < body.length; at++) {
    const { message } = outcomeOf(create(), [body.subarray(0, at)]);
    assertPart(message.content, [{ type: "text", text: "Blue kite sky" }]);
  }
});

Deno.test("OpenAiChatAdapter takes none of two glued chunks for the whole, wherever cut", () => {
  const wireCase = CASES.find(({ id }) => id === "oc-json-concatenated");
  const body = bytesOf(wireCase as WireCase);

  for (let at = 0; at < body.length; at++) {
    const { terminal, message } = outcomeOf(create(), [body.subarray(0, at)]);
    assertEquals(terminal, "error:error");
    assertPart(message.content, [{ type: "text", text: "Blue" }]);
  }
});

Deno.test("OpenAiChatAdapter keeps an error that is the body itself, without a frame", () => {
  const wireCase = CASES.find(({ id }) => id === "oc-error-body-unframed");
  const { message } = outcomeOf(create(), [bytesOf(wireCase as WireCase)]);

  assert(message.stopReason === "error");
  assertEquals(message.errorCode, "provider_error");
  assertEquals(message.errorMessage, "prompt exceeds window");
  assertEquals(message.errorDetails, {
    providerErrorType: "exceed_context_size_error",
    status: 400,
  });
});

Deno.test("OpenAiChatAdapter says that a body is JSON and not server-sent events", () => {
  const answer = { choices: [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }] };
  for (const value of [answer, [answer], []]) {
    const { message } = outcomeOf(create(), [new TextEncoder().encode(JSON.stringify(value))]);

    assert(message.stopReason === "error");
    assertEquals(message.errorCode, "malformed_frame");
    assertEquals(message.errorMessage, "Expected server-sent events, received JSON");
  }
});

/** A chunk of the first choice. */
function chunk(delta: unknown, finishReason: string | null = null): Record<string, unknown> {
  return { id: "cc-1", model: "m", choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

/** A delta with fragments of tool calls. */
function calls(...fragments: readonly Record<string, unknown>[]): unknown {
  return chunk({
    tool_calls: fragments.map(({ name, arguments: args, ...rest }) => ({
      ...rest,
      function: { ...(name !== undefined && { name }), arguments: args },
    })),
  });
}

/** What servers send whose programs write out all that they have. */
const EMPTY_FIELDS = {
  reasoning_content: "",
  function_call: { name: "", arguments: "" },
  refusal: "",
  tool_calls: [],
  extra_fields: null,
};

const STOP = chunk({}, "stop");
const TOOL_CALLS = chunk({}, "tool_calls");

/** What an adapter makes of chunks: the reason and the content, or what was wrong. */
function verdictOf(payloads: readonly unknown[]): unknown[] {
  const message = messageOf(create(), payloads);
  return [
    message.stopReason === "error" ? message.errorCode : message.stopReason,
    ...message.content.map((block) =>
      block.type === "text"
        ? block.text
        : block.type === "thinking"
        ? { thinking: block.thinking }
        : { [block.name]: block.arguments, id: block.id }
    ),
  ];
}

const VERDICTS: Readonly<Record<string, readonly [readonly unknown[], ...unknown[]]>> = {
  "has another completion behind calls": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: "{}" }),
      TOOL_CALLS,
      { ...chunk({ content: "Done" }), id: "cc-2" },
      STOP,
    ],
    "wire_order",
  ],
  "has calls of another completion behind calls": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: "{}" }),
      STOP,
      {
        ...(calls({ index: 0, id: "b", name: "g", arguments: "{}" }) as object),
        id: "cc-2",
      },
      STOP,
    ],
    "wire_order",
  ],
  "has an id of its own in each chunk": [
    [
      { ...(calls({ index: 0, id: "a", name: "f", arguments: "{}" }) as object), id: "cc-0" },
      TOOL_CALLS,
      { ...chunk({ content: "Done" }), id: "cc-2" },
    ],
    "tool_use",
    { f: {}, id: "a" },
    "Done",
  ],
  "has another id in a last chunk that says nothing": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: "{}" }),
      TOOL_CALLS,
      { ...chunk({ role: "assistant", content: "", tool_calls: [] }), id: "cc-2" },
    ],
    "tool_use",
    { f: {}, id: "a" },
  ],
  "has no call index and ids tell interleaved fragments apart": [
    [
      calls({ id: "a", name: "f", arguments: '{"x"' }, { id: "b", name: "g", arguments: '{"y"' }),
      calls({ id: "a", arguments: ":1}" }),
      calls({ id: "b", arguments: ":2}" }),
      TOOL_CALLS,
    ],
    "tool_use",
    { f: { x: 1 }, id: "a" },
    { g: { y: 2 }, id: "b" },
  ],
  "sends bare fragments after each opener": [
    [
      calls({ id: "a", name: "f", arguments: "" }),
      calls({ arguments: '{"x":1}' }),
      calls({ id: "b", name: "g", arguments: "" }),
      calls({ arguments: '{"y":2}' }),
      TOOL_CALLS,
    ],
    "tool_use",
    { f: { x: 1 }, id: "a" },
    { g: { y: 2 }, id: "b" },
  ],
  "counts indexes down": [
    [
      calls({ index: 1, id: "b", name: "g", arguments: '{"y":2}' }),
      calls({ index: 0, id: "a", name: "f", arguments: '{"x":1}' }),
      TOOL_CALLS,
    ],
    "tool_use",
    { g: { y: 2 }, id: "b" },
    { f: { x: 1 }, id: "a" },
  ],
  "sends id and name after the arguments": [
    [
      calls({ index: 0, arguments: '{"x":' }),
      calls({ index: 0, arguments: "1}" }),
      calls({ index: 0, id: "a", name: "f" }),
      TOOL_CALLS,
    ],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "never names the call": [
    [calls({ index: 0, id: "a", arguments: "{}" }), TOOL_CALLS],
    "ambiguous_tool_call",
  ],
  "moves an id to another index": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: "{}" }),
      calls({ index: 1, id: "a", name: "f", arguments: '{"x":1}' }),
      TOOL_CALLS,
    ],
    "ambiguous_tool_call",
  ],
  "changes the name of a call": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: '{"x"' }),
      calls({ index: 0, name: "g", arguments: ":1}" }),
      TOOL_CALLS,
    ],
    "ambiguous_tool_call",
  ],
  "names another tool at the index of a whole call": [
    [
      calls({ index: 0, name: "f", arguments: '{"x":1}' }),
      calls({ index: 0, name: "g", arguments: '{"y":2}' }),
      TOOL_CALLS,
    ],
    "tool_use",
    { f: { x: 1 }, id: "made_up1" },
    { g: { y: 2 }, id: "made_up2" },
  ],
  "names the same tool again after a placeholder, without index and id": [
    [calls({ name: "f", arguments: "{}" }), calls({ name: "f", arguments: '{"x":1}' }), TOOL_CALLS],
    "ambiguous_tool_call",
  ],
  "sends whole calls without index and id": [
    [
      calls({ name: "f", arguments: { x: 1 } }, { name: "f", arguments: { x: 2 } }),
      STOP,
    ],
    "tool_use",
    { f: { x: 1 }, id: "made_up1" },
    { f: { x: 2 }, id: "made_up2" },
  ],
  "renumbers a call that was whole": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: '{"x":1}' }),
      calls({ index: 0, id: "b", arguments: '{"x":2}' }),
      TOOL_CALLS,
    ],
    "ambiguous_tool_call",
  ],
  "has null arguments": [
    [calls({ index: 0, id: "a", name: "f", arguments: null }), TOOL_CALLS],
    "tool_use",
    { f: {}, id: "a" },
  ],
  "repeats an object of arguments": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: { x: 1 } }),
      calls({ index: 0, id: "a", name: "f", arguments: { x: 1 } }),
      TOOL_CALLS,
    ],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "sends an object of arguments, then another": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: { x: 1 } }),
      calls({ index: 0, arguments: { x: 2 } }),
      TOOL_CALLS,
    ],
    "invalid_tool_arguments",
  ],
  "sends a string that holds JSON as the arguments' text": [
    [calls({ index: 0, id: "a", name: "f", arguments: JSON.stringify('{"x":1}') }), TOOL_CALLS],
    "invalid_tool_arguments",
  ],
  "sends an array as the arguments": [
    [calls({ index: 0, id: "a", name: "f", arguments: [1] }), TOOL_CALLS],
    "invalid_tool_arguments",
  ],
  "gives two calls one id": [
    [
      calls({ id: "a", name: "f", arguments: "{}" }, { id: "a", name: "g", arguments: "{}" }),
      TOOL_CALLS,
    ],
    "ambiguous_tool_call",
  ],
  "keeps a whole call before one that is broken": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: "{}" }),
      calls({ index: 1, id: "b", name: "g", arguments: "{" }),
      TOOL_CALLS,
    ],
    "invalid_tool_arguments",
    { f: {}, id: "a" },
  ],
  "nests arguments too deep": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: '{"a":'.repeat(1_001) }),
      calls({ index: 0, arguments: `1${"}".repeat(1_001)}` }),
      TOOL_CALLS,
    ],
    "limit_exceeded",
  ],
  "stops at the limit after a whole call": [
    [calls({ index: 0, id: "a", name: "f", arguments: '{"x":1}' }), chunk({}, "length")],
    "length",
    { f: { x: 1 }, id: "a" },
  ],
  "stops at the limit after an object of arguments": [
    [calls({ index: 0, id: "a", name: "f", arguments: { x: 1 } }), chunk({}, "length")],
    "length",
    { f: { x: 1 }, id: "a" },
  ],
  "has null for whatever it does not say": [
    [
      chunk(null),
      chunk({
        content: null,
        refusal: null,
        reasoning: null,
        reasoning_details: null,
        tool_calls: null,
        function_call: null,
        audio: null,
        images: null,
      }),
      { choices: null, error: null, usage: null },
      chunk({ content: "Hi" }),
      STOP,
    ],
    "stop",
    "Hi",
  ],
  "stops at the limit before the arguments of a call": [
    [calls({ index: 0, id: "a", name: "f", arguments: "" }), chunk({}, "length")],
    "output_limit",
  ],
  "calls a function as it was before tools": [
    [
      chunk({ function_call: { name: "f", arguments: '{"x"' } }),
      chunk({ function_call: { arguments: ":1}" } }),
      chunk({}, "function_call"),
    ],
    "tool_use",
    { f: { x: 1 }, id: "made_up1" },
  ],
  "calls a custom tool": [
    [
      chunk({
        tool_calls: [{ index: 0, id: "a", type: "custom", custom: { name: "sh", input: "l" } }],
      }),
      chunk({ tool_calls: [{ index: 0, custom: { input: "s -l" } }] }),
      TOOL_CALLS,
    ],
    "tool_use",
    { sh: { input: "ls -l" }, id: "a" },
  ],
  "fills in every field of what it does not say": [
    [
      chunk({ role: "assistant", content: "", ...EMPTY_FIELDS }, ""),
      chunk({ content: "Hi", ...EMPTY_FIELDS }, ""),
      chunk({ content: "", ...EMPTY_FIELDS }, "stop"),
    ],
    "stop",
    "Hi",
  ],
  "fills in the fields of a function_call beside its calls": [
    [
      chunk({ ...EMPTY_FIELDS, tool_calls: [{ index: 0, id: "a", function: { name: "f" } }] }),
      chunk({ ...EMPTY_FIELDS, tool_calls: [{ index: 0, function: { arguments: "{}" } }] }),
      TOOL_CALLS,
    ],
    "tool_use",
    { f: {}, id: "a" },
  ],
  "has a fragment that says nothing but an index before the call": [
    [
      calls({ index: 0, id: "", name: "", arguments: "" }),
      calls({ index: 0, id: "a", name: "f", arguments: "{}" }),
      TOOL_CALLS,
    ],
    "tool_use",
    { f: {}, id: "a" },
  ],
  "has a fragment that says nothing but an index, and no call": [
    [chunk({ content: "Hi" }), calls({ index: 0, id: "", name: "", arguments: "" }), STOP],
    "stop",
    "Hi",
  ],
  "refuses in words": [
    [chunk({ refusal: "I " }), chunk({ refusal: "won't." }), STOP],
    "stop",
    "I won't.",
  ],
  "stops by a refusal": [[chunk({ content: "No" }), chunk({}, "refusal")], "refusal", "No"],
  "has a bare fragment before any call": [
    [calls({ arguments: "{}" }), TOOL_CALLS],
    "ambiguous_tool_call",
  ],
  "has a bare fragment beside another call": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: "{" }),
      calls({ index: 1, id: "b", name: "g", arguments: "{}" }, { arguments: "}" }),
      TOOL_CALLS,
    ],
    "ambiguous_tool_call",
  ],
  "has bare fragments that add nothing": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: "{}" }, {
        id: "b",
        name: "g",
        arguments: "{}",
      }),
      calls({ arguments: "" }, { arguments: null }),
      TOOL_CALLS,
    ],
    "tool_use",
    { f: {}, id: "a" },
    { g: {}, id: "b" },
  ],
  "has a bare fragment with an object": [
    [
      calls({ id: "a", name: "f" }),
      calls({ arguments: { x: 1 } }),
      TOOL_CALLS,
    ],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "leaves the index out where it repeats the id": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: '{"x"' }),
      calls({ id: "a", arguments: ":1}" }),
      TOOL_CALLS,
    ],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "adds the index where it repeats the id": [
    [
      calls({ id: "a", name: "f", arguments: '{"x"' }),
      calls({ index: 0, id: "a", arguments: ":" }),
      calls({ index: 0, arguments: "1}" }),
      TOOL_CALLS,
    ],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "repeats the name after the arguments": [
    [
      calls({ index: 0, name: "f", arguments: '{"x":1}' }),
      calls({ index: 0, name: "f", arguments: "" }),
      TOOL_CALLS,
    ],
    "tool_use",
    { f: { x: 1 }, id: "made_up1" },
  ],
  "repeats the name in every fragment, without index and id": [
    [calls({ name: "f", arguments: '{"x"' }), calls({ name: "f", arguments: ":1}" }), TOOL_CALLS],
    "ambiguous_tool_call",
  ],
  "renumbers a call in every fragment, the empty last one too": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: "" }),
      calls({ index: 0, id: "b", arguments: '{"x":1}' }),
      calls({ index: 0, id: "c", arguments: "" }),
      TOOL_CALLS,
    ],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "sends text after an object of arguments": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: { x: 1 } }),
      calls({ index: 0, arguments: "\n" }),
      calls({ index: 0, arguments: "{}" }),
      TOOL_CALLS,
    ],
    "invalid_tool_arguments",
  ],
  "thinks in another field than before": [
    [
      chunk({ reasoning_content: "a", reasoning: "x" }),
      chunk({ reasoning: "b" }),
      STOP,
    ],
    "stop",
    { thinking: "ab" },
  ],
  "is filtered": [
    [chunk({ content: "Well" }), chunk({}, "content_filter"), STOP],
    "content_filter",
    "Well",
  ],
  "is paused": [[chunk({ content: "Well" }), chunk({}, "pause_turn")], "paused", "Well"],
  "drops a call when it is filtered": [
    [
      chunk({ content: "Well" }),
      calls({ index: 0, id: "a", name: "f", arguments: "{}" }),
      chunk({}, "content_filter"),
    ],
    "content_filter",
    "Well",
  ],
  "ran out of resources": [
    [chunk({ content: "Well" }), chunk({}, "insufficient_system_resource")],
    "provider_error",
    "Well",
  ],
  "stops since it repeats itself": [
    [chunk({ content: "Well" }), chunk({}, "repetition")],
    "provider_error",
    "Well",
  ],
  "stops at the token that ends it": [
    [chunk({ content: "Well" }), chunk({}, "eos_token")],
    "stop",
    "Well",
  ],
  "fills the context window": [
    [chunk({ content: "Well" }), chunk({}, "model_context_window_exceeded")],
    "length",
    "Well",
  ],
  "is filtered, and says why": [
    [chunk({ content: "Well" }), chunk({}, "content_filter: RECITATION")],
    "content_filter",
    "Well",
  ],
  "has a call that its provider could not read": [
    [chunk({ content: "Well" }), chunk({}, "function_call_filter: MALFORMED_FUNCTION_CALL")],
    "invalid_tool_arguments",
    "Well",
  ],
  "has a call that its provider did not expect": [
    [chunk({ content: "Well" }), chunk({}, "function_call_filter: UNEXPECTED_TOOL_CALL")],
    "provider_error",
    "Well",
  ],
  "has null as a text for its reason, until it stops": [
    [chunk({ content: "We" }, "null"), chunk({ content: "ll" }, "null"), STOP],
    "stop",
    "Well",
  ],
  "has null as a text for its reason, and never stops": [
    [chunk({ content: "Well" }, "null")],
    "truncated",
    "Well",
  ],
  "stops at the limit, and then stops": [
    [chunk({ content: "Well" }), chunk({}, "length"), STOP],
    "length",
    "Well",
  ],
  "ends by [DONE] without a reason": [[chunk({ content: "Well" }), "[DONE]"], "truncated", "Well"],
  "stops with nothing": [[chunk({ role: "assistant", content: "" }), STOP, "[DONE]"], "stop"],
  "has parts of content": [
    [
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm" }] }] }),
      chunk({ content: [{ type: "text", text: "Hi" }] }),
      chunk({ content: " you" }),
      STOP,
    ],
    "stop",
    { thinking: "Hm" },
    "Hi you",
  ],
  "thinks between texts": [
    [chunk({ content: "One" }), chunk({ reasoning: "hm" }), chunk({ content: "Two" }), STOP],
    "stop",
    "One",
    { thinking: "hm" },
    "Two",
  ],
  "marks thoughts in its content": [
    [
      chunk({ content: "<thought>H", extra_content: { google: { thought: true } } }),
      chunk({ content: "m", extra_content: { google: { thought: true } } }),
      chunk({ content: "" }),
      chunk({ content: "</thought>Hi" }),
      chunk({ content: "</thought> <thought>" }),
      STOP,
    ],
    "stop",
    { thinking: "Hm" },
    "Hi</thought> <thought>",
  ],
  "marks thoughts in its content, and calls a tool": [
    [
      chunk({ content: "<thought>Hm", extra_content: { google: { thought: true } } }),
      chunk({
        content: "</thought>",
        tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{}" } }],
      }),
      STOP,
    ],
    "tool_use",
    { thinking: "Hm" },
    { f: {}, id: "a" },
  ],
  "has reasoning as parts of its content": [
    [
      chunk({ content: [{ type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }] }] }),
      chunk({ content: [{ type: "text", text: "Hi" }] }),
      STOP,
    ],
    "stop",
    { thinking: "Hm" },
    "Hi",
  ],
  "has reasoning in its thinking blocks only": [
    [
      chunk({ thinking_blocks: [{ type: "thinking", thinking: "So", signature: null }] }),
      chunk({ thinking_blocks: [{ type: "thinking", thinking: "", signature: "s" }] }),
      chunk({ content: "Hi" }),
      STOP,
    ],
    "stop",
    { thinking: "So" },
    "Hi",
  ],
  "has reasoning in its thinking blocks, too": [
    [
      chunk({
        reasoning_content: "So",
        thinking_blocks: [{ type: "thinking", thinking: "So" }],
      }),
      STOP,
    ],
    "stop",
    { thinking: "So" },
  ],
  "has reasoning in its details only": [
    [
      chunk({ reasoning_details: [{ type: "reasoning.summary", summary: "So", index: 0 }] }),
      chunk({ content: "Hi" }),
      STOP,
    ],
    "stop",
    { thinking: "So" },
    "Hi",
  ],
  "sends a whole message instead of deltas": [
    [{
      choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
    }],
    "stop",
    "Hi",
  ],
  "repeats the message at the end": [
    [
      chunk({ content: "H" }),
      chunk({ content: "i" }),
      { choices: [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }] },
    ],
    "stop",
    "Hi",
  ],
  "has calls in the message at the end only": [
    [
      chunk({ content: "Hi" }),
      {
        choices: [{
          index: 0,
          message: {
            content: "Hi",
            tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }],
          },
          finish_reason: "stop",
        }],
      },
    ],
    "tool_use",
    "Hi",
    { f: {}, id: "a" },
  ],
  "repeats its calls in the message at the end": [
    [
      calls({ index: 0, id: "a", name: "f", arguments: "{}" }),
      {
        choices: [{
          index: 0,
          message: { tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }] },
          finish_reason: "stop",
        }],
      },
    ],
    "tool_use",
    { f: {}, id: "a" },
  ],
  "ends with another message than it streamed": [
    [
      chunk({ content: "Hi" }),
      { choices: [{ index: 0, message: { content: "Ho" }, finish_reason: "stop" }] },
    ],
    "wire_order",
    "Hi",
  ],
  "has a chunk that is no object": [[chunk({ content: "Hi" }), [], STOP], "malformed_frame", "Hi"],
  "has content that is no text": [[chunk({ content: 1 }), STOP], "malformed_frame"],
};

for (const [name, [payloads, ...expected]] of Object.entries(VERDICTS)) {
  Deno.test(`OpenAiChatAdapter gives its verdict when the response ${name}`, () => {
    assertEquals(verdictOf(payloads), expected);
  });
}

const ERRORS: Readonly<Record<string, readonly [unknown, string, unknown]>> = {
  "nested": [
    { error: { message: "Slow down", type: "rate_limit", code: null } },
    "Slow down",
    { providerErrorType: "rate_limit" },
  ],
  "nested, with a status as its code": [
    { error: { message: "Upstream is down", code: 502 }, choices: [] },
    "Upstream is down",
    { status: 502 },
  ],
  "a text": [{ error: "Out of memory" }, "Out of memory", undefined],
  "flat": [
    { object: "error", message: "Too long", type: "BadRequest", code: 400 },
    "Too long",
    { providerErrorType: "BadRequest", status: 400 },
  ],
  "of Google, with when to come again": [
    {
      error: {
        code: 429,
        message: "Quota exceeded",
        status: "RESOURCE_EXHAUSTED",
        details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }],
      },
    },
    "Quota exceeded",
    { providerErrorType: "RESOURCE_EXHAUSTED", status: 429, retryAfter: 34_500 },
  ],
  "nested, with a status as a text, and None for a type": [
    { error: { message: "Gone", type: "None", param: "None", code: "503" } },
    "Gone",
    { status: 503 },
  ],
  "nested, with a type and a code": [
    { error: { message: "Slow down", type: "tokens", param: null, code: "rate_limit_exceeded" } },
    "Slow down",
    { providerErrorType: "tokens", providerErrorCode: "rate_limit_exceeded" },
  ],
  "nested, with a status and the request's id beside it": [
    { error: { message: "Slow down", type: "quota" }, status_code: 429, request_id: "req_1" },
    "Slow down",
    { providerErrorType: "quota", status: 429, requestId: "req_1" },
  ],
  "nested, with a status of HTTP": [
    { error: { message: "Too long", http_status_code: 422 } },
    "Too long",
    { status: 422 },
  ],
  "a text, with its type beside it": [
    { error: "Out of memory", error_type: "generation" },
    "Out of memory",
    { providerErrorType: "generation" },
  ],
  "flat, with nothing but its words": [{ message: "Gone" }, "Gone", undefined],
  "a detail": [{ detail: "Gone" }, "Gone", undefined],
  "of Groq": [
    { choices: [], x_groq: { id: "req_1", error: "over capacity" }, usage: { total_tokens: 1 } },
    "over capacity",
    { requestId: "req_1" },
  ],
  "of MiniMax": [
    { choices: null, base_resp: { status_code: 1008, status_msg: "insufficient balance" } },
    "insufficient balance",
    { providerErrorType: "1008" },
  ],
  "in the choice": [
    { choices: [{ index: 0, error: { message: "Gone", code: "gone" } }] },
    "Gone",
    { providerErrorType: "gone" },
  ],
};

for (const [name, [payload, errorMessage, errorDetails]] of Object.entries(ERRORS)) {
  Deno.test(`OpenAiChatAdapter keeps an error that is ${name}`, () => {
    const message = messageOf(create(), [chunk({ content: "Hi" }), payload, "[DONE]"]);

    assertEquals(message.content, [{ type: "text", text: "Hi" }]);
    assert(message.stopReason === "error");
    assertEquals(message.errorCode, "provider_error");
    assertEquals(message.errorMessage, errorMessage);
    assertEquals(message.errorDetails, errorDetails);
  });
}

const USAGES: Readonly<Record<string, readonly [unknown, readonly number[]]>> = {
  "the API": [
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 8 },
    },
    [10, 20, 60, 30, 120],
  ],
  "a server with cache hits and misses": [
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_cache_hit_tokens: 64,
      prompt_cache_miss_tokens: 36,
    },
    [36, 20, 64, 0, 120],
  ],
  "a server with flat cached tokens": [
    { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, cached_tokens: 40 },
    [60, 20, 40, 0, 120],
  ],
  "a server that counts reasoning apart": [
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 150,
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    [100, 50, 0, 0, 150],
  ],
  "a gateway with other names": [
    {
      input_tokens: 100,
      output_tokens: 20,
      cache_read_input_tokens: 10,
      cache_creation_input_tokens: 5,
    },
    [85, 20, 10, 5, 120],
  ],
  "a server that counts reasoning in nothing but the total": [
    { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 },
    [20, 603, 0, 0, 623],
  ],
  "a server that counts reasoning apart, and a cache": [
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    [70, 50, 30, 0, 150],
  ],
  "a gateway that counts the cache apart": [
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 30 },
    },
    [100, 20, 30, 0, 150],
  ],
  "a gateway that counts a large cache apart, without a total": [
    { prompt_tokens: 4, completion_tokens: 20, cache_read_input_tokens: 900 },
    [4, 20, 900, 0, 924],
  ],
  "nobody, with nonsense": [
    { prompt_tokens: "many", completion_tokens: -1, total_tokens: null },
    [0, 0, 0, 0, 0],
  ],
};

for (const [name, [usage, expected]] of Object.entries(USAGES)) {
  Deno.test(`OpenAiChatAdapter reads the usage of ${name}`, () => {
    const message = messageOf(create(), [chunk({ content: "Hi" }, "stop"), { choices: [], usage }]);

    const { input, output, cacheRead, cacheWrite, totalTokens } = message.usage;
    assertEquals([input, output, cacheRead, cacheWrite, totalTokens], expected);
  });
}

Deno.test("OpenAiChatAdapter keeps for the next turn what the events cannot express", () => {
  const message = messageOf(create(), [
    chunk({ reasoning: "a", reasoning_details: [{ type: "reasoning.text", text: "a", index: 0 }] }),
    chunk({ reasoning: "b", reasoning_details: [{ type: "reasoning.text", text: "b", index: 0 }] }),
    chunk({ reasoning_details: [{ type: "reasoning.text", signature: "s", index: 0 }] }),
    chunk({ reasoning_details: [{ type: "reasoning.encrypted", data: "x", index: 1 }] }),
    chunk({ reasoning_details: [{ type: "reasoning.encrypted", data: "y", index: 1 }] }),
    chunk({ images: [{ type: "image_url", image_url: { url: "data:," } }] }),
    chunk({ images: [{ type: "image_url", image_url: { url: "data:,2" } }], citations: [] }),
    chunk({ audio: { id: "au", transcript: "Hel" } }),
    chunk({ audio: { transcript: "lo" } }),
    chunk({
      tool_calls: [{
        index: 0,
        id: "a",
        function: { name: "f", arguments: "{}" },
        extra_content: { google: { thought_signature: "t" } },
      }],
    }),
    TOOL_CALLS,
  ]);

  assertEquals(message.providerReplay, {
    api: "openai-chat",
    data: {
      reasoning_field: "reasoning",
      reasoning_details: [
        { type: "reasoning.text", text: "ab", index: 0, signature: "s" },
        { type: "reasoning.encrypted", data: "x", index: 1 },
        { type: "reasoning.encrypted", data: "y", index: 1 },
      ],
      images: [
        { type: "image_url", image_url: { url: "data:," } },
        { type: "image_url", image_url: { url: "data:,2" } },
      ],
      audio: { id: "au", transcript: "Hello" },
      tool_calls: [{ extra_content: { google: { thought_signature: "t" } }, id: "a" }],
    },
  });
});

const KEPT: Readonly<Record<string, readonly [readonly unknown[], JsonValue]>> = {
  "Copilot's opaque reasoning": [
    [
      chunk({ reasoning_text: "Hm" }),
      chunk({ content: "Hi", reasoning_opaque: "" }),
      chunk({ content: null, reasoning_opaque: "opaque" }),
    ],
    { reasoning_field: "reasoning_text", reasoning_opaque: "opaque" },
  ],
  "LiteLLM's thinking blocks, a signature ending each": [
    [
      chunk({ thinking_blocks: [{ type: "thinking", thinking: "H", signature: "" }] }),
      chunk({ thinking_blocks: [{ type: "thinking", thinking: "m", signature: null }] }),
      chunk({ thinking_blocks: [{ type: "thinking", thinking: "", signature: "s" }] }),
      chunk({ thinking_blocks: [{ type: "redacted_thinking", data: "x" }] }),
      chunk({ thinking_blocks: [{ type: "redacted_thinking", data: "y" }] }),
      chunk({ thinking_blocks: [{ type: "thinking", thinking: "So", signature: "t" }] }),
      chunk({ thinking_blocks: [{ type: "thinking", thinking: "Yes" }] }),
    ],
    {
      thinking_blocks: [
        { type: "thinking", thinking: "Hm", signature: "s" },
        { type: "redacted_thinking", data: "x" },
        { type: "redacted_thinking", data: "y" },
        { type: "thinking", thinking: "So", signature: "t" },
        { type: "thinking", thinking: "Yes" },
      ],
    },
  ],
  "LiteLLM's reasoning items": [
    [chunk({ reasoning_items: [{ type: "reasoning", id: "rs", encrypted_content: "x" }] })],
    { reasoning_items: [{ type: "reasoning", id: "rs", encrypted_content: "x" }] },
  ],
  "Groq's tools, each once": [
    [
      chunk({ executed_tools: [{ index: 0, type: "search", arguments: "{}" }] }),
      chunk({ executed_tools: [{ index: 1, type: "python", arguments: "{}" }] }),
      chunk({ executed_tools: [{ index: 0, type: "search", arguments: "{}", output: "o" }] }),
      chunk({ executed_tools: [{ type: "visit" }, { type: "visit" }] }),
    ],
    {
      executed_tools: [
        { index: 0, type: "search", arguments: "{}", output: "o" },
        { index: 1, type: "python", arguments: "{}" },
        { type: "visit" },
        { type: "visit" },
      ],
    },
  ],
  "Azure's context of an answer": [
    [chunk({ role: "assistant", context: { citations: [{ title: "T" }], intent: "[]" } })],
    { context: { citations: [{ title: "T" }], intent: "[]" } },
  ],
  "the signature of a text of Gemini, less the mark of a thought": [
    [
      chunk({ content: "<thought>Hm", extra_content: { google: { thought: true } } }),
      chunk({ content: "</thought>Hi", extra_content: { google: { thought_signature: "s" } } }),
      chunk({ content: "", extra_content: { google: { more: 1 }, other: { x: 1 }, bad: 1 } }),
    ],
    { extra_content: { google: { thought_signature: "s", more: 1 }, other: { x: 1 } } },
  ],
  "the sources of Perplexity, as it last said them": [
    [
      { ...chunk({ content: "H" }), citations: ["u"], search_results: [{ title: "T" }] },
      { ...chunk({ content: "i" }), citations: ["u", "v"], search_results: [] },
    ],
    { citations: ["u", "v"], search_results: [{ title: "T" }] },
  ],
  "the searches of Zhipu and Qianfan": [
    [{ ...chunk({}), web_search: [{ link: "u" }], search_info: { x: 1 } }],
    { search_info: { x: 1 }, web_search: [{ link: "u" }] },
  ],
  "the type of a call that is not the standard's": [
    [
      chunk({
        tool_calls: [{
          index: 0,
          id: "a",
          type: "builtin_function",
          function: { name: "$web_search", arguments: "{}" },
        }],
      }),
    ],
    { tool_calls: [{ type: "builtin_function", id: "a" }] },
  ],
  "what stands within a thought and is no text": [
    [
      chunk({
        content: [{
          type: "thinking",
          thinking: [{ type: "text", text: "Hm" }, { type: "reference", reference_ids: [1] }],
        }],
      }),
    ],
    { parts: [{ type: "thinking", thinking: [{ type: "reference", reference_ids: [1] }] }] },
  ],
};

for (const [name, [payloads, data]] of Object.entries(KEPT)) {
  Deno.test(`OpenAiChatAdapter keeps ${name}`, () => {
    const message = messageOf(create(), [...payloads, STOP]);

    assertEquals(message.providerReplay, { api: "openai-chat", data });
  });
}

Deno.test("OpenAiChatAdapter keeps what a filter of Gemini's endpoint says", () => {
  const message = messageOf(create(), [chunk({}, "content_filter: SAFETY")]);

  assert(message.stopReason === "error");
  assertEquals(message.errorDetails, { providerErrorType: "content_filter: SAFETY" });
});

Deno.test("OpenAiChatAdapter keeps MiniMax's error that is the body itself", () => {
  const body = { base_resp: { status_code: 1004, status_msg: "login fail" } };
  const { message } = outcomeOf(create(), [new TextEncoder().encode(JSON.stringify(body))]);

  assert(message.stopReason === "error");
  assertEquals([message.errorCode, message.errorMessage], ["provider_error", "login fail"]);
});

Deno.test("OpenAiChatAdapter takes a chunk without choices that says success for none that failed", () => {
  const success = { code: 0, message: "Success", usage: { total_tokens: 5 } };
  assertEquals(verdictOf([chunk({ content: "Hi" }), success, STOP]), ["stop", "Hi"]);
});

Deno.test("OpenAiChatAdapter takes a base_resp without a fault for none", () => {
  const base_resp = { status_code: 0, status_msg: "" };
  assertEquals(verdictOf([{ ...chunk({ content: "Hi" }), base_resp }, STOP]), ["stop", "Hi"]);
});

Deno.test("OpenAiChatAdapter keeps the fields that a bare fragment brings", () => {
  const message = messageOf(create(), [
    calls({ id: "a", name: "f", arguments: "{}" }),
    chunk({ tool_calls: [{ thought_signature: "t", function: {} }] }),
    TOOL_CALLS,
  ]);

  assertEquals(message.providerReplay, {
    api: "openai-chat",
    data: { tool_calls: [{ thought_signature: "t", id: "a" }] },
  });
});

Deno.test("OpenAiChatAdapter streams a call's arguments as they come", () => {
  const events = eventsOf(create(), [
    calls({ index: 0, id: "a", name: "f", arguments: "" }),
    calls({ index: 0, arguments: '{"x"' }),
    calls({ index: 0, arguments: ":1}" }),
    TOOL_CALLS,
  ]);

  assertEquals(
    events.map((event) => event.type === "tool_call_delta" ? event.argumentsDelta : event.type),
    ["start", "tool_call_start", '{"x"', ":1}", "tool_call_end", "done"],
  );
});

Deno.test("OpenAiChatAdapter ends a text when another block begins", () => {
  const events: StreamEvent[] = [];
  const emit = (event: StreamEvent) => events.push(event);
  const adapter = create();

  adapter.push(chunk({ reasoning: "So" }), emit);
  adapter.push(chunk({ content: "Hi" }), emit);
  adapter.push(calls({ index: 0, id: "a", name: "f", arguments: "{" }), emit);

  assertEquals(events.map(({ type }) => type), [
    "start",
    "thinking_start",
    "thinking_delta",
    "thinking_end",
    "text_start",
    "text_delta",
    "text_end",
    "tool_call_start",
    "tool_call_delta",
  ]);
});

Deno.test("OpenAiChatAdapter keeps nothing for the next turn when there is nothing", () => {
  assertEquals("providerReplay" in messageOf(create(), [chunk({ content: "Hi" }), STOP]), false);
});

Deno.test("OpenAiChatAdapter fails when more waits than it may hold", () => {
  const adapter = createOpenAiChatAdapter({ limits: { waitingLength: 10 } });

  const message = messageOf(adapter, [
    calls({ index: 0, id: "a", name: "f", arguments: "{" }),
    chunk({ content: "01234567890" }),
    STOP,
  ]);

  assert(message.stopReason === "error");
  assertEquals(message.errorCode, "limit_exceeded");
});

Deno.test("OpenAiChatAdapter counts what it keeps towards the length of the message", () => {
  const long = "a".repeat(100);
  const tool = { index: 0, id: "a", function: { name: "f", arguments: "" } };
  const deltas = [
    { audio: { data: long } },
    { audio: { transcript: long } },
    { images: [{ url: long }] },
    { annotations: [[long]] },
    { content: [{ type: "image", [long]: 1 }] },
    { executed_tools: [{ index: 0, output: long }] },
    { extra_content: { vendor: { signature: long } } },
    { reasoning_details: [{ data: long }] },
    { reasoning: "Hm", reasoning_details: [{ text: long }] },
    { tool_calls: [{ ...tool, signature: long }] },
    { tool_calls: [{ ...tool, function: { name: "f", arguments: { x: long } } }] },
    { tool_calls: [{ index: 0, id: "a", type: "custom", custom: { name: "f", input: long } }] },
  ];
  for (const delta of deltas) {
    for (const [messageLength, ends] of [[80, "limit_exceeded"], [200, undefined]] as const) {
      const adapter = createOpenAiChatAdapter({ limits: { messageLength } });
      const message = messageOf(adapter, [chunk(delta), STOP]);
      assertEquals(message.errorCode, ends, JSON.stringify(delta));
    }
    const twice = createOpenAiChatAdapter({ limits: { messageLength: 350 } });
    const message = messageOf(twice, [chunk(delta), chunk(delta), STOP]);
    assertEquals(message.errorCode, undefined, JSON.stringify(delta));
  }
});

Deno.test("OpenAiChatAdapter counts reasoning in details once, where it is content too", () => {
  const details = (text: string) =>
    chunk({ reasoning_details: [{ type: "reasoning.text", index: 0, text }] });
  const adapter = createOpenAiChatAdapter({ limits: { messageLength: 300 } });

  const message = messageOf(adapter, [...Array.from({ length: 100 }, () => details("ab")), STOP]);

  assertEquals(message.content, [{ type: "thinking", thinking: "ab".repeat(100) }]);
});

Deno.test("OpenAiChatAdapter keeps a great many fields in linear time", () => {
  const fields = Array.from({ length: 10_000 }, (_, i) => ({ [`k${i}`]: 1 }));
  const begin = performance.now();

  const message = messageOf(create(), [
    ...fields.map((field) => chunk({ audio: field })),
    ...fields.map((field, i) => {
      const called = { name: "f", arguments: i === 0 ? "{}" : "" };
      return chunk({ tool_calls: [{ index: 0, id: "a", function: called, ...field }] });
    }),
    ...fields.map((field) => chunk({ reasoning_details: [{ index: 0, ...field }] })),
    ...fields.map((field) => chunk({ executed_tools: [{ index: 0, ...field }] })),
    ...fields.map((field) => chunk({ extra_content: { vendor: field } })),
    STOP,
  ]);

  const { audio, executed_tools, extra_content, tool_calls, reasoning_details } = message
    .providerReplay?.data as {
      audio: object;
      executed_tools: object[];
      extra_content: object;
      tool_calls: object[];
      reasoning_details: object[];
    };
  const all = Object.assign({}, ...fields);
  assertEquals([audio, executed_tools, extra_content, tool_calls, reasoning_details], [
    all,
    [{ index: 0, ...all }],
    { vendor: all },
    [{ ...all, id: "a" }],
    [{ index: 0, ...all }],
  ]);
  assert(performance.now() - begin < 3_000);
});

Deno.test("OpenAiChatAdapter labels the message with what the wire says, or the options", () => {
  const options = { provider: "router", model: "fallback", now: () => 5 };
  const named = messageOf(createOpenAiChatAdapter(options), [STOP]);
  const late = messageOf(createOpenAiChatAdapter(options), [
    { model: "", choices: [] },
    { model: "first", choices: [] },
    STOP,
  ]);
  const unnamed = messageOf(createOpenAiChatAdapter(options), [
    { choices: [{ delta: { content: "Hi" }, finish_reason: "stop" }] },
  ]);

  assertEquals([named.provider, named.model, named.timestamp], ["router", "m", 5]);
  assertEquals(late.model, "first");
  assertEquals(unnamed.model, "fallback");
});

const MALFORMED: readonly unknown[] = [
  null,
  "text",
  { choices: {} },
  { choices: [1] },
  chunk([]),
  chunk({ content: {} }),
  chunk({ content: [1] }),
  chunk({ content: [{ type: "text", text: 1 }] }),
  chunk({ refusal: true }),
  chunk({ reasoning: {} }),
  chunk({ reasoning_details: {} }),
  chunk({ reasoning_details: [1] }),
  chunk({ tool_calls: {} }),
  chunk({ tool_calls: [null] }),
  chunk({ tool_calls: [{ index: 0, function: [] }] }),
  chunk({ tool_calls: [{ index: {}, function: {} }] }),
  chunk({ tool_calls: [{ index: 0, id: true, function: {} }] }),
  chunk({ tool_calls: [{ index: 0, function: { name: 1 } }] }),
  { choices: [{ index: 0, delta: {}, finish_reason: 1 }] },
];

for (const payload of MALFORMED) {
  Deno.test(`OpenAiChatAdapter refuses the frame ${JSON.stringify(payload)}`, () => {
    const verdict = verdictOf([chunk({ content: "Hi" }), payload, STOP]);

    assertEquals(verdict, ["malformed_frame", "Hi"]);
  });
}

Deno.test("OpenAiChatAdapter reads usage that stands beside the choices", () => {
  const usage = { prompt_tokens: 4, completion_tokens: 1, total_tokens: 5 };
  const message = messageOf(create(), [{ choices: [], x_groq: { usage } }, STOP]);

  assertEquals(message.usage.totalTokens, 5);
});

Deno.test("OpenAiChatAdapter believes a chunk's usage before that of its choice", () => {
  const choice = { index: 0, delta: {}, finish_reason: "stop", usage: { total_tokens: 1 } };
  const message = messageOf(create(), [
    { choices: [], usage: { total_tokens: 5 } },
    { choices: [choice] },
  ]);

  assertEquals(message.usage.totalTokens, 5);
});

Deno.test("OpenAiChatAdapter keeps nothing for the next turn that nests too deep to be written", () => {
  const deep = JSON.parse('{"a":'.repeat(5_000) + "1" + "}".repeat(5_000));
  const message = messageOf(create(), [chunk({ content: "Hi", annotations: [deep] }), STOP]);

  assertEquals(message.stopReason, "stop");
  assertEquals(message.providerReplay, undefined);
});
