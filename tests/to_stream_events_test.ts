import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { runInNewContext } from "node:vm";
import {
  type AssistantContent,
  type AssistantMessage,
  createStreamEventValidator,
  type JsonObject,
  type StreamEvent,
  StreamSequenceError,
  toStreamEvents,
} from "../mod.ts";
import {
  arbitraryFailure,
  arbitraryLegalStream,
  arbitrarySuccess,
  arbitraryText,
} from "./_arbitraries.ts";
import { USAGE } from "./_usage.ts";

const TOOL_CALL: AssistantContent = {
  type: "tool_call",
  id: "call_1",
  name: "lookup",
  arguments: { city: "Oslo" },
};

function messageOf(...content: unknown[]): AssistantMessage {
  return arbitrarySuccess(content as AssistantContent[], "stop");
}

function callWith(args: unknown): AssistantMessage {
  return messageOf({ ...TOOL_CALL, arguments: args });
}

function deltasOf(events: Iterable<StreamEvent>): string[] {
  return [...events].flatMap((event) =>
    "delta" in event ? [event.delta] : "argumentsDelta" in event ? [event.argumentsDelta] : []
  );
}

function assertAccepted(events: Iterable<StreamEvent>): void {
  const validator = createStreamEventValidator();
  for (const event of events) validator.accept(event);
  validator.end();
}

/** Arguments that nest so many levels deep. */
function nested(levels: number): JsonObject {
  let args: JsonObject = {};
  for (let i = 1; i < levels; i++) args = { a: args };
  return args;
}

Deno.test("toStreamEvents gives the events of a finished message", () => {
  const message = arbitrarySuccess(
    [{ type: "thinking", thinking: "plan" }, { type: "text", text: "Hello" }, TOOL_CALL],
    "tool_use",
  );
  const events = toStreamEvents(message, { deltaLength: 4 });
  assertEquals(events, [
    { type: "start" },
    { type: "thinking_start", contentIndex: 0 },
    { type: "thinking_delta", contentIndex: 0, delta: "plan" },
    { type: "thinking_end", contentIndex: 0, content: "plan" },
    { type: "text_start", contentIndex: 1 },
    { type: "text_delta", contentIndex: 1, delta: "Hell" },
    { type: "text_delta", contentIndex: 1, delta: "o" },
    { type: "text_end", contentIndex: 1, content: "Hello" },
    { type: "tool_call_start", contentIndex: 2, id: "call_1", name: "lookup" },
    { type: "tool_call_delta", contentIndex: 2, argumentsDelta: '{"ci' },
    { type: "tool_call_delta", contentIndex: 2, argumentsDelta: 'ty":' },
    { type: "tool_call_delta", contentIndex: 2, argumentsDelta: '"Osl' },
    { type: "tool_call_delta", contentIndex: 2, argumentsDelta: 'o"}' },
    { type: "tool_call_end", contentIndex: 2, toolCall: TOOL_CALL },
    { type: "done", reason: "tool_use", message },
  ]);
  assertStrictEquals((events.at(-1) as { readonly message: unknown }).message, message);
});

Deno.test("toStreamEvents closes every block before the error of a failed message", () => {
  for (const reason of ["error", "aborted"] as const) {
    const message = arbitraryFailure([TOOL_CALL, { type: "text", text: "Hel" }], reason);
    const events = toStreamEvents(message);
    assertEquals(events.slice(-2), [
      { type: "text_end", contentIndex: 1, content: "Hel" },
      { type: "error", reason, message },
    ]);
    assertAccepted(events);
  }
});

Deno.test("toStreamEvents gives no delta when a text is empty, and `{}` for empty arguments", () => {
  const message = messageOf(
    { type: "text", text: "" },
    { type: "thinking", thinking: "" },
    { ...TOOL_CALL, arguments: {} },
  );
  assertEquals(toStreamEvents(message).map((event) => event.type), [
    "start",
    "text_start",
    "text_end",
    "thinking_start",
    "thinking_end",
    "tool_call_start",
    "tool_call_delta",
    "tool_call_end",
    "done",
  ]);
  assertEquals(deltasOf(toStreamEvents(message)), ["{}"]);
  assertEquals(toStreamEvents(messageOf()).map((event) => event.type), ["start", "done"]);
});

