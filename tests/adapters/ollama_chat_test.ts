import { assert, assertEquals } from "@std/assert";
import type { StreamEvent } from "../../mod.ts";
import type { Adapter } from "../../src/adapters/_adapter.ts";
import { createOllamaChatAdapter } from "../../src/adapters/ollama_chat.ts";
import { type Outcome, outcomeOf } from "./_bodies.ts";
import { testCases } from "./_case_suite.ts";
import { eventsOf, messageOf } from "./_payloads.ts";
import { readRecordings } from "./_recordings.ts";

/** An adapter whose messages are the same each time. */
function create(): Adapter {
  let made = 0;
  return createOllamaChatAdapter({ now: () => 0, createId: () => `made_up${++made}` });
}

/** What becomes of a body. */
function outcome(chunks: Iterable<Uint8Array>): Outcome {
  return outcomeOf(create(), chunks, "ndjson");
}

testCases({ name: "OllamaChatAdapter", wire: "ollama", create, count: 4, format: "ndjson" });

Deno.test("OllamaChatAdapter leaves think tags in the text", () => {
  const body = readRecordings("ollama").find(({ name }) => name === "think_tags")?.body;
  const { message } = outcome([body as Uint8Array]);

  assertEquals(message.content, [{ type: "text", text: "<think>\nHm.\n</think>\n\nYes." }]);
});

/** A line with a message. */
function line(message: unknown, more: object = {}): unknown {
  return { model: "m", message, done: false, ...more };
}

const content = (content: unknown) => line({ role: "assistant", content });
const thinking = (thinking: unknown) => line({ role: "assistant", content: "", thinking });
/** A line with tool calls. */
const calls = (...calls: readonly unknown[]) => line({ content: "", tool_calls: calls });
const call = (args: unknown, more: object = {}) => ({
  ...more,
  function: { name: "f", arguments: args },
});
const done = (reason?: unknown, more: object = {}) => ({
  model: "m",
  message: { role: "assistant", content: "" },
  done: true,
  ...(reason !== undefined && { done_reason: reason }),
  ...more,
});
const STOP = done("stop");

