import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { runInNewContext } from "node:vm";
import {
  createStreamEventValidator,
  type StreamEvent,
  type StreamEventLimits,
  type StreamEventValidator,
  StreamSequenceError,
} from "../mod.ts";

// What the vectors cannot hold: values that JSON cannot express and that do not stand still, sizes
// that belong in no file, and what is not a verdict.

const START = { type: "start" };
const CALL_START = { type: "tool_call_start", contentIndex: 0, id: "call_1", name: "search" };

function callEnd(args: unknown): unknown {
  return {
    type: "tool_call_end",
    contentIndex: 0,
    toolCall: { type: "tool_call", id: "call_1", name: "search", arguments: args },
  };
}

function callDelta(argumentsDelta: string): unknown {
  return { type: "tool_call_delta", contentIndex: 0, argumentsDelta };
}

function done(content: unknown): unknown {
  return {
    type: "done",
    reason: "stop",
    message: { role: "assistant", content, stopReason: "stop" },
  };
}

function doneWithArguments(args: unknown): unknown {
  return done([{ type: "tool_call", id: "call_1", name: "search", arguments: args }]);
}

/** A validator that has accepted some events. */
function after(events: readonly unknown[], limits: StreamEventLimits = {}): StreamEventValidator {
  const validator = createStreamEventValidator({ limits });
  for (const event of events) validator.accept(event as StreamEvent);
  return validator;
}

/** The code of the rule that an event breaks, "accept" if it breaks none. */
function verdictOf(validator: StreamEventValidator, event: unknown): string {
  try {
    validator.accept(event as StreamEvent);
    return "accept";
  } catch (error) {
    assert(error instanceof StreamSequenceError, `not a StreamSequenceError: ${error}`);
    return error.code;
  }
}

/** Nested from the inside, so that building it does not overflow the stack. */
function nested(levels: number, wrap: (inner: unknown) => unknown, core: unknown): unknown {
  let value = core;
  for (let level = 0; level < levels; level++) value = wrap(value);
  return value;
}

function nestedText(levels: number): string {
  return '{"a":'.repeat(levels) + "1" + "}".repeat(levels);
}

const inObject = (inner: unknown) => ({ a: inner });
const inArray = (inner: unknown) => [inner];
const twice = (inner: unknown) => ({ a: inner, b: inner });

class Point {
  x = 1;
}

