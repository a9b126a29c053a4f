import { assert, assertEquals } from "@std/assert";
import type { StreamEvent } from "../../mod.ts";
import type { Adapter } from "../../src/adapters/_adapter.ts";
import { createGeminiAdapter } from "../../src/adapters/gemini.ts";
import { bytesOf, outcomeOf, type WireCase } from "./_bodies.ts";
import { testCases } from "./_case_suite.ts";
import { eventsOf, messageOf } from "./_payloads.ts";

/** An adapter whose messages are the same each time. */
function create(): Adapter {
  let made = 0;
  return createGeminiAdapter({ now: () => 0, createId: () => `made_up${++made}` });
}

const CASES = testCases({
  name: "GeminiAdapter",
  wire: "gemini",
  create,
  count: 7,
  cutToWhole: ["gm-leading-stop"],
});

// The wire has said STOP, and has no other end than that of the body.
Deno.test("GeminiAdapter keeps what came when a body that stops in its first chunk is cut", () => {
  const body = bytesOf(CASES.find(({ id }) => id === "gm-leading-stop") as WireCase);
  const texts = new Set<unknown>();

  for (let at = 0; at < body.length; at++) {
    const { content } = outcomeOf(create(), [body.subarray(0, at)]).message;
    texts.add(content.map((block) => block.type === "text" ? block.text : block).join());
  }

  assertEquals([...texts], ["", "Blue", "Blue kite"]);
});

Deno.test("GeminiAdapter keeps the signature that comes with an empty text", () => {
  const wireCase = CASES.find(({ id }) => id === "gm-signature-tail") as WireCase;
  const { message } = outcomeOf(create(), [bytesOf(wireCase)]);

  assertEquals(message.content, [
    { type: "thinking", thinking: "plan" },
    { type: "text", text: "Blue kite" },
  ]);
  assertEquals(message.providerReplay, {
    api: "gemini-generate-content",
    data: {
      content: {
        role: "model",
        parts: [
          { text: "plan", thought: true },
          { text: "Blue kite" },
          { text: "", thoughtSignature: "c2ln" },
        ],
      },
    },
  });
});

Deno.test("GeminiAdapter says that a body is JSON and not server-sent events", () => {
  const wireCase = CASES.find(({ id }) => id === "gm-json-array") as WireCase;
  const { message } = outcomeOf(create(), [bytesOf(wireCase)]);

  assert(message.stopReason === "error");
  assertEquals(message.errorCode, "malformed_frame");
  assertEquals(message.errorMessage, "Expected server-sent events, received JSON");
});

Deno.test("GeminiAdapter finds the error in a JSON array", () => {
  const body = JSON.stringify([
    { candidates: [{ content: { parts: [{ text: "Hi" }] } }] },
    { error: { code: 503, message: "The model is overloaded", status: "UNAVAILABLE" } },
  ]);
  const { message } = outcomeOf(create(), [new TextEncoder().encode(body)]);

  assert(message.stopReason === "error");
  assertEquals([message.errorCode, message.errorMessage, message.errorDetails], [
    "provider_error",
    "The model is overloaded",
    { providerErrorType: "UNAVAILABLE", status: 503 },
  ]);
});

/** A chunk of the first candidate. */
function chunk(parts: unknown, finishReason?: unknown, more: object = {}): unknown {
  return {
    candidates: [{
      ...(parts !== undefined && { content: { role: "model", parts } }),
      ...(finishReason !== undefined && { finishReason }),
      ...more,
    }],
    modelVersion: "m",
  };
}

const text = (text: unknown, more: object = {}) => ({ text, ...more });
const thought = (text: string, more: object = {}) => ({ text, thought: true, ...more });
const call = (args: unknown, more: object = {}) => ({ functionCall: { name: "f", args, ...more } });
/** A piece of a call whose arguments are streamed; more follows, unless it says otherwise. */
const piece = (partialArgs: unknown, more: object = {}) => ({
  functionCall: { partialArgs, willContinue: true, ...more },
});
const BEGIN = { functionCall: { name: "f", willContinue: true } };
const END = { functionCall: {} };
/** Gives the calls these ids. */
const withId =
  (ids: readonly unknown[]) => ({ functionCall }: ReturnType<typeof call>, at: number) => ({
    functionCall: { ...functionCall, id: ids[at] },
  });