Deno.test("toStreamEvents cuts no surrogate pair", () => {
  const cases: ReadonlyArray<readonly [string, number | undefined, string[]]> = [
    ["𝄞𝄞", 1, ["𝄞", "𝄞"]],
    ["a𝄞b", 1, ["a", "𝄞", "b"]],
    ["a𝄞b", 2, ["a", "𝄞", "b"]],
    ["a𝄞b", 3, ["a𝄞", "b"]],
    ["𝄞𝄞", 3, ["𝄞", "𝄞"]],
    ["𝄞𝄞", 4, ["𝄞𝄞"]],
    // Lone surrogates are not pairs.
    ["\ud834\ud834", 1, ["\ud834", "\ud834"]],
    ["\udd1e\ud834", 1, ["\udd1e", "\ud834"]],
    ["\ud834a", 1, ["\ud834", "a"]],
    ["abc", Infinity, ["abc"]],
    ["abc", Number.MAX_VALUE, ["abc"]],
    ["x".repeat(33), undefined, ["x".repeat(33)]],
  ];
  for (const [text, deltaLength, deltas] of cases) {
    const message = messageOf({ type: "text", text });
    const options = deltaLength === undefined ? {} : { deltaLength };
    assertEquals(deltasOf(toStreamEvents(message, options)), deltas, `${text} by ${deltaLength}`);
  }
});

Deno.test("toStreamEvents has copied the blocks when the message is changed after the call", () => {
  const args = { list: [1, 2] };
  const block = { type: "text", text: "Hello" };
  const message = messageOf(block, { ...TOOL_CALL, arguments: args });
  const events = toStreamEvents(message, { deltaLength: Infinity });
  block.text = "Bye";
  args.list.push(3);
  assertEquals(deltasOf(events), ["Hello", '{"list":[1,2]}']);
  const end = [...events].find((event) => event.type === "tool_call_end");
  assertEquals(end?.toolCall.arguments, { list: [1, 2] });
});

Deno.test("toStreamEvents carries extra fields of the message", () => {
  const message = { ...messageOf(), providerReplay: { api: "x", data: 1 }, extra: true };
  const done = toStreamEvents(message).at(-1) as { readonly message: unknown };
  assertStrictEquals(done.message, message);
});

Deno.test("toStreamEvents takes all arguments that are JSON", () => {
  const shared = { x: "y" };
  const args: unknown[] = [
    JSON.parse('{"__proto__":{"a":1},"constructor":2}'),
    { zero: -0, list: [null, true, [], {}], "": "\ud800\u2028" },
    Object.assign(Object.create(null), { a: 1 }),
    runInNewContext("({ a: [{ b: 1 }] })"),
    { from: shared, to: shared },
    nested(1_000),
  ];
  for (const value of args) {
    const events = toStreamEvents(callWith(value), { deltaLength: 3 });
    assertAccepted(events);
    assertEquals(JSON.parse(deltasOf(events).join("")), JSON.parse(JSON.stringify(value)));
  }
});

Deno.test("toStreamEvents takes a message past the default limits of a validator", () => {
  const messages = [
    messageOf(...Array.from({ length: 10_001 }, () => ({ type: "text", text: "" }))),
    messageOf({ type: "text", text: "x".repeat(67_108_865) }),
  ];
  for (const message of messages) {
    const events = toStreamEvents(message, { deltaLength: Infinity });
    const validator = createStreamEventValidator({
      limits: { contentBlocks: Infinity, messageLength: Infinity },
    });
    for (const event of events) validator.accept(event);
    assertEquals(validator.phase, "terminal");
    assertThrows(() => assertAccepted(events), StreamSequenceError);
  }
});

Deno.test("toStreamEvents throws when deltaLength cannot be", () => {
  for (const deltaLength of [0, -1, 1.5, NaN, -Infinity]) {
    const error = assertThrows(() => toStreamEvents(messageOf(), { deltaLength }), RangeError);
    assertEquals(
      error.message,
      `Expected deltaLength to be a whole number from 1 on or Infinity, received ${deltaLength}`,
    );
  }
  const cases: ReadonlyArray<readonly [unknown, string]> = [
    ["4", "a string"],
    [null, "null"],
    [4n, "a bigint"],
  ];
  for (const [deltaLength, received] of cases) {
    const error = assertThrows(
      () => toStreamEvents(messageOf(), { deltaLength: deltaLength as number }),
      TypeError,
    );
    assertEquals(
      error.message,
      `Expected deltaLength to be a number, received ${received}`,
    );
  }
});

