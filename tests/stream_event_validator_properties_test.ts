import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { createStreamEventValidator, type StreamEvent, StreamSequenceError } from "../mod.ts";
import {
  arbitraryArguments,
  arbitraryJson,
  arbitraryLegalPrefix,
  arbitraryLegalStream,
} from "./_arbitraries.ts";
import { judge, judgeEach, type OracleVerdict, phaseAfter, safeContent } from "./_oracle.ts";

/** The verdict of the validator on a whole sequence: its first violation. */
function verdictOf(events: readonly unknown[]): OracleVerdict {
  const validator = createStreamEventValidator();
  try {
    for (const event of events) validator.accept(event as StreamEvent);
    validator.end();
    return "accept";
  } catch (error) {
    assert(error instanceof StreamSequenceError, `not a StreamSequenceError: ${error}`);
    return { code: error.code, eventIndex: error.eventIndex };
  }
}

/** The verdict on each event, the stream going on behind every rejection. */
function verdictsOn(events: readonly unknown[]): (string | undefined)[] {
  const validator = createStreamEventValidator();
  return events.map((event) => {
    const before = JSON.stringify([validator.phase, validator.partialContent()]);
    try {
      validator.accept(event as StreamEvent);
      return undefined;
    } catch (error) {
      assert(error instanceof StreamSequenceError, `not a StreamSequenceError: ${error}`);
      assertEquals(JSON.stringify([validator.phase, validator.partialContent()]), before);
      return error.code;
    }
  });
}

Deno.test("StreamEventValidator accepts every legal stream", () => {
  fc.assert(fc.property(arbitraryLegalStream(), (events) => {
    const validator = createStreamEventValidator();
    const history: unknown[] = [];
    for (const event of events) {
      validator.accept(event);
      history.push(event);
      assertEquals(validator.phase, phaseAfter(history));
      // As JSON, which does not tell 0 from -0 either.
      assertEquals(
        JSON.stringify(validator.partialContent()),
        JSON.stringify(safeContent(history)),
      );
    }
    validator.end();
    assertEquals(judge(events, {}, true), "accept");
  }));
});

Deno.test("StreamEventValidator gives the oracle's verdict when one event of a legal stream is dropped", () => {
  fc.assert(fc.property(arbitraryLegalStream(), (events) => {
    for (const at of events.keys()) {
      const damaged = events.toSpliced(at, 1);
      assertEquals(verdictOf(damaged), judge(damaged, {}, true));
      assertEquals(verdictsOn(damaged), judgeEach(damaged));
    }
  }));
});

Deno.test("StreamEventValidator gives the oracle's verdict when one event of a legal stream is doubled", () => {
  fc.assert(fc.property(arbitraryLegalStream(), (events) => {
    for (const [at, event] of events.entries()) {
      const damaged = events.toSpliced(at, 0, event);
      assertEquals(verdictOf(damaged), judge(damaged, {}, true));
      assertEquals(verdictsOn(damaged), judgeEach(damaged));
    }
  }));
});

Deno.test("StreamEventValidator gives the oracle's verdict when two events of a legal stream are swapped", () => {
  fc.assert(fc.property(arbitraryLegalStream(), fc.nat(), fc.nat(), (events, one, other) => {
    const damaged: unknown[] = [...events];
    const [a, b] = [one % events.length, other % events.length];
    [damaged[a], damaged[b]] = [damaged[b], damaged[a]];
    assertEquals(verdictOf(damaged), judge(damaged, {}, true));
    assertEquals(verdictsOn(damaged), judgeEach(damaged));
  }));
  fc.assert(fc.property(arbitraryLegalStream(), (events) => {
    for (let at = 1; at < events.length; at++) {
      const damaged = events.with(at - 1, events[at]!).with(at, events[at - 1]!);
      assertEquals(verdictOf(damaged), judge(damaged, {}, true));
    }
  }));
});

/** Ways to change one event: a value somewhere in it, or a key that comes or goes. */
const arbitraryChange = fc.record({
  at: fc.nat(),
  place: fc.nat(),
  how: fc.constantFrom("replace", "remove", "add", "shift"),
  value: fc.oneof(
    arbitraryJson(),
    fc.constantFrom<unknown>(
      undefined,
      NaN,
      Infinity,
      1n,
      new Date(0),
      new Map(),
      () => {},
      "text_start",
      "tool_call_end",
      "done",
      "error",
      "stop",
      "aborted",
      "a",
      "",
      0,
      1,
      2,
    ),
  ),
});