const STOP = chunk([], "STOP");
const LIMIT = chunk([], "MAX_TOKENS");

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
  "is healthy": [[chunk([text("H")]), chunk([text("i")], "STOP")], "stop", "Hi"],
  "has parts of two kinds in one chunk": [
    [chunk([thought("Hm"), thought("."), text("H"), text("i")]), STOP],
    "stop",
    { thinking: "Hm." },
    "Hi",
  ],
  "thinks between texts": [
    [chunk([text("One")]), chunk([thought("hm")]), chunk([text("Two")]), STOP],
    "stop",
    "One",
    { thinking: "hm" },
    "Two",
  ],
  "has a text on each side of a call": [
    [chunk([text("One"), call({ x: 1 }), text("Two")], "STOP")],
    "tool_use",
    "One",
    { f: { x: 1 }, id: "made_up1" },
    "Two",
  ],
  "has an id for a call": [
    [chunk([call({ x: 1 }, { id: "a" })]), STOP],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "has empty ids for calls": [
    [chunk([call({ x: 1 }), call({ x: 2 }), call({})].map(withId(["", "", null]))), STOP],
    "tool_use",
    { f: { x: 1 }, id: "made_up1" },
    { f: { x: 2 }, id: "made_up2" },
    { f: {}, id: "made_up3" },
  ],
  "says a call twice": [
    [chunk([call({ x: 1 }, { id: "a" })]), chunk([call({ x: 1 }, { id: "a" })], "STOP")],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "gives two calls one id": [
    [chunk([call({ x: 1 }, { id: "a" })]), chunk([call({ x: 2 }, { id: "a" })], "STOP")],
    "ambiguous_tool_call",
    { f: { x: 1 }, id: "a" },
  ],
  "gives two calls without arguments one id, and different names": [
    [
      chunk([{ functionCall: { id: "a", name: "f" } }, { functionCall: { id: "a", name: "g" } }]),
      STOP,
    ],
    "ambiguous_tool_call",
  ],
  "has no arguments": [
    [chunk([{ functionCall: { name: "f" } }]), STOP],
    "tool_use",
    { f: {}, id: "made_up1" },
  ],
  "has null arguments": [[chunk([call(null)]), STOP], "tool_use", { f: {}, id: "made_up1" }],
  "has empty arguments": [[chunk([call({})]), STOP], "tool_use", { f: {}, id: "made_up1" }],
  "has arguments in a string": [[chunk([call('{"x":1}')]), STOP], "invalid_tool_arguments"],
  "has arguments in an array": [[chunk([call([])]), STOP], "invalid_tool_arguments"],
  "has no name": [
    [chunk([{ functionCall: { args: {} } }]), STOP],
    "ambiguous_tool_call",
  ],
  "has neither name nor arguments": [
    [chunk([{ functionCall: {} }], "MAX_TOKENS")],
    "ambiguous_tool_call",
  ],
  "streams the arguments of a call": [
    [
      chunk([BEGIN]),
      chunk([piece([{ jsonPath: "$.city", stringValue: "Os", willContinue: true }])]),
      chunk([piece([{ jsonPath: "$.city", stringValue: "lo" }])]),
      chunk([piece([{ jsonPath: "$.days", numberValue: 3 }])]),
      chunk([END]),
      STOP,
    ],
    "tool_use",
    { f: { city: "Oslo", days: 3 }, id: "made_up1" },
  ],
  "says with the last piece of a call that it is the last": [
    [
      chunk([{ functionCall: { id: "a", name: "f", willContinue: true } }]),
      chunk([piece([{ jsonPath: "$.x", numberValue: 1 }], { id: "a", willContinue: false })]),
      chunk([piece([{ jsonPath: "$.x", numberValue: 2 }], { name: "g", willContinue: undefined })]),
      STOP,
    ],
    "tool_use",
    { f: { x: 1 }, id: "a" },
    { g: { x: 2 }, id: "made_up1" },
  ],
  "says twice that a streamed call has ended": [
    [chunk([BEGIN, piece([{ jsonPath: "$.x", numberValue: 1 }]), END, END, text("Hi")]), STOP],
    "tool_use",
    { f: { x: 1 }, id: "made_up1" },
    "Hi",
  ],
  "streams a call without arguments": [
    [chunk([BEGIN, END]), STOP],
    "tool_use",
    { f: {}, id: "made_up1" },
  ],
  "streams a call that never ends": [
    [chunk([text("Hi"), BEGIN, piece([{ jsonPath: "$.x", numberValue: 1 }])]), STOP],
    "wire_order",
    "Hi",
  ],
  "streams a call that the limit cuts": [
    [chunk([text("Hi"), BEGIN, piece([{ jsonPath: "$.x", stringValue: "a" }])], "MAX_TOKENS")],
    "output_limit",
    "Hi",
  ],
  "streams a call that the limit cuts, after a call without arguments": [
    [chunk([{ functionCall: { name: "g" } }, BEGIN], "MAX_TOKENS")],
    "output_limit",
    { g: {}, id: "made_up1" },
  ],
  "streams a call when the body ends": [
    [chunk([text("Hi"), BEGIN, piece([{ jsonPath: "$.x", stringValue: "a" }])])],
    "truncated",
    "Hi",
  ],
  "begins another call while one is streamed": [
    [chunk([BEGIN, { functionCall: { name: "g", args: { x: 1 } } }, END]), STOP],
    "invalid_tool_arguments",
  ],
  "streams two calls at once": [
    [chunk([BEGIN, { functionCall: { name: "g", willContinue: true } }, END]), STOP],
    "ambiguous_tool_call",
  ],
  "streams two calls of a tool at once": [
    [
      chunk([
        { functionCall: { id: "a", name: "f", willContinue: true } },
        { functionCall: { id: "b", name: "f", willContinue: true } },
        END,
      ]),
      STOP,
    ],
    "ambiguous_tool_call",
  ],
  "streams arguments that it sends whole, too": [
    [chunk([BEGIN, { functionCall: { args: { x: 1 } } }]), STOP],
    "invalid_tool_arguments",
  ],
  "streams arguments of no call": [
    [chunk([text("Hi"), piece([{ jsonPath: "$.x", numberValue: 1 }])]), STOP],
    "ambiguous_tool_call",
    "Hi",
  ],
  "streams arguments that are no list": [
    [chunk([text("Hi"), BEGIN, piece("x")]), STOP],
    "malformed_frame",
    "Hi",
  ],
  "streams arguments that nest too deep": [
    [
      chunk([BEGIN, piece([{ jsonPath: `$${".a".repeat(1_001)}`, numberValue: 1 }]), END]),
      STOP,
    ],
    "limit_exceeded",
  ],
  "nests arguments too deep": [
    [chunk([call(JSON.parse('{"a":'.repeat(1_001) + "1" + "}".repeat(1_001)))]), STOP],
    "limit_exceeded",
  ],
  "stops at the limit": [[chunk([text("Hi")]), LIMIT], "length", "Hi"],
  "stops at the limit after a whole call": [
    [chunk([call({ x: 1 })], "MAX_TOKENS")],
    "length",
    { f: { x: 1 }, id: "made_up1" },
  ],
  "stops at the limit before the arguments of a call": [
    [chunk([text("Hi"), { functionCall: { name: "f" } }], "MAX_TOKENS")],
    "output_limit",
    "Hi",
  ],
  "stops at the limit in the text after a call without arguments": [
    [chunk([{ functionCall: { name: "f" } }, text("Hi")], "MAX_TOKENS")],
    "length",
    { f: {}, id: "made_up1" },
    "Hi",
  ],
  "stops at the limit after two calls without arguments": [
    [chunk([{ functionCall: { name: "f" } }, { functionCall: { name: "g" } }], "MAX_TOKENS")],
    "output_limit",
    { f: {}, id: "made_up1" },
  ],
  "stops, then at the limit": [[chunk([text("Hi")], "STOP"), LIMIT], "length", "Hi"],
  "stops at the limit, and then stops": [[chunk([text("Hi")]), LIMIT, STOP], "length", "Hi"],
  "stops, and then is filtered": [
    [chunk([text("Hi")]), STOP, chunk([], "SAFETY")],
    "content_filter",
    "Hi",
  ],
  "is filtered, and then stops": [
    [chunk([text("Hi")]), chunk([], "SAFETY"), STOP],
    "content_filter",
    "Hi",
  ],
  "stops in small letters": [[chunk([text("Hi")], "stop")], "stop", "Hi"],
  "says in each chunk that it has not stopped": [
    [
      chunk([text("H")], "FINISH_REASON_UNSPECIFIED"),
      chunk([text("i")], ""),
      chunk([], null),
      chunk([], "STOP"),
    ],
    "stop",
    "Hi",
  ],
  "never says why it stopped": [
    [chunk([text("Hi")], "FINISH_REASON_UNSPECIFIED")],
    "truncated",
    "Hi",
  ],
  "has a whole call and never says why it stopped": [
    [chunk([call({ x: 1 })])],
    "truncated",
    { f: { x: 1 }, id: "made_up1" },
  ],
  "has a call without arguments and never says why it stopped": [
    [chunk([{ functionCall: { name: "f" } }])],
    "truncated",
  ],
  "ends with [DONE]": [[chunk([text("Hi")], "STOP"), "[DONE]"], "stop", "Hi"],
  "ends by [DONE] without a reason": [[chunk([text("Hi")]), "[DONE]"], "truncated", "Hi"],
  "stops with nothing": [[STOP], "stop"],
  "has nothing at all": [[], "truncated"],
  "has other candidates": [
    [{
      candidates: [
        { index: 1, content: { parts: [text("Ho")] }, finishReason: "SAFETY" },
        { index: 0, content: { parts: [text("Hi")] }, finishReason: "STOP" },
      ],
    }],
    "stop",
    "Hi",
  ],
  "has other candidates without a number": [
    [{
      candidates: [
        { content: { parts: [text("Hi")] }, finishReason: "STOP" },
        { content: { parts: [text("Ho")] }, finishReason: "SAFETY" },
      ],
    }],
    "stop",
    "Hi",
  ],
  "has a first candidate without a number behind another": [
    [{
      candidates: [
        { index: 1, content: { parts: [text("Ho")] } },
        { content: { parts: [text("Hi")] }, finishReason: "STOP" },
      ],
    }],
    "stop",
    "Hi",
  ],
  "has its chunks in arrays": [
    [[chunk([text("H")]), chunk([text("i")])], [STOP]],
    "stop",
    "Hi",
  ],
  "has something else in an array": [[[chunk([text("Hi")]), [STOP]]], "malformed_frame"],
  "has null for whatever it does not say": [
    [
      { candidates: null, promptFeedback: null, usageMetadata: null, error: null },
      { candidates: [], promptFeedback: {}, usageMetadata: {}, error: "" },
      { candidates: [{ content: null, groundingMetadata: null }] },
      { candidates: [{ content: { parts: null } }] },
      chunk([{}, { text: null }, { text: "", thought: true }, { thoughtSignature: "" }]),
      chunk([{ functionCall: null, text: "Hi", thought: null, thoughtSignature: null }]),
      STOP,
    ],
    "stop",
    "Hi",
  ],
  "has text and a call in one part": [
    [chunk([{ text: "Hi", functionCall: { name: "f", args: {} }, thoughtSignature: "s" }]), STOP],
    "tool_use",
    "Hi",
    { f: {}, id: "made_up1" },
  ],
};

for (const [name, [payloads, ...expected]] of Object.entries(VERDICTS)) {
  Deno.test(`GeminiAdapter gives its verdict when the response ${name}`, () => {
    assertEquals(verdictOf(payloads), expected);
  });
}

const FINISHES: Readonly<Record<string, readonly [code: string, message: string]>> = {
  SAFETY: ["content_filter", 'A content filter stopped the response: finishReason "SAFETY"'],
  RECITATION: [
    "content_filter",
    'A content filter stopped the response: finishReason "RECITATION"',
  ],
  BLOCKLIST: ["content_filter", 'A content filter stopped the response: finishReason "BLOCKLIST"'],
  PROHIBITED_CONTENT: [
    "content_filter",
    'A content filter stopped the response: finishReason "PROHIBITED_CONTENT"',
  ],
  SPII: ["content_filter", 'A content filter stopped the response: finishReason "SPII"'],
  LANGUAGE: ["content_filter", 'A content filter stopped the response: finishReason "LANGUAGE"'],
  IMAGE_SAFETY: [
    "content_filter",
    'A content filter stopped the response: finishReason "IMAGE_SAFETY"',
  ],
  MALFORMED_FUNCTION_CALL: [
    "invalid_tool_arguments",
    'The model wrote a function call that cannot be read: finishReason "MALFORMED_FUNCTION_CALL"',
  ],
  UNEXPECTED_TOOL_CALL: [
    "provider_error",
    'The provider broke off: finishReason "UNEXPECTED_TOOL_CALL"',
  ],
  MISSING_THOUGHT_SIGNATURE: [
    "provider_error",
    'The provider broke off: finishReason "MISSING_THOUGHT_SIGNATURE"',
  ],
  OTHER: ["provider_error", 'The provider broke off: finishReason "OTHER"'],
  CONTINUATION: ["paused", 'The response was paused: finishReason "CONTINUATION"'],
  BRAND_NEW: ["unknown_stop_reason", 'Expected a known finishReason, received "BRAND_NEW"'],
};

for (const [word, [code, errorMessage]] of Object.entries(FINISHES)) {
  Deno.test(`GeminiAdapter ends in an error when the finishReason is ${word}`, () => {
    const plain = messageOf(create(), [chunk([text("Hi")], word)]);
    const told = messageOf(create(), [
      chunk([text("Hi")], word, { finishMessage: "So it is." }),
      STOP,
    ]);

    for (const [message, why] of [[plain, ""], [told, ": So it is."]] as const) {
      assert(message.stopReason === "error");
      assertEquals(message.errorCode, code);
      assertEquals(message.errorMessage, errorMessage + why);
      assertEquals(message.errorDetails, { providerErrorType: word });
      assertEquals(message.content, [{ type: "text", text: "Hi" }]);
    }
  });
}

Deno.test("GeminiAdapter ends in an error when the prompt was blocked", () => {
  const usageMetadata = { promptTokenCount: 7, totalTokenCount: 7 };
  const blocked = messageOf(create(), [
    { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata, modelVersion: "m" },
  ]);
  const told = messageOf(create(), [
    { promptFeedback: { blockReason: "JAILBREAK", blockReasonMessage: "No." } },
  ]);
  const open = messageOf(create(), [
    { promptFeedback: { blockReason: "BLOCKED_REASON_UNSPECIFIED", safetyRatings: [] } },
    chunk([text("Hi")], "STOP"),
  ]);

  assert(blocked.stopReason === "error" && told.stopReason === "error");
  assertEquals([blocked.errorCode, blocked.errorMessage, blocked.errorDetails], [
    "content_filter",
    'The prompt was blocked: blockReason "PROHIBITED_CONTENT"',
    { providerErrorType: "PROHIBITED_CONTENT" },
  ]);
  assertEquals([blocked.model, blocked.usage.input], ["m", 7]);
  assertEquals(told.errorMessage, 'The prompt was blocked: blockReason "JAILBREAK": No.');
  assertEquals(open.stopReason, "stop");
});

const ERRORS: Readonly<Record<string, readonly [unknown, string, unknown]>> = {
  "nested": [
    { error: { code: 503, message: "The model is overloaded", status: "UNAVAILABLE" } },
    "The model is overloaded",
    { providerErrorType: "UNAVAILABLE", status: 503 },
  ],
  "nested, with when to come again": [
    {
      error: {
        code: 429,
        message: "Quota exceeded",
        status: "RESOURCE_EXHAUSTED",
        details: [
          null,
          { "@type": "type.googleapis.com/google.rpc.ErrorInfo", retryDelay: "1s" },
          { "@type": "type.googleapis.com/google.rpc.RetryInfo" },
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34s" },
        ],
      },
    },
    "Quota exceeded",
    { providerErrorType: "RESOURCE_EXHAUSTED", status: 429, retryAfter: 34_000 },
  ],
  "nested, with a time that is none": [
    {
      error: {
        message: "Quota exceeded",
        details: [{ "@type": "google.rpc.RetryInfo", retryDelay: "soon" }],
      },
    },
    "Quota exceeded",
    undefined,
  ],
  "a text": [{ error: "Out of memory" }, "Out of memory", undefined],
  "beside a candidate": [
    { candidates: [{ content: { parts: [text("Ho")] } }], error: { message: "Gone" } },
    "Gone",
    undefined,
  ],
};

for (const [name, [payload, errorMessage, errorDetails]] of Object.entries(ERRORS)) {
  Deno.test(`GeminiAdapter keeps an error that is ${name}`, () => {
    const message = messageOf(create(), [chunk([text("Hi")]), payload, STOP]);

    assertEquals(message.content, [{ type: "text", text: "Hi" }]);
    assert(message.stopReason === "error");
    assertEquals(message.errorCode, "provider_error");
    assertEquals(message.errorMessage, errorMessage);
    assertEquals(message.errorDetails, errorDetails);
  });
}

const USAGES: Readonly<Record<string, readonly [readonly unknown[], readonly number[]]>> = {
  "a plain response": [
    [{ promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 }],
    [100, 20, 0, 120],
  ],
  "a response that thought": [
    [{
      promptTokenCount: 100,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      totalTokenCount: 150,
    }],
    [100, 50, 0, 150],
  ],
  "a response with a cache": [
    [{
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 20,
      totalTokenCount: 120,
    }],
    [40, 20, 60, 120],
  ],
  "a response whose tools answered": [
    [{
      promptTokenCount: 100,
      candidatesTokenCount: 20,
      toolUsePromptTokenCount: 50,
      totalTokenCount: 170,
    }],
    [150, 20, 0, 170],
  ],
  "a response without a total": [
    [{ promptTokenCount: 100, cachedContentTokenCount: 60, candidatesTokenCount: 20 }],
    [40, 20, 60, 120],
  ],
  "chunks that each say a part": [
    [
      { promptTokenCount: 100, cachedContentTokenCount: 60, totalTokenCount: 100 },
      { candidatesTokenCount: 5, thoughtsTokenCount: 7 },
      { candidatesTokenCount: 20 },
    ],
    [40, 27, 60, 127],
  ],
  "nobody, with nonsense": [
    [{ promptTokenCount: "many", candidatesTokenCount: -1, totalTokenCount: null }],
    [0, 0, 0, 0],
  ],
};

for (const [name, [usages, expected]] of Object.entries(USAGES)) {
  Deno.test(`GeminiAdapter reads the usage of ${name}`, () => {
    const chunks = usages.map((usageMetadata) => ({ usageMetadata }));
    const message = messageOf(create(), [...chunks, STOP]);

    const { input, output, cacheRead, totalTokens } = message.usage;
    assertEquals([input, output, cacheRead, totalTokens], expected);
  });
}

/** What pieces of arguments make; nothing where they are refused. */
const PIECES: Readonly<Record<string, readonly [readonly unknown[], unknown?]>> = {
  "values of every kind": [
    [
      { jsonPath: "$.text", stringValue: "" },
      { jsonPath: "$.number", numberValue: -1.5 },
      { jsonPath: "$.yes", boolValue: true },
      { jsonPath: "$.no", boolValue: false },
      { jsonPath: "$.nothing", nullValue: "NULL_VALUE" },
      { jsonPath: "$.nil", nullValue: null },
    ],
    { text: "", number: -1.5, yes: true, no: false, nothing: null, nil: null },
  ],
  "values in lists and objects": [
    [
      { jsonPath: "$.list[0].name", stringValue: "a" },
      { jsonPath: "$.list[0].size", numberValue: 1 },
      { jsonPath: "$.list[1].name", stringValue: "b" },
      { jsonPath: "$.grid[0][0]", numberValue: 1 },
      { jsonPath: "$.grid[0][1]", numberValue: 2 },
    ],
    { list: [{ name: "a", size: 1 }, { name: "b" }], grid: [[1, 2]] },
  ],
  "texts that go on by turns": [
    [
      { jsonPath: "$.a", stringValue: "1" },
      { jsonPath: "$.b[0]", stringValue: "2" },
      { jsonPath: "$.a", stringValue: "3" },
      { jsonPath: "$.b[0]", stringValue: "4" },
    ],
    { a: "13", b: ["24"] },
  ],
  "names between quotes": [
    [
      { jsonPath: "$['a.b']", numberValue: 1 },
      { jsonPath: '$["c[0]"].d', numberValue: 2 },
      { jsonPath: "$['it\\'s \\\\ \\u00e9\\n']", numberValue: 3 },
      { jsonPath: "$['']", numberValue: 4 },
      { jsonPath: "$.héé-llo", numberValue: 5 },
    ],
    { "a.b": 1, "c[0]": { d: 2 }, "it's \\ é\n": 3, "": 4, "héé-llo": 5 },
  ],
  "names that every object has": [
    [
      { jsonPath: "$.toString.length", numberValue: 1 },
      { jsonPath: "$.__proto__.x", numberValue: 2 },
    ],
    JSON.parse('{"toString":{"length":1},"__proto__":{"x":2}}'),
  ],
  "a value that is said twice": [
    [{ jsonPath: "$.a", numberValue: 1 }, { jsonPath: "$.a", numberValue: 1 }],
    { a: 1 },
  ],
  "a piece that only says that more will come": [
    [{ jsonPath: "$.a", willContinue: true }, { jsonPath: "$.a", boolValue: true }],
    { a: true },
  ],
  "a piece after which no more comes": [[{ jsonPath: "$.a", willContinue: true }], {}],
  "another value at one place": [
    [{ jsonPath: "$.a", numberValue: 1 }, { jsonPath: "$.a", numberValue: 2 }],
  ],
  "a number after a text": [
    [{ jsonPath: "$.a", stringValue: "1" }, { jsonPath: "$.a", numberValue: 1 }],
  ],
  "a value within a text": [
    [{ jsonPath: "$.a", stringValue: "1" }, { jsonPath: "$.a.b", numberValue: 1 }],
  ],
  "a text in place of an object": [
    [{ jsonPath: "$.a.b", stringValue: "1" }, { jsonPath: "$.a", stringValue: "1" }],
  ],
  "a name in a list": [
    [{ jsonPath: "$.a[0]", numberValue: 1 }, { jsonPath: "$.a.b", numberValue: 1 }],
  ],
  "a position in an object": [
    [{ jsonPath: "$.a.b", numberValue: 1 }, { jsonPath: "$.a[0]", numberValue: 1 }],
  ],
  "a list instead of the arguments": [[{ jsonPath: "$[0]", numberValue: 1 }]],
  "a hole in a list": [[{ jsonPath: "$.a[1]", numberValue: 1 }]],
  "two values at once": [[{ jsonPath: "$.a", numberValue: 1, stringValue: "1" }]],
  "a number that is none": [[{ jsonPath: "$.a", numberValue: "NaN" }]],
  "a text that is none": [[{ jsonPath: "$.a", stringValue: 1 }]],
  "no path": [[{ stringValue: "1" }]],
  "a path to everything": [[{ jsonPath: "$", stringValue: "1" }]],
  "a path without a root": [[{ jsonPath: "a.b", stringValue: "1" }]],
  "a path to many values": [[{ jsonPath: "$.a[*]", stringValue: "1" }]],
  "a path that goes anywhere": [[{ jsonPath: "$..a", stringValue: "1" }]],
  "a path that breaks off": [[{ jsonPath: "$.a['b", stringValue: "1" }]],
  "a piece that is no object": [["$.a"]],
};

for (const [name, [pieces, expected]] of Object.entries(PIECES)) {
  Deno.test(`GeminiAdapter ${expected ? "puts together" : "refuses"} ${name}`, () => {
    const message = messageOf(create(), [chunk([BEGIN, piece(pieces), END]), STOP]);

    if (expected) {
      assertEquals(message.content, [
        { type: "tool_call", id: "made_up1", name: "f", arguments: expected as never },
      ]);
    } else {
      assertEquals(
        message.stopReason === "error" && message.errorCode,
        "invalid_tool_arguments",
      );
      assertEquals(message.content, []);
    }
  });
}

Deno.test("GeminiAdapter says what is wrong with a piece of arguments, and never what is in it", () => {
  const wrong: readonly (readonly [readonly unknown[], string])[] = [
    [
      [{ jsonPath: "$.a[7]", numberValue: 1 }],
      "Expected item 0 of a list of arguments, received item 7",
    ],
    [[{ jsonPath: "$..a", numberValue: 1 }], 'Expected a path to a value, received "$..a"'],
    [
      [{ jsonPath: "$.a", stringValue: "secret" }, { jsonPath: "$.a", numberValue: 1 }],
      'Expected one value as the argument "$.a", received another',
    ],
  ];
  for (const [pieces, errorMessage] of wrong) {
    const message = messageOf(create(), [chunk([BEGIN, piece(pieces), END]), STOP]);

    assertEquals(message.stopReason === "error" && message.errorMessage, errorMessage);
  }
});

Deno.test("GeminiAdapter counts the text of streamed arguments", () => {
  const message = messageOf(createGeminiAdapter({ limits: { messageLength: 10 } }), [
    chunk([BEGIN, piece([{ jsonPath: "$.a", stringValue: "01234567890" }]), END]),
    STOP,
  ]);

  assertEquals(message.stopReason === "error" && message.errorCode, "limit_exceeded");
});

Deno.test("GeminiAdapter counts the names and places of streamed arguments", () => {
  const pieces = [
    [{ jsonPath: `$.${"a".repeat(200)}`, numberValue: 1 }],
    [{ jsonPath: `$${".a".repeat(50)}`, boolValue: true }],
    Array.from({ length: 50 }, (_, i) => ({ jsonPath: `$.list[${i}]`, numberValue: i })),
  ];
  for (const partialArgs of pieces) {
    const message = messageOf(createGeminiAdapter({ limits: { messageLength: 100 } }), [
      chunk([BEGIN, piece(partialArgs), END]),
      STOP,
    ]);
    assertEquals(message.errorCode, "limit_exceeded");
  }
  const again = messageOf(createGeminiAdapter({ limits: { messageLength: 150 } }), [
    chunk([BEGIN]),
    ...Array.from(
      { length: 100 },
      () => chunk([piece([{ jsonPath: "$.name", stringValue: "a" }])]),
    ),
    chunk([END]),
    STOP,
  ]);
  assertEquals(again.stopReason, "tool_use");
});

Deno.test("GeminiAdapter counts the arguments of a whole call", () => {
  for (const [messageLength, ends] of [[100, "limit_exceeded"], [200, undefined]] as const) {
    const message = messageOf(createGeminiAdapter({ limits: { messageLength } }), [
      chunk([call({ x: "a".repeat(100) })]),
      STOP,
    ]);
    assertEquals(message.errorCode, ends);
  }
});

Deno.test("GeminiAdapter keeps a streamed call whole for the next turn", () => {
  const chunks = [
    chunk([{ ...BEGIN, thoughtSignature: "1" }]),
    chunk([piece([{ jsonPath: "$.x", numberValue: 1 }])]),
  ];

  assertEquals(partsOf([...chunks, chunk([END]), STOP]), [
    { functionCall: { name: "f", args: { x: 1 } }, thoughtSignature: "1" },
  ]);
  assertEquals(partsOf([...chunks, STOP]), []);
});

/** The parts that the next turn must send back. */
function partsOf(payloads: readonly unknown[]): unknown {
  const { providerReplay } = messageOf(create(), payloads);
  return (providerReplay?.data as { content?: { parts: unknown } } | undefined)?.content?.parts;
}

Deno.test("GeminiAdapter keeps signed parts apart for the next turn", () => {
  assertEquals(
    partsOf([
      chunk([thought("a"), thought("b"), thought("c", { thoughtSignature: "1" }), thought("d")]),
      chunk([text("e"), text("f")]),
      chunk([text("g", { thoughtSignature: "2" })]),
      chunk([text("h")]),
      chunk([{ ...call({ x: 1 }, { id: "a" }), thoughtSignature: "3" }, call({ x: 2 })]),
      chunk([{ thoughtSignature: "4" }], "STOP"),
    ]),
    [
      { text: "ab", thought: true },
      { text: "c", thought: true, thoughtSignature: "1" },
      { text: "d", thought: true },
      { text: "ef" },
      { text: "g", thoughtSignature: "2" },
      { text: "h" },
      { ...call({ x: 1 }, { id: "a" }), thoughtSignature: "3" },
      call({ x: 2 }),
      { thoughtSignature: "4" },
    ],
  );
});

Deno.test("GeminiAdapter keeps a text in many signed parts without copying it for each", () => {
  const count = 3_000;
  const piece = "a".repeat(200);
  const begin = performance.now();

  const parts = partsOf([
    ...Array.from({ length: count }, () => chunk([text(piece, { thoughtSignature: "1" })])),
    STOP,
  ]);

  assertEquals(
    parts,
    Array.from({ length: count }, () => ({ text: piece, thoughtSignature: "1" })),
  );
  assert(performance.now() - begin < 3_000);
});

Deno.test("GeminiAdapter keeps for the next turn what the events cannot express", () => {
  const parts = [
    { executableCode: { language: "PYTHON", code: "print(1)" }, thoughtSignature: "1" },
    { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } },
    { inlineData: { mimeType: "image/png", data: "aGk=" } },
    { fileData: { fileUri: "files/1" } },
    { toolCall: { toolType: "GOOGLE_SEARCH", id: "t" } },
    { text: "Drawn", speechMetadata: { style: "loud" } },
    { functionCall: { name: "f", args: {}, later: true } },
  ];

  assertEquals(partsOf([chunk([text("One")]), chunk(parts), chunk([text("Two")], "STOP")]), [
    { text: "One" },
    ...parts,
    { text: "Two" },
  ]);
  assertEquals(verdictOf([chunk([text("One"), parts[0], text("Two")], "STOP")]), [
    "stop",
    "One",
    "Two",
  ]);
  // Each is enough by itself.
  for (const part of parts) assertEquals(partsOf([chunk([part], "STOP")]), [part]);
});