Deno.test("toStreamEvents throws at the call when the message cannot be streamed", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  // Written out, this would take 2^900 characters.
  let endless: JsonObject = {};
  for (let i = 0; i < 900; i++) endless = { a: endless, b: endless };
  const wide = { text: "x".repeat(2 ** 20) };
  const text = { type: "text", text: "" };
  const cases: ReadonlyArray<readonly [unknown, string]> = [
    [undefined, "Expected a message with a content array, received content undefined"],
    [null, "Expected a message with a content array, received content undefined"],
    ["Hi", "Expected a message with a content array, received content undefined"],
    [{}, "Expected a message with a content array, received content undefined"],
    [{ content: {} }, "Expected a message with a content array, received content an object"],
    [
      { content: [] },
      'Expected message.stopReason to be one of "stop", "length", "tool_use", "error", ' +
      '"aborted", received undefined',
    ],
    [
      { content: [], stopReason: "toString" },
      'Expected message.stopReason to be one of "stop", "length", "tool_use", "error", ' +
      '"aborted", received "toString"',
    ],
    [{ ...messageOf(), usage: undefined }, "Expected a message with usage"],
    [{ ...messageOf(), role: "user" }, 'Expected a message with role "assistant"'],
    [{ ...messageOf(), stopReason: "error" }, "Expected a message with a string errorMessage"],
    [messageOf(null), "Expected content[0] to be a text, thinking or tool_call block"],
    [messageOf(text, "Hi"), "Expected content[1] to be a text, thinking or tool_call block"],
    [messageOf(new Date(0)), "Expected content[0] to be a text, thinking or tool_call block"],
    [
      arbitrarySuccess(new Array(2 ** 32 - 1), "stop"),
      "Expected content[0] to be a text, thinking or tool_call block",
    ],
    [
      messageOf({ type: "image" }),
      "Expected content[0] to be a text, thinking or tool_call block",
    ],
    [
      messageOf({}),
      "Expected content[0] to be a text, thinking or tool_call block",
    ],
    [messageOf({ type: "text" }), "Expected content[0].text to be a string, received undefined"],
    [
      messageOf({ type: "thinking", thinking: 1 }),
      "Expected content[0].thinking to be a string, received a number",
    ],
    [
      messageOf({ ...TOOL_CALL, id: null }),
      "Expected content[0].id to be a string, received null",
    ],
    [
      messageOf({ ...TOOL_CALL, name: 1 }),
      "Expected content[0].name to be a string, received a number",
    ],
    [callWith(undefined), "Expected content[0].arguments to be a JSON object, received undefined"],
    [callWith([]), "Expected content[0].arguments to be a JSON object, received an array"],
    [callWith("{}"), "Expected content[0].arguments to be a JSON object, received a string"],
    [
      callWith(new Map()),
      "Expected content[0].arguments to be a JSON object, received a class instance",
    ],
    ...[undefined, NaN, Infinity, 1n, Symbol(), () => 0, new Date(0), new Array(1)].map((
      value,
    ): readonly [unknown, string] => [
      callWith({ list: [0, value] }),
      "Expected content[0].arguments to be a JSON object, received one with a value that is not " +
      `JSON at content[0].arguments.list[1]${Array.isArray(value) ? "[0]" : ""}`,
    ]),
    [
      callWith({ toJSON: () => ({}) }),
      "Expected content[0].arguments to be a JSON object, received one with a value that is not " +
      "JSON at content[0].arguments.toJSON",
    ],
    [
      callWith(cyclic),
      "Expected content[0].arguments to be at most 1000 levels deep and not to contain itself",
    ],
    [
      callWith(nested(1_001)),
      "Expected content[0].arguments to be at most 1000 levels deep and not to contain itself",
    ],
    [
      callWith(nested(200_000)),
      "Expected content[0].arguments to be at most 1000 levels deep and not to contain itself",
    ],
    [
      callWith(endless),
      "Expected content[0].arguments to take at most 67108864 UTF-16 code units as JSON text",
    ],
    [
      callWith({ list: new Array(64).fill(wide) }),
      "Expected content[0].arguments to take at most 67108864 UTF-16 code units as JSON text",
    ],
  ];
  for (const [message, expected] of cases) {
    const error = assertThrows(() => toStreamEvents(message as AssistantMessage), TypeError);
    assertEquals(error.message, expected);
  }
});