/** What an adapter makes of lines: the reason and the content, or what was wrong. */
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
  "is healthy": [[content("H"), content("i"), STOP], "stop", "Hi"],
  "is one line": [[done("stop", { message: { content: "Hi", thinking: "Hm" } })], "stop", {
    thinking: "Hm",
  }, "Hi"],
  "has everything in one message": [
    [line({ thinking: "Hm", content: "Hi", tool_calls: [call({ x: 1 })] }), STOP],
    "tool_use",
    { thinking: "Hm" },
    "Hi",
    { f: { x: 1 }, id: "made_up1" },
  ],
  "thinks between texts": [
    [content("One"), thinking("hm"), content("Two"), STOP],
    "stop",
    "One",
    { thinking: "hm" },
    "Two",
  ],
  "has a text on each side of a call": [
    [content("One"), calls(call({ x: 1 })), content("Two"), STOP],
    "tool_use",
    "One",
    { f: { x: 1 }, id: "made_up1" },
    "Two",
  ],
  "has a call in its last line": [
    [done("stop", { message: { content: "", tool_calls: [call({ x: 1 })] } })],
    "tool_use",
    { f: { x: 1 }, id: "made_up1" },
  ],
  "has ids for calls": [
    [calls(call({ x: 1 }, { id: "a" }), call({ x: 2 }, { id: "b" })), STOP],
    "tool_use",
    { f: { x: 1 }, id: "a" },
    { f: { x: 2 }, id: "b" },
  ],
  "has empty ids for calls": [
    [calls(call({ x: 1 }, { id: "" }), call({ x: 2 }, { id: "" }), call({}, { id: null })), STOP],
    "tool_use",
    { f: { x: 1 }, id: "made_up1" },
    { f: { x: 2 }, id: "made_up2" },
    { f: {}, id: "made_up3" },
  ],
  "calls twice the same, without ids": [
    [calls(call({ x: 1 })), calls(call({ x: 1 })), STOP],
    "tool_use",
    { f: { x: 1 }, id: "made_up1" },
    { f: { x: 1 }, id: "made_up2" },
  ],
  "says a call twice": [
    [calls(call({ x: 1 }, { id: "a" })), calls(call({ x: 1 }, { id: "a" })), STOP],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "gives two calls one id": [
    [calls(call({ x: 1 }, { id: "a" })), calls(call({ x: 2 }, { id: "a" })), STOP],
    "ambiguous_tool_call",
    { f: { x: 1 }, id: "a" },
  ],
  "has no arguments": [
    [calls({ function: { name: "f" } }), STOP],
    "tool_use",
    { f: {}, id: "made_up1" },
  ],
  "has null arguments": [[calls(call(null)), STOP], "tool_use", { f: {}, id: "made_up1" }],
  "has empty arguments": [[calls(call({})), STOP], "tool_use", { f: {}, id: "made_up1" }],
  "has arguments in a string": [[calls(call('{"x":1}')), STOP], "invalid_tool_arguments"],
  "has arguments in an empty string": [[calls(call("")), STOP], "invalid_tool_arguments"],
  "has arguments in an array": [[calls(call([])), STOP], "invalid_tool_arguments"],
  "has no name": [[calls({ function: { arguments: {} } }), STOP], "ambiguous_tool_call"],
  "nests arguments too deep": [
    [calls(call(JSON.parse('{"a":'.repeat(1_001) + "1" + "}".repeat(1_001)))), STOP],
    "limit_exceeded",
  ],
  "stops for a call": [
    [calls(call({ x: 1 })), done("tool_calls")],
    "tool_use",
    { f: { x: 1 }, id: "made_up1" },
  ],
  "stops for a call that is not there": [
    [content("Hi"), done("tool_calls")],
    "missing_tool_call",
    "Hi",
  ],
  "stops at the limit": [[content("Hi"), done("length")], "length", "Hi"],
  "stops at the limit after a whole call": [
    [calls(call({ x: 1 })), done("length")],
    "length",
    { f: { x: 1 }, id: "made_up1" },
  ],
  "stops at the limit before the arguments of a call": [
    [content("Hi"), calls(call(null)), done("length")],
    "output_limit",
    "Hi",
  ],
  "stops at the limit in the text after a call without arguments": [
    [calls(call(null)), content("Hi"), done("length")],
    "length",
    { f: {}, id: "made_up1" },
    "Hi",
  ],
  "stops at the limit after a call with neither name nor arguments": [
    [calls({ function: {} }), done("length")],
    "ambiguous_tool_call",
  ],
  "is of an old server, which gives no reason": [[content("Hi"), done()], "stop", "Hi"],
  "has an empty reason": [[content("Hi"), done("")], "stop", "Hi"],
  "has null as its reason": [[content("Hi"), done(null)], "stop", "Hi"],
  "gives a reason and not that it is done": [
    [content("Hi"), { done_reason: "length" }],
    "length",
    "Hi",
  ],
  "gives its reason before its end": [
    [line({ content: "H" }, { done_reason: "length" }), content("i"), done()],
    "length",
    "Hi",
  ],
  "gives a reason nobody knows": [[content("Hi"), done("brand_new")], "unknown_stop_reason", "Hi"],
  "only loads the model": [[done("load")], "unknown_stop_reason"],
  "only unloads the model": [[done("unload")], "unknown_stop_reason"],
  "is never done": [[content("Hi")], "truncated", "Hi"],
  "has a whole call and is never done": [
    [calls(call({ x: 1 }))],
    "truncated",
    { f: { x: 1 }, id: "made_up1" },
  ],
  "has a call without arguments and is never done": [[calls(call(null))], "truncated"],
  "has nothing at all": [[], "truncated"],
  "goes on after it is done": [[content("Hi"), STOP, content("!"), { error: "no" }], "stop", "Hi"],
  "ends with [DONE]": [[content("Hi"), STOP, "[DONE]"], "stop", "Hi"],
  "ends by [DONE] alone": [[content("Hi"), "[DONE]"], "truncated", "Hi"],
  "stops with nothing": [[STOP], "stop"],
  "is one of /api/generate": [
    [{ model: "m", response: "Hi", done: false }, { response: "", done: true }],
    "malformed_frame",
  ],
  "is an empty one of /api/generate": [
    [{ model: "m", response: "", done: true, done_reason: "stop" }],
    "malformed_frame",
  ],
  "has a response beside its message": [
    [line({ content: "Hi" }, { response: "Ho" }), STOP],
    "stop",
    "Hi",
  ],
  "has null for whatever it does not say": [
    [
      { model: null, message: null, done: null, done_reason: null, error: null },
      line({ role: null, content: null, thinking: null, tool_calls: null, images: null }),
      line({ content: "Hi", tool_calls: [], images: [] }, { error: "" }),
      line({}),
      {},
      STOP,
    ],
    "stop",
    "Hi",
  ],
};