Deno.test("GeminiAdapter gives a call what a part says of it when there is text in it, too", () => {
  const part = { ...call({ x: 1 }), thoughtSignature: "1" };

  assertEquals(partsOf([chunk([text("H"), { text: "i", ...part }]), STOP]), [{ text: "Hi" }, part]);
  assertEquals(partsOf([chunk([thought("H", part)]), STOP]), [
    thought("H"),
    { thought: true, ...part },
  ]);
});

Deno.test("GeminiAdapter keeps what a candidate has beside its content", () => {
  const message = messageOf(create(), [
    chunk([text("Hi")], undefined, { groundingMetadata: { webSearchQueries: ["a"] } }),
    chunk([], undefined, { groundingMetadata: {}, urlContextMetadata: { urlMetadata: [1] } }),
    chunk([], "STOP", { groundingMetadata: { groundingChunks: [{}] }, citationMetadata: { a: 1 } }),
  ]);

  assertEquals(message.providerReplay, {
    api: "gemini-generate-content",
    data: {
      groundingMetadata: [{ webSearchQueries: ["a"] }, { groundingChunks: [{}] }],
      urlContextMetadata: [{ urlMetadata: [1] }],
      citationMetadata: [{ a: 1 }],
    },
  });
});

Deno.test("GeminiAdapter keeps how to go on with a response that was paused", () => {
  const message = messageOf(create(), [
    chunk([text("Hi")], "CONTINUATION", { continuationToken: "dG9r" }),
  ]);

  assertEquals(message.providerReplay?.data, { continuationToken: "dG9r" });
});