/** All places in a value: the containers and the keys in them. */
function placesIn(value: unknown): [container: Record<string, unknown>, key: string][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((key) => {
    const container = value as Record<string, unknown>;
    return [[container, key] as [Record<string, unknown>, string], ...placesIn(container[key])];
  });
}

function change(
  events: readonly StreamEvent[],
  { at, place, how, value }: { at: number; place: number; how: string; value: unknown },
): unknown[] {
  const changed: unknown[] = [...events];
  const index = at % changed.length;
  changed[index] = structuredClone(changed[index]);
  const places = placesIn(changed[index]);
  const [container, key] = places[place % places.length]!;
  const old = container[key];
  if (how === "remove") delete container[key];
  else if (how === "add" && !Array.isArray(container)) define(container, `${key}+`, value);
  else if (how === "shift" && typeof old === "number") define(container, key, old + 1);
  else if (how === "shift" && typeof old === "string") define(container, key, old.slice(1));
  else define(container, key, value);
  return changed;
}

function define(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}

Deno.test("StreamEventValidator gives the oracle's verdict when one event of a legal stream is changed", () => {
  fc.assert(
    fc.property(arbitraryLegalStream(), arbitraryChange, (events, how) => {
      const damaged = change(events, how);
      assertEquals(verdictOf(damaged), judge(damaged, {}, true));
      assertEquals(verdictsOn(damaged), judgeEach(damaged));
    }),
    { numRuns: 3000 },
  );
});

Deno.test("StreamEventValidator gives the oracle's verdict when the limits are near", () => {
  const limits = fc.record({
    contentBlocks: fc.nat({ max: 4 }),
    messageLength: fc.nat({ max: 40 }),
    argumentsDepth: fc.nat({ max: 4 }),
  });
  fc.assert(
    fc.property(arbitraryLegalStream(), limits, (events, limits) => {
      const validator = createStreamEventValidator({ limits });
      const codes = events.map((event) => {
        try {
          validator.accept(event);
          return undefined;
        } catch (error) {
          return (error as StreamSequenceError).code;
        }
      });
      assertEquals(codes, judgeEach(events, limits));
    }),
    { numRuns: 500 },
  );
});

Deno.test("StreamEventValidator gives the same verdicts when events are changed after they were judged", () => {
  fc.assert(fc.property(arbitraryLegalStream(), arbitraryJson(), (events, value) => {
    const validator = createStreamEventValidator();
    for (const original of events) {
      // One by one: a call's end and the message must not share what they hold.
      const event = structuredClone(original);
      validator.accept(event);
      for (const [container, key] of placesIn(event)) define(container, key, value);
    }
    validator.end();
  }));
});

/** Anything: events that are nearly right, JSON, and what no JSON is. */
const arbitraryAnything = fc.oneof(
  fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  }),
  arbitraryJson(),
);
const arbitraryEvent = fc.record({
  type: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...eventTypes()) },
    { weight: 1, arbitrary: arbitraryAnything },
  ),
  contentIndex: fc.oneof(fc.constantFrom<unknown>(0, 1, -0), arbitraryAnything),
  delta: fc.oneof(fc.string(), arbitraryAnything),
  argumentsDelta: fc.oneof(fc.constantFrom("", "{}", '{"a":', "1}"), arbitraryAnything),
  content: fc.oneof(fc.constant(""), arbitraryAnything),
  id: fc.oneof(fc.constantFrom("x", "y"), arbitraryAnything),
  name: fc.oneof(fc.constant("f"), arbitraryAnything),
  reason: fc.oneof(fc.constantFrom("stop", "error"), arbitraryAnything),
  toolCall: fc.oneof(
    fc.record({
      id: fc.constantFrom("x", "y"),
      name: fc.constant("f"),
      arguments: fc.oneof(arbitraryArguments(), arbitraryAnything),
    }),
    arbitraryAnything,
  ),
  message: fc.oneof(
    fc.record({
      content: fc.oneof(fc.constant([]), fc.array(arbitraryAnything, { maxLength: 2 })),
      stopReason: fc.constantFrom("stop", "error"),
    }),
    arbitraryAnything,
  ),
}, { requiredKeys: ["type"] });