for (const [name, [payloads, ...expected]] of Object.entries(VERDICTS)) {
  Deno.test(`OllamaChatAdapter gives its verdict when the response ${name}`, () => {
    assertEquals(verdictOf(payloads), expected);
  });
}

const REASONS: Readonly<Record<string, string>> = {
  load: 'Expected an answer, received done_reason "load": the request had no messages',
  brand_new: 'Expected a known done_reason, received "brand_new"',
};

for (const [word, errorMessage] of Object.entries(REASONS)) {
  Deno.test(`OllamaChatAdapter says what is wrong when the done_reason is ${word}`, () => {
    const message = messageOf(create(), [done(word)]);

    assert(message.stopReason === "error");
    assertEquals(message.errorMessage, errorMessage);
    assertEquals(message.errorDetails, { providerErrorType: word });
  });
}

const ERRORS: Readonly<Record<string, readonly [unknown, string, unknown]>> = {
  "a text": [{ error: "model runner: unexpected EOF" }, "model runner: unexpected EOF", undefined],
  "a text with a status": [{ error: "busy", status: 503 }, "busy", { status: 503 }],
  "nested": [
    { error: { message: "Slow down", type: "rate_limit", code: 429 } },
    "Slow down",
    { providerErrorType: "rate_limit", status: 429 },
  ],
  "in the last line": [done("stop", { error: "out of memory" }), "out of memory", undefined],
};

for (const [name, [payload, errorMessage, errorDetails]] of Object.entries(ERRORS)) {
  Deno.test(`OllamaChatAdapter keeps an error that is ${name}`, () => {
    const message = messageOf(create(), [content("Hi"), payload, STOP]);

    assertEquals(message.content, [{ type: "text", text: "Hi" }]);
    assert(message.stopReason === "error");
    assertEquals(message.errorCode, "provider_error");
    assertEquals(message.errorMessage, errorMessage);
    assertEquals(message.errorDetails, errorDetails);
  });
}

const USAGES: Readonly<Record<string, readonly [object, object, readonly number[]]>> = {
  "the API": [{}, { prompt_eval_count: 26, eval_count: 298 }, [26, 298, 324]],
  "a prompt that the cache had": [{}, { eval_count: 298 }, [0, 298, 298]],
  "lines that each say a part": [{ prompt_eval_count: 26 }, { eval_count: 298 }, [26, 298, 324]],
  "nobody, with nonsense": [{}, { prompt_eval_count: -1, eval_count: "many" }, [0, 0, 0]],
};

for (const [name, [first, last, expected]] of Object.entries(USAGES)) {
  Deno.test(`OllamaChatAdapter reads the usage of ${name}`, () => {
    const message = messageOf(create(), [line({ content: "Hi" }, first), done("stop", last)]);

    const { input, output, cacheRead, cacheWrite, totalTokens } = message.usage;
    assertEquals([input, output, totalTokens, cacheRead, cacheWrite], [...expected, 0, 0]);
  });
}

Deno.test("OllamaChatAdapter keeps images for the next turn", () => {
  const message = messageOf(create(), [
    line({ content: "Drawn", images: ["aGk="] }),
    line({ content: "", images: ["aG8=", "aHU="] }),
    STOP,
  ]);

  assertEquals(message.providerReplay, {
    api: "ollama-chat",
    data: { images: ["aGk=", "aG8=", "aHU="] },
  });
});