Deno.test("GeminiAdapter keeps nothing for the next turn when there is nothing", () => {
  const parts = [thought("Hm"), text("Hi", { inlineData: null }), call({ x: 1 })];
  const message = messageOf(create(), [chunk(parts), STOP]);

  assertEquals("providerReplay" in message, false);
});

Deno.test("GeminiAdapter leaves a call that may be half out of what it keeps", () => {
  const half = { functionCall: { name: "f" }, thoughtSignature: "1" };

  assertEquals(partsOf([chunk([text("Hi"), half])]), [{ text: "Hi" }]);
  assertEquals(partsOf([chunk([text("Hi"), half, text("!")])]), [
    { text: "Hi" },
    half,
    { text: "!" },
  ]);
});

Deno.test("GeminiAdapter counts and bounds what it keeps for the next turn", () => {
  const options = { limits: { messageLength: 200 } };
  const long = messageOf(createGeminiAdapter(options), [
    chunk([text("Hi"), { inlineData: { data: "a".repeat(200) } }]),
    STOP,
  ]);
  const deep = messageOf(create(), [
    chunk([
      text("Hi"),
      { toolCall: JSON.parse('{"a":'.repeat(5_000) + "1" + "}".repeat(5_000)) },
    ]),
    STOP,
  ]);

  for (const message of [long, deep]) {
    assertEquals(message.stopReason === "error" && message.errorCode, "limit_exceeded");
    assertEquals(message.content, [{ type: "text", text: "Hi" }]);
  }
});