function eventTypes(): string[] {
  const kinds = ["text", "thinking", "tool_call"];
  const parts = kinds.flatMap((kind) => [`${kind}_start`, `${kind}_delta`, `${kind}_end`]);
  return ["start", ...parts, "done", "error"];
}

Deno.test("StreamEventValidator gives the oracle's verdict on anything whatever", () => {
  const sequence = fc.tuple(
    arbitraryLegalPrefix({ maxBlocks: 2 }),
    fc.array(fc.oneof(arbitraryEvent, arbitraryAnything), { maxLength: 8 }),
  ).map(([prefix, events]) => [...prefix, ...events]);
  fc.assert(
    fc.property(sequence, (events) => {
      assertEquals(verdictsOn(events), judgeEach(events));
    }),
    { numRuns: 2000 },
  );
});

/** A proxy that hands out anything and throws now and then. */
function capricious(answers: readonly unknown[]): unknown {
  let next = 0;
  const answer = (): unknown => {
    const value = answers[next++ % answers.length];
    if (value === "throw") throw new RangeError("not for you");
    return value;
  };
  return new Proxy({}, {
    get: answer,
    getPrototypeOf: () => answer() as object | null,
    ownKeys: () => [String(answer())],
    getOwnPropertyDescriptor: () => ({ value: answer(), configurable: true, enumerable: true }),
  });
}

Deno.test("StreamEventValidator throws nothing but a StreamSequenceError when values do not stand still", () => {
  const answers = fc.array(
    fc.oneof(
      fc.constantFrom<unknown>("throw", null, undefined, 0, 1, "", "a", Object.prototype, [], {}),
      fc.constantFrom<unknown>(...eventTypes(), "stop", "error", "x", "f"),
    ),
    { minLength: 1, maxLength: 6 },
  ).map(capricious);
  const event = fc.oneof(
    answers,
    fc.tuple(
      arbitraryEvent,
      answers,
      fc.constantFrom("contentIndex", "delta", "toolCall", "message"),
    )
      .map(([event, odd, key]) => ({ ...event, [key]: odd })),
    fc.tuple(answers, fc.boolean()).map(([odd, isDone]): unknown =>
      isDone ? { type: "done", reason: "stop", message: { content: [odd], stopReason: "stop" } } : {
        type: "tool_call_end",
        contentIndex: 0,
        toolCall: { id: "x", name: "f", arguments: odd },
      }
    ),
  );
  const call = { type: "tool_call_start", contentIndex: 0, id: "x", name: "f" };
  fc.assert(
    fc.property(fc.array(event, { maxLength: 6 }), fc.boolean(), (events, hasDeltas) => {
      const delta = { type: "tool_call_delta", contentIndex: 0, argumentsDelta: '{"a":{}}' };
      const start = [{ type: "start" }, call, ...(hasDeltas ? [delta] : [])];
      const validator = createStreamEventValidator();
      for (const event of [...start, ...events]) {
        try {
          validator.accept(event as StreamEvent);
        } catch (error) {
          assert(error instanceof StreamSequenceError, `not a StreamSequenceError: ${error}`);
        }
      }
      validator.partialContent();
    }),
    { numRuns: 2000 },
  );
});

/** Stands wherever a stream has content. */
const SECRET = "Geheimnis";

const CODES_ABOUT_CONTENT = [
  "malformed_event",
  "limit_exceeded",
  "content_mismatch",
  "arguments_not_json",
  "arguments_not_object",
  "arguments_mismatch",
  "message_mismatch",
];