Deno.test("OllamaChatAdapter keeps nothing for the next turn when there is nothing", () => {
  const message = messageOf(create(), [thinking("Hm"), content("Hi"), calls(call({ x: 1 })), STOP]);

  assertEquals("providerReplay" in message, false);
});

Deno.test("OllamaChatAdapter counts the arguments of calls", () => {
  for (const [messageLength, ends] of [[100, "limit_exceeded"], [200, undefined]] as const) {
    const message = messageOf(createOllamaChatAdapter({ limits: { messageLength } }), [
      calls(call({ x: "a".repeat(50) }), call({ y: "b".repeat(50) })),
      STOP,
    ]);
    assertEquals(message.errorCode, ends);
  }
});

Deno.test("OllamaChatAdapter counts and bounds what it keeps for the next turn", () => {
  const long = messageOf(createOllamaChatAdapter({ limits: { messageLength: 200 } }), [
    line({ content: "Hi", images: ["a".repeat(200)] }),
    STOP,
  ]);
  const nested = JSON.parse('{"a":'.repeat(5_000) + "1" + "}".repeat(5_000));
  const deep = messageOf(create(), [line({ content: "Hi", images: [nested] }), STOP]);

  for (const message of [long, deep]) {
    assertEquals(message.stopReason === "error" && message.errorCode, "limit_exceeded");
    assertEquals(message.content, [{ type: "text", text: "Hi" }]);
  }
});

Deno.test("OllamaChatAdapter ends a text when another block begins", () => {
  const events: StreamEvent[] = [];
  const emit = (event: StreamEvent) => events.push(event);
  const adapter = create();

  adapter.push(thinking("So"), emit);
  adapter.push(content("Hi"), emit);
  adapter.push(calls(call({ x: 1 })), emit);

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

Deno.test("OllamaChatAdapter ends with the line that is done, whatever the body does", () => {
  const events: StreamEvent[] = [];
  const adapter = create();

  adapter.push(done("stop"), (event) => events.push(event));

  assertEquals(adapter.isFinished, true);
  assertEquals(events.at(-1)?.type, "done");
});

Deno.test("OllamaChatAdapter emits no delta for arguments that come whole", () => {
  const events = eventsOf(create(), [calls(call({ x: 1 })), STOP]);

  assertEquals(
    events.map(({ type }) => type),
    ["start", "tool_call_start", "tool_call_end", "done"],
  );
});

Deno.test("OllamaChatAdapter labels the message with what the wire says, or the options", () => {
  const options = { provider: "attic", model: "fallback", now: () => 5 };
  const named = messageOf(createOllamaChatAdapter(options), [
    content("Hi"),
    done("stop", { model: "other" }),
  ]);
  const unnamed = messageOf(createOllamaChatAdapter(options), [{ model: "", done: true }]);
  const plain = messageOf(createOllamaChatAdapter(), [STOP]);

  assertEquals([named.provider, named.model, named.timestamp], ["attic", "m", 5]);
  assertEquals(unnamed.model, "fallback");
  assertEquals(plain.provider, "ollama");
});

const MALFORMED: readonly unknown[] = [
  null,
  "text",
  [],
  line("Hi"),
  line([]),
  content(1),
  thinking({}),
  line({ content: "", tool_calls: {} }),
  line({ content: "", images: "aGk=" }),
  calls(null),
  calls({}),
  calls({ function: "f" }),
  calls({ function: { name: 1, arguments: {} } }),
  calls(call({}, { id: 1 })),
  line({}, { done: "true" }),
  line({}, { done_reason: 1 }),
];

for (const payload of MALFORMED) {
  Deno.test(`OllamaChatAdapter refuses the line ${JSON.stringify(payload)}`, () => {
    const verdict = verdictOf([content("Hi"), payload, STOP]);

    assertEquals(verdict, ["malformed_frame", "Hi"]);
  });
}