Deno.test("GeminiAdapter ends a text when another block begins", () => {
  const events: StreamEvent[] = [];
  const emit = (event: StreamEvent) => events.push(event);
  const adapter = create();

  adapter.push(chunk([thought("So")]), emit);
  adapter.push(chunk([text("Hi")]), emit);
  adapter.push(chunk([call({ x: 1 })]), emit);

  assertEquals(events.map(({ type }) => type), [
    "start",
    "thinking_start",
    "thinking_delta",
    "thinking_end",
    "text_start",
    "text_delta",
    "text_end",
    "tool_call_start",
    "tool_call_end",
  ]);
});

Deno.test("GeminiAdapter ends with the [DONE] of a gateway, and with nothing else but the body", () => {
  const events: StreamEvent[] = [];
  const adapter = create();

  adapter.push(STOP, (event) => events.push(event));
  assertEquals(adapter.isFinished, false);
  adapter.push("[DONE]", (event) => events.push(event));

  assertEquals(adapter.isFinished, true);
  assertEquals(events.at(-1)?.type, "done");
});

Deno.test("GeminiAdapter emits no delta for arguments that come whole", () => {
  const events = eventsOf(create(), [chunk([call({ x: 1 })]), STOP]);

  assertEquals(
    events.map(({ type }) => type),
    ["start", "tool_call_start", "tool_call_end", "done"],
  );
});