function revokedProxy(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function cycleThrough(levels: number): unknown {
  const root: Record<string, unknown> = {};
  root.a = nested(levels, inObject, root);
  return root;
}

const ODD_ARGUMENTS: readonly (readonly [name: string, args: unknown, code: string])[] = [
  ["a million levels of objects", nested(1e6, inObject, 1), "limit_exceeded"],
  ["a million levels of arrays", { a: nested(1e6, inArray, 1) }, "limit_exceeded"],
  ["a cycle of a thousand objects", cycleThrough(1000), "limit_exceeded"],
  ["1,000 levels, arrays and objects in turn", nested(500, (v) => ({ a: [v] }), 1), "accept"],
  ["1,001 levels", { a: nested(1000, inArray, 1) }, "limit_exceeded"],
  ["2^100 leaves out of 100 objects", nested(100, twice, {}), "accept"],
  ["2^2000 leaves out of 2,000 objects", nested(2000, twice, {}), "limit_exceeded"],
  ["a symbol's description only", { [Symbol("a")]: () => {} }, "accept"],
  ["a boxed number", { a: Object(1) }, "arguments_not_object"],
  ["a RegExp", { a: /a/ }, "arguments_not_object"],
  ["an Error", { a: new Error("a") }, "arguments_not_object"],
  ["a Promise", { a: Promise.resolve() }, "arguments_not_object"],
  ["a class instance", new Point(), "arguments_not_object"],
  ["an object that inherits from another", Object.create({ a: 1 }), "arguments_not_object"],
  ["a typed array", { a: new Float64Array([1]) }, "arguments_not_object"],
  ["a Date of another realm", { a: runInNewContext("new Date(0)") }, "arguments_not_object"],
  ["a Map of another realm", { a: runInNewContext("new Map()") }, "arguments_not_object"],
  [
    "a class instance of another realm",
    runInNewContext("new (class { a = 1 })()"),
    "arguments_not_object",
  ],
  ["a hole of another realm", { a: runInNewContext("[1, , 2]") }, "arguments_not_object"],
  ["a plain object of another realm", runInNewContext("({ a: [{}] })"), "accept"],
  ["a null object of another realm", runInNewContext("Object.create(null)"), "accept"],
];

for (const [name, args, code] of ODD_ARGUMENTS) {
  Deno.test(`StreamEventValidator judges ${name} as arguments when there were no deltas`, () => {
    assertEquals(verdictOf(after([START, CALL_START]), callEnd(args)), code);
  });

  Deno.test(`StreamEventValidator judges ${name} as arguments when deltas spell others`, () => {
    const expected = code === "limit_exceeded" ? code : "arguments_mismatch";

    const validator = after([START, CALL_START, callDelta('{"no":"such arguments"}')]);

    assertEquals(verdictOf(validator, callEnd(args)), expected);
  });

  Deno.test(`StreamEventValidator judges ${name} in a message when it was not streamed`, () => {
    const validator = after([START, CALL_START, callEnd({ no: "such arguments" })]);

    assertEquals(verdictOf(validator, doneWithArguments(args)), "message_mismatch");
    assertEquals(verdictOf(after([START]), done([args])), "message_mismatch");
    assertEquals(validator.phase, "streaming");
  });
}

Deno.test("StreamEventValidator takes 200,000 levels when no limit is set", () => {
  const limits = { argumentsDepth: Infinity };
  const levels = 200_000;

  const plain = after([START, CALL_START, callEnd(nested(levels, inObject, 1))], limits);
  const streamed = after([START, CALL_START, callDelta(nestedText(levels))], limits);

  assertEquals(
    verdictOf(plain, doneWithArguments(nested(levels, inObject, 2))),
    "message_mismatch",
  );
  assertEquals(verdictOf(plain, doneWithArguments(nested(levels, inObject, 1))), "accept");
  assertEquals(verdictOf(streamed, callEnd(nested(levels, inObject, 2))), "arguments_mismatch");
  assertEquals(verdictOf(streamed, callEnd(nested(levels, inObject, 1))), "accept");
});

Deno.test("StreamEventValidator compares shared objects in no time when they differ deep down", () => {
  const validator = after([START, CALL_START, callEnd(nested(100, twice, { leaf: 1 }))]);

  assertEquals(
    verdictOf(validator, doneWithArguments(nested(100, twice, { leaf: 2 }))),
    "message_mismatch",
  );
  assertEquals(verdictOf(validator, doneWithArguments(nested(100, twice, { leaf: 1 }))), "accept");
});

Deno.test("StreamEventValidator has no more than 10,000 blocks when no limit is set", () => {
  const validator = after([START]);
  for (let contentIndex = 0; contentIndex < 10_000; contentIndex++) {
    validator.accept({ type: "text_start", contentIndex });
    validator.accept({ type: "text_end", contentIndex, content: "" });
  }

  const next = { type: "text_start", contentIndex: 10_000 };

  assertEquals(verdictOf(validator, next), "limit_exceeded");
  assertEquals(validator.partialContent().length, 10_000);
});

Deno.test("StreamEventValidator has no more than 67,108,864 code units when no limit is set", () => {
  const validator = after([START, { type: "text_start", contentIndex: 0 }]);
  const delta = "x".repeat(2 ** 20);
  for (let count = 0; count < 64; count++) {
    validator.accept({ type: "text_delta", contentIndex: 0, delta });
  }

  const next = { type: "text_delta", contentIndex: 0, delta: "x" };

  assertEquals(verdictOf(validator, next), "limit_exceeded");
  validator.accept({ type: "text_end", contentIndex: 0, content: delta.repeat(64) });
});

const UNREADABLE: readonly (readonly [name: string, event: unknown])[] = [
  ["a revoked proxy", revokedProxy()],
  ["a proxy that throws", throwingProxy({})],
  ["an event with a getter that throws", throwingGetter({ type: "start" }, "type")],
];

function throwingProxy(target: object): unknown {
  const fail = (): never => {
    throw new TypeError("not for you");
  };
  return new Proxy(target, { get: fail, ownKeys: fail, getPrototypeOf: fail, has: fail });
}

function throwingGetter(target: object, key: string): unknown {
  return Object.defineProperty({ ...target }, key, {
    enumerable: true,
    get: () => {
      throw null;
    },
  });
}

for (const [name, event] of UNREADABLE) {
  Deno.test(`StreamEventValidator calls ${name} malformed when it is the event`, () => {
    assertEquals(verdictOf(after([]), event), "malformed_event");
    assertEquals(verdictOf(after([START]), event), "malformed_event");
  });

  Deno.test(`StreamEventValidator refuses ${name} when it is in arguments or a message`, () => {
    const validator = after([START, CALL_START]);

    // Which rule is broken by what cannot be read is not laid down; that it is one is.
    assert(verdictOf(validator, callEnd(event)) !== "accept");
    assert(verdictOf(validator, callEnd({ a: [event] })) !== "accept");
    assert(
      verdictOf(validator, { type: "tool_call_end", contentIndex: 0, toolCall: event }) !==
        "accept",
    );
    assert(verdictOf(validator, { type: "error", reason: "error", message: event }) !== "accept");
    assertEquals(validator.partialContent(), []);
    validator.accept(callEnd({}) as StreamEvent);
    assert(verdictOf(validator, done(event)) !== "accept");
    assert(verdictOf(validator, done([event])) !== "accept");
    assert(verdictOf(validator, doneWithArguments({ a: event })) !== "accept");
    validator.accept(doneWithArguments({}) as StreamEvent);
  });
}

Deno.test("StreamEventValidator keeps a copy when arguments change after they were accepted", () => {
  const args = { list: [{ a: 1 }], own: { b: "c" } };
  const validator = after([START, CALL_START, callEnd(args)]);

  args.list[0]!.a = 2;
  args.list.push({ a: 3 });
  args.own.b = "d";

  assertEquals(verdictOf(validator, doneWithArguments(args)), "message_mismatch");
  const streamed = { list: [{ a: 1 }], own: { b: "c" } };
  assertEquals(verdictOf(validator, doneWithArguments(streamed)), "accept");
});

Deno.test("StreamEventValidator keeps a copy when the content that it gave out changes", () => {
  const validator = after([START, CALL_START, callEnd({ list: [1] })]);

  const [block] = validator.partialContent();
  assert(block?.type === "tool_call");
  (block.arguments.list as number[]).push(2);

  assertEquals(verdictOf(validator, doneWithArguments({ list: [1] })), "accept");
});

Deno.test("StreamEventValidator has a state of its own when there are two", () => {
  const first = after([START, CALL_START]);
  const second = after([START]);

  assertEquals(verdictOf(second, { type: "text_start", contentIndex: 0 }), "accept");
  assertEquals(verdictOf(first, callEnd({})), "accept");
  assertEquals(first.partialContent().map(({ type }) => type), ["tool_call"]);
  assertEquals(second.partialContent().map(({ type }) => type), ["text"]);
});

Deno.test("StreamEventValidator sees own keys only when Object.prototype has more", () => {
  const validator = after([START, CALL_START, callDelta('{"a":1}')]);
  Object.defineProperty(Object.prototype, "polluted", {
    configurable: true,
    enumerable: true,
    value: 1,
  });
  try {
    assertEquals(verdictOf(validator, callEnd({ polluted: 1 })), "arguments_mismatch");
    assertEquals(verdictOf(validator, callEnd({ a: 1, polluted: 1 })), "arguments_mismatch");
    assertEquals(verdictOf(validator, callEnd({ a: 1 })), "accept");
    assertEquals(verdictOf(validator, doneWithArguments({ a: 1 })), "accept");
  } finally {
    Reflect.deleteProperty(Object.prototype, "polluted");
  }
});

Deno.test("StreamEventValidator takes any key when Object.prototype cannot be overridden", () => {
  const toString = Object.getOwnPropertyDescriptor(Object.prototype, "toString");
  assert(toString);
  // As with frozen intrinsics: an assignment to an inherited key then throws.
  Object.defineProperty(Object.prototype, "toString", { ...toString, writable: false });
  try {
    const validator = after([START, CALL_START, callEnd({ toString: "a" })]);

    assertEquals(verdictOf(validator, doneWithArguments({ toString: "a" })), "accept");
  } finally {
    Object.defineProperty(Object.prototype, "toString", toString);
  }
});

Deno.test("StreamEventValidator gives the error what a debugger needs when content differs", () => {
  const text = `${"a".repeat(100)}Oslo${"b".repeat(100)}`;
  const validator = after([
    START,
    { type: "text_start", contentIndex: 0 },
    { type: "text_delta", contentIndex: 0, delta: text },
  ]);

  const error = assertThrows(
    () =>
      validator.accept({
        type: "text_end",
        contentIndex: 0,
        content: text.replace("Oslo", "Oxlo"),
      }),
    StreamSequenceError,
  );

  assertEquals(error.offset, 101);
  assertEquals(error.expected?.includes("Oslo"), true);
  assertEquals(error.received?.includes("Oxlo"), true);
  assert((error.expected?.length ?? 0) <= 40);
  assert((error.received?.length ?? 0) <= 40);
  assertEquals(error.partialContent, [{ type: "text", text }]);
});

Deno.test("StreamEventValidator ends as often as asked when the stream is whole or cut", () => {
  const whole = after([START, done([])]);
  const cut = after([START]);

  whole.end();
  whole.end();
  const first = assertThrows(() => cut.end(), StreamSequenceError);
  const second = assertThrows(() => cut.end(), StreamSequenceError);

  assertEquals(first.code, "truncated");
  assertEquals(first.eventIndex, 1);
  assertEquals(second.message, first.message);
  assertStrictEquals(first.eventType, undefined);
  // It may go on after all.
  assertEquals(verdictOf(cut, done([])), "accept");
  cut.end();
});