Deno.test("StreamSequenceError shows no content when it prints or serialises", () => {
  const secret = fc.oneof(
    fc.constant(SECRET),
    fc.tuple(fc.string(), fc.string()).map(([before, after]) => `${before}${SECRET}${after}`),
  );
  // Keys of arguments name the place of a difference in `path`, so only values are secret here.
  const args = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.oneof(secret, fc.array(secret)));
  const call = fc.record({
    id: fc.constantFrom("x", "y"),
    name: fc.constantFrom("f", "g"),
    arguments: fc.oneof(args, fc.array(secret), secret),
  });
  const block = fc.oneof(
    fc.record({ type: fc.constant("text"), text: secret }),
    fc.record({ type: fc.constant("thinking"), thinking: secret }),
    call,
    secret,
  );
  const event = fc.record({
    type: fc.constantFrom(...eventTypes()),
    contentIndex: fc.oneof(fc.constantFrom<unknown>(0, 1), secret),
    delta: fc.oneof(secret, fc.array(secret)),
    argumentsDelta: fc.oneof(secret, fc.constantFrom(`{"a":"${SECRET}"}`, `["${SECRET}"]`)),
    content: fc.oneof(secret, fc.array(secret)),
    id: fc.constantFrom<unknown>("x", "y", "", null),
    name: fc.constantFrom<unknown>("f", "g", "", null),
    reason: fc.constantFrom("stop", "error"),
    toolCall: fc.oneof(call, secret),
    message: fc.oneof(
      fc.record({ content: fc.array(block), stopReason: fc.constantFrom("stop", "error") }),
      secret,
    ),
  }, { requiredKeys: ["type", "contentIndex"] });
  const open = (kind: string) => ({ type: `${kind}_start`, contentIndex: 0, id: "x", name: "f" });
  const grow = (piece: string) => ({ contentIndex: 0, delta: piece, argumentsDelta: piece });
  const prefix = fc.constantFrom<unknown[]>(
    [],
    [open("text"), { type: "text_delta", ...grow(SECRET) }],
    [open("thinking"), { type: "thinking_delta", ...grow(SECRET) }],
    [open("tool_call")],
    [open("tool_call"), { type: "tool_call_delta", ...grow(`{"a":"${SECRET}`) }],
    [open("tool_call"), { type: "tool_call_delta", ...grow(`{"a":"${SECRET}"}`) }],
    [open("tool_call"), { type: "tool_call_delta", ...grow(`["${SECRET}"]`) }],
  );
  // Luck alone does not come to every code in every run.
  const end = (id: string, name: string, args: unknown) => ({
    type: "tool_call_end",
    contentIndex: 0,
    toolCall: { id, name, arguments: args },
  });
  const call0 = open("tool_call");
  const whole = { type: "tool_call_delta", ...grow(`{"a":"${SECRET}"}`) };
  const examples: Array<[unknown[], unknown[]]> = [
    [[open("text"), { type: "text_delta", ...grow(SECRET) }], [
      SECRET,
      { type: "text_end", contentIndex: 0, content: `${SECRET}!` },
      { type: "text_delta", ...grow(SECRET.repeat(9)) },
      { type: "error", reason: "error", message: { content: [SECRET], stopReason: "error" } },
      { type: "error", reason: "error", message: { content: [SECRET], stopReason: "stop" } },
    ]],
    [[call0, { type: "tool_call_delta", ...grow(SECRET) }], [end("x", "f", { a: SECRET })]],
    [[call0, { type: "tool_call_delta", ...grow(`["${SECRET}"]`) }], [end("x", "f", [SECRET])]],
    [[call0, whole], [
      end("x", "f", { a: `${SECRET}!` }),
      end("y", "f", { a: SECRET }),
      end("x", "g", { a: SECRET }),
    ]],
  ];
  const codes = new Set<string>();
  fc.assert(
    fc.property(prefix, fc.array(fc.oneof(event, secret), { maxLength: 12 }), (prefix, events) => {
      const validator = createStreamEventValidator({ limits: { messageLength: 25 } });
      for (const event of [{ type: "start" }, ...prefix, ...events]) {
        const error = thrownBy(() => validator.accept(event as StreamEvent));
        if (error === undefined) continue;
        codes.add(error.code);
        for (const text of printed(error)) {
          assert(!text.includes(SECRET), `${error.code} shows content: ${text}`);
        }
      }
      const error = thrownBy(() => validator.end());
      for (const text of error ? printed(error) : []) assert(!text.includes(SECRET), text);
    }),
    { numRuns: 3000, examples },
  );
  for (const code of CODES_ABOUT_CONTENT) assert(codes.has(code), `never came to ${code}`);
});

function thrownBy(act: () => void): StreamSequenceError | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    assert(error instanceof StreamSequenceError, `not a StreamSequenceError: ${error}`);
    return error;
  }
}

/** All that a log may get to see of an error. */
function printed(error: StreamSequenceError): string[] {
  return [
    error.message,
    error.detail,
    String(error),
    error.stack ?? "",
    JSON.stringify(error),
    JSON.stringify({ ...error }),
    Deno.inspect(error, { depth: 10, showHidden: true }).replace(/\s+/g, " "),
  ];
}