Deno.test("GeminiAdapter labels the message with what the wire says, or the options", () => {
  const options = { provider: "vertex", model: "fallback", now: () => 5 };
  const named = messageOf(createGeminiAdapter(options), [STOP, { modelVersion: "other" }]);
  const unnamed = messageOf(createGeminiAdapter(options), [
    { candidates: [{ content: { parts: [text("Hi")] }, finishReason: "STOP" }] },
  ]);
  const plain = messageOf(createGeminiAdapter(), [STOP]);

  assertEquals([named.provider, named.model, named.timestamp], ["vertex", "m", 5]);
  assertEquals(unnamed.model, "fallback");
  assertEquals(plain.provider, "google");
});

const MALFORMED: readonly unknown[] = [
  null,
  "text",
  [],
  { candidates: {} },
  { candidates: [1] },
  { candidates: [{ content: "Hi" }] },
  chunk({}),
  chunk([null]),
  chunk(["Hi"]),
  chunk([text(1)]),
  chunk([text({})]),
  chunk([text("Hi", { thought: "yes" })]),
  chunk([text("Hi", { thoughtSignature: 1 })]),
  chunk([{ functionCall: "f" }]),
  chunk([{ functionCall: [] }]),
  chunk([{ functionCall: { name: 1, args: {} } }]),
  chunk([{ functionCall: { name: "f", id: {}, args: {} } }]),
  chunk([], 1),
  { promptFeedback: { blockReason: {} } },
];

for (const payload of MALFORMED) {
  Deno.test(`GeminiAdapter refuses the frame ${JSON.stringify(payload)}`, () => {
    const verdict = verdictOf([chunk([text("Hi")]), payload, STOP]);

    assertEquals(verdict, ["malformed_frame", "Hi"]);
  });
}