Deno.test("toStreamEvents throws with the validator's words when a rule would be broken", () => {
  const cases: ReadonlyArray<readonly [AssistantMessage, string, string]> = [
    [
      messageOf({ type: "text", text: "", extra: 1 }),
      "message_mismatch",
      "message content as streamed, received a difference in content[0].extra",
    ],
    [
      messageOf({ ...TOOL_CALL, id: "" }),
      "malformed_event",
      "id to be a non-empty string, received an empty string",
    ],
    [
      messageOf({ ...TOOL_CALL, name: "" }),
      "malformed_event",
      "name to be a non-empty string, received an empty string",
    ],
    [
      messageOf(TOOL_CALL, TOOL_CALL),
      "duplicate_tool_id",
      'a new tool id, received "call_1"',
    ],
  ];
  for (const [message, code, words] of cases) {
    const error = assertThrows(() => toStreamEvents(message), TypeError);
    assertEquals(error.message, `Expected a message that can be streamed: expected ${words}`);
    assert(StreamSequenceError.is(error.cause));
    assertEquals(error.cause.code, code);
  }
});

Deno.test("toStreamEvents lets what reading a message throws through", () => {
  const cause = new Error("Unreadable");
  const message = {
    get content() {
      throw cause;
    },
  };
  assertStrictEquals(
    assertThrows(() => toStreamEvents(message as unknown as AssistantMessage)),
    cause,
  );
});

Deno.test("toStreamEvents gives what a validator accepts, whatever the message and the size", () => {
  fc.assert(
    fc.property(
      arbitraryLegalStream(),
      fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant(Infinity)),
      (events, deltaLength) => {
        const { message } = events.at(-1) as { readonly message: AssistantMessage };
        const replayed = toStreamEvents(message, { deltaLength });
        const validator = createStreamEventValidator();
        for (const event of replayed) validator.accept(event);
        assertEquals(validator.phase, "terminal");
        const terminal = replayed.at(-1) as { readonly message: unknown; readonly type: string };
        assertStrictEquals(terminal.message, message);
        assertEquals(terminal.type, events.at(-1)?.type);
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("toStreamEvents cuts every text into deltas that spell it, as long as they may be", () => {
  fc.assert(
    fc.property(arbitraryText(), fc.integer({ min: 1, max: 9 }), (text, deltaLength) => {
      const deltas = deltasOf(toStreamEvents(messageOf({ type: "text", text }), { deltaLength }));
      assertEquals(deltas.join(""), text);
      for (const [i, delta] of deltas.entries()) {
        assert(delta !== "");
        assert(delta.length <= Math.max(deltaLength, 2));
        const next = deltas[i + 1];
        if (next === undefined) continue;
        assert(!/^[\ud800-\udbff][\udc00-\udfff]$/.test(delta.slice(-1) + next.charAt(0)));
        assert(delta.length >= deltaLength - 1);
        // Only a pair makes a delta shorter or longer than it was asked for.
        if (delta.length < deltaLength) assert(/^[\ud800-\udbff][\udc00-\udfff]/.test(next));
        if (delta.length > deltaLength) assert(/^[\ud800-\udbff][\udc00-\udfff]$/.test(delta));
      }
    }),
    { numRuns: 1_000 },
  );
});

const MESSAGE: AssistantMessage = {
  role: "assistant",
  content: [
    { type: "thinking", thinking: "" },
    { type: "text", text: "a😀b" },
    { type: "tool_call", id: "call_1", name: "lookup", arguments: { city: "Łódź 😀" } },
  ],
  provider: "demo",
  model: "demo-1",
  usage: USAGE,
  timestamp: 0,
  stopReason: "tool_use",
};

const FAILED: AssistantMessage = { ...MESSAGE, stopReason: "aborted", errorMessage: "Stopped" };

Deno.test("toStreamEvents makes a legal stream whatever the length of its deltas", () => {
  for (const message of [MESSAGE, FAILED]) {
    for (const deltaLength of [1, 2, 3, 7, 100, Infinity]) {
      const validator = createStreamEventValidator();
      const events = toStreamEvents(message, { deltaLength });
      for (const event of events) validator.accept(event);
      validator.end();
      const last = events.at(-1);
      assertStrictEquals(last && "message" in last ? last.message : undefined, message);
      assertEquals(validator.partialContent(), [...message.content]);
    }
  }
});

Deno.test("toStreamEvents keeps surrogate pairs whole and makes no empty delta", () => {
  const deltas = toStreamEvents(MESSAGE, { deltaLength: 1 })
    .flatMap((event) => event.type === "text_delta" ? [event.delta] : []);
  assertEquals(deltas, ["a", "😀", "b"]);
  const thinking = toStreamEvents(MESSAGE).filter((event) => event.type === "thinking_delta");
  assertEquals(thinking, []);
});
