import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  createStreamEventValidator,
  type StreamEvent,
  type StreamEventLimits,
  StreamSequenceError,
} from "../../mod.ts";
import { minimizeStream } from "../../src/cli/_minimize.ts";
import { NeutralTexts } from "../../src/cli/_neutral_text.ts";
import { createEventDecoder } from "../../src/wire/_event_decoder.ts";
import { arbitraryJson, arbitraryLegalStream, arbitraryText } from "../_arbitraries.ts";
import { readVectorFiles, revive } from "../_vectors.ts";
import { eventsOf, HEALTHY, ndjson, without } from "./_streams.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The first violation of a stream, judged by the validator alone. */
function violationOf(
  events: readonly unknown[],
  limits: StreamEventLimits = {},
): StreamSequenceError | undefined {
  const validator = createStreamEventValidator({ limits });
  try {
    for (const event of events) validator.accept(event as StreamEvent);
    validator.end();
  } catch (error) {
    if (error instanceof StreamSequenceError) return error;
    throw error;
  }
  return undefined;
}

/** Holds a result against its input, and gives it back. */
function minimized(
  events: readonly unknown[],
  { keepText = false, limits = {}, isHost = false }: {
    keepText?: boolean;
    limits?: StreamEventLimits;
    isHost?: boolean;
  } = {},
): unknown[] {
  const before = violationOf(events, limits);
  const result = minimizeStream(events, { keepText, limits });
  const after = violationOf(result.events, limits);
  assertEquals(after?.code, before?.code);
  assertEquals(after?.eventType, before?.eventType);
  assertEquals(result.error.message, after?.message);
  const count = result.events.length;
  assertEquals(result.error.eventIndex, before?.code === "truncated" ? count : count - 1);
  assert(count <= events.length, `${events.length} events became ${count}`);
  const again = minimizeStream(result.events, { keepText, limits });
  assertEquals(again.error.message, result.error.message);
  assertEquals(again.events.length, count, "minimizing again changed the result");
  // What shares its way to 2^60 leaves takes for ever to compare.
  if (!isHost) assertEquals(again.events, result.events, "minimizing again changed the result");
  return result.events;
}

const start = { type: "start" };
const textStart = { type: "text_start", contentIndex: 0 };
const callStart = { type: "tool_call_start", contentIndex: 0, id: "call_1", name: "tool_1" };

for (const { code, vectors } of readVectorFiles()) {
  Deno.test(`minimizeStream keeps how the vectors for ${code} fail`, () => {
    for (const vector of vectors) {
      const [rejection] = vector.rejected;
      if (!rejection) continue;
      const { events, limits = {} } = (vector.host ? revive(vector) : vector) as typeof vector;
      const isHost = vector.host !== undefined;
      const smallest = minimized(events, { limits, isHost });
      // A limit on blocks needs them all.
      const least = 2 * (limits.contentBlocks ?? 0) + 6;
      assert(smallest.length <= least, `${vector.name}: ${smallest.length} events`);
      minimized(events, { limits, isHost, keepText: true });
    }
  });
}

Deno.test("minimizeStream finds the events that matter among 100,000", () => {
  const text = "The tide is high at noon, and low at six. ".repeat(9_600);
  const whole = eventsOf([{ type: "text", text }], 4);
  assert(whole.length > 100_000);
  const begin = performance.now();
  assertEquals(minimized(without(whole, 54_321)), [
    start,
    textStart,
    { type: "text_end", contentIndex: 0, content: "X" },
  ]);
  assert(performance.now() - begin < 10_000);
});

Deno.test("minimizeStream leaves out blocks, and closes up the indices and the message", () => {
  const content = Array.from(
    { length: 2_000 },
    (_, index) =>
      index % 2 ? { type: "text" as const, text: `Page ${index}` } : {
        type: "tool_call" as const,
        id: `toolu_${index}`,
        name: "turn",
        arguments: { page: index },
      },
  );
  const events: unknown[] = eventsOf(content);
  const done = events.at(-1) as { readonly message: Fields };
  const items = [...content.slice(0, 700), ...content.slice(701)];
  events[events.length - 1] = { ...done, message: { ...done.message, content: items } };
  const smallest = minimized(events);
  assertEquals(smallest.slice(0, -1), [
    start,
    callStart,
    {
      type: "tool_call_end",
      contentIndex: 0,
      toolCall: { type: "tool_call", id: "call_1", name: "tool_1", arguments: {} },
    },
    { type: "text_start", contentIndex: 1 },
    { type: "text_end", contentIndex: 1, content: "" },
  ]);
  const { message } = smallest.at(-1) as { readonly message: Fields };
  assertEquals(message.content, [{ type: "text", text: "" }]);
});

Deno.test("minimizeStream keeps which side of a comparison has more", () => {
  const end = (content: string) => ({ type: "text_end", contentIndex: 0, content });
  const delta = (delta: string) => ({ type: "text_delta", contentIndex: 0, delta });
  const cases: ReadonlyArray<readonly [string, string, readonly unknown[]]> = [
    ["abc", "abcd", [end("x")]],
    ["abcc", "abc", [delta("x"), end("")]],
    ["abc", "aBc", [delta("x"), end("X")]],
    ["abc", "abd", [delta("x"), end("y")]],
    ["a😀c", "a😁c", [delta("🙂"), end("🙃")]],
  ];
  for (const [streamed, content, expected] of cases) {
    const events = [start, textStart, delta(streamed), end(content)];
    assertEquals(minimized(events), [start, textStart, ...expected]);
  }
});

Deno.test("minimizeStream keeps whether an index is ahead or behind", () => {
  const blocks = [0, 1, 2].flatMap((contentIndex) => [
    { type: "text_start", contentIndex },
    { type: "text_end", contentIndex, content: "" },
  ]);
  const ahead = [start, ...blocks, { type: "text_start", contentIndex: 9 }];
  assertEquals(minimized(ahead), [start, { type: "text_start", contentIndex: 1 }]);
  const behind = [start, ...blocks, { type: "text_start", contentIndex: 1 }];
  assertEquals(minimized(behind), [
    start,
    textStart,
    { type: "text_end", contentIndex: 0, content: "" },
    textStart,
  ]);
});

Deno.test("minimizeStream shrinks a difference in a text of 1 MB to a character", () => {
  const text = "The quick brown fox. ".repeat(50_000);
  const changed = `${text.slice(0, 500_000)}#${text.slice(500_001)}`;
  assertEquals(
    minimized([
      start,
      textStart,
      { type: "text_delta", contentIndex: 0, delta: text },
      { type: "text_end", contentIndex: 0, content: changed },
    ]),
    [
      start,
      textStart,
      { type: "text_delta", contentIndex: 0, delta: "x" },
      { type: "text_end", contentIndex: 0, content: "#" },
    ],
  );
});

Deno.test("minimizeStream shrinks arguments on both sides to where they differ", () => {
  const args = { list: Array.from({ length: 3_000 }, (_, id) => ({ id, name: `n${id}` })) };
  const other = structuredClone(args);
  (other.list[2_000] as { name: string }).name = "zz";
  const toolCall = { type: "tool_call", id: "a", name: "b", arguments: other };
  const delta = { type: "tool_call_delta", contentIndex: 0, argumentsDelta: JSON.stringify(args) };
  assertEquals(
    minimized([start, { ...callStart, id: "a", name: "b" }, delta, {
      type: "tool_call_end",
      contentIndex: 0,
      toolCall,
    }]),
    [
      start,
      callStart,
      { ...delta, argumentsDelta: '{"xxxx":[{"xxxy":""}]}' },
      {
        type: "tool_call_end",
        contentIndex: 0,
        toolCall: {
          type: "tool_call",
          id: "call_1",
          name: "tool_1",
          arguments: { xxxx: [{ xxxy: "x" }] },
        },
      },
    ],
  );
});

Deno.test("minimizeStream keeps what an event of its type must have, and drops the rest", () => {
  const call = { type: "tool_call", id: "c", name: "n", arguments: { city: "Oslo" }, extra: 1 };
  const late = { type: "tool_call_end", contentIndex: 3, toolCall: call, usage: { tokens: 12 } };
  assertEquals(minimized([late]), [{
    type: "tool_call_end",
    contentIndex: 0,
    toolCall: { type: "tool_call", id: "call_1", name: "tool_1", arguments: {} },
  }]);
  assertEquals(minimized([start, { type: "ping", contentIndex: 4, data: [1] }]), [
    start,
    { type: "ping" },
  ]);
});

Deno.test("minimizeStream replaces every text, also in what is no text of a block", () => {
  const secret = "Grüße, Ärger 12 in Østerås 字😀";
  const events = [
    start,
    { type: "text_start", contentIndex: 0, secret },
    { type: "text_end", contentIndex: 0, content: "" },
    {
      type: "error",
      reason: "error",
      message: {
        role: "assistant",
        content: [{ type: "text", text: "", signature: { [secret]: [secret] } }],
        provider: secret,
        model: "model-2000-x",
        usage: { input: 12, output: 4, cost: { total: 0.5 }, [secret]: secret },
        timestamp: 1_234,
        stopReason: "error",
        errorMessage: secret,
        providerReplay: { api: secret, data: secret },
      },
    },
  ];
  const smallest = minimized(events);
  const last = smallest.at(-1) as { readonly message: Fields };
  assertEquals(last.message.provider, "Xxààx, Àxxxx 00 xx Àxxxxàx 一🙂");
  assertEquals(last.message.model, "xxxxx-0000-x");
  assertEquals(last.message.timestamp, 0);
  assertEquals(last.message.errorMessage, "");
  assertEquals("providerReplay" in last.message, false);
  const written = JSON.stringify(smallest);
  for (const word of ["Grüße", "rger", "ster", "12", "字", "😀", "2000"]) {
    assert(!written.includes(word), `${word} in ${written}`);
  }
});

Deno.test("NeutralTexts keeps the length and shape, and what is the same or different", () => {
  const texts = new NeutralTexts();
  const words = ["Oslo", "Rome", "oslo", "a1", "b2", "", "…", "Oslo"];
  const neutral = ["Xxxx", "Xxxy", "xxxx", "x0", "x1", "", "…", "Xxxx"];
  assertEquals(words.map((word) => texts.text(word)), neutral);
  assertEquals([42, 17, 0, -0, 0.5, -3e21].map((value) => texts.number(value)), [
    ...[11, 12, 0, -0, 0.1, -1e21],
  ]);
  fc.assert(
    fc.property(fc.array(arbitraryText()), (words) => {
      const texts = new NeutralTexts();
      const neutral = words.map((word) => texts.text(word));
      words.forEach((word, place) => assertEquals(neutral[place]?.length, word.length));
      assertEquals(new Set(neutral).size, new Set(words).size);
      const again = new NeutralTexts();
      assertEquals(neutral.map((word) => again.text(word)), neutral);
    }),
  );
});

Deno.test("NeutralTexts writes JSON that spells the neutral value, and keeps what is not JSON", () => {
  fc.assert(
    fc.property(arbitraryJson(), fc.boolean(), (value, isEscaped) => {
      const written = JSON.stringify(value);
      const text = isEscaped
        ? written.replace(
          /[^ -~]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
        )
        : written;
      const texts = new NeutralTexts();
      const neutral = texts.value(value);
      assertEquals(JSON.parse(texts.json(text)), JSON.parse(JSON.stringify(neutral)));
    }),
  );
  const notJson: ReadonlyArray<readonly [string, string]> = [
    ['{"city":"Os', '{"xxxx":"Xx'],
    ["{'city': True,}", "{'xxxx': Xxxx,}"],
    ['{"a":01}', '{"x":01}'],
    ['"\\q"', '"\\x"'],
    ["Sorry, 7 of {}", "Xxxxx, 1 xx {}"],
    ["[1, 2", "[1, 2"],
  ];
  for (const [text, expected] of notJson) assertEquals(new NeutralTexts().json(text), expected);
});

Deno.test("minimizeStream keeps texts under keepText", () => {
  const delta = { type: "text_delta", contentIndex: 0, delta: "high tide" };
  assertEquals(
    minimized([start, textStart, delta, { type: "text_end", contentIndex: 0, content: "" }], {
      keepText: true,
    }),
    [
      start,
      textStart,
      { ...delta, delta: "h" },
      { type: "text_end", contentIndex: 0, content: "" },
    ],
  );
});

Deno.test("minimizeStream leaves a terminal message that a decoder reads", () => {
  for (const at of [3, 8, 12, HEALTHY.length]) {
    const events = [...HEALTHY.slice(0, at), ...HEALTHY.slice(at + 1), { type: "start" }];
    const smallest = minimized(events);
    const read: unknown[] = [];
    const decoder = createEventDecoder("ndjson");
    decoder.push(new TextEncoder().encode(ndjson(smallest)), (event) => read.push(event));
    decoder.end((event) => read.push(event));
    assertEquals(read, smallest);
  }
});

Deno.test("minimizeStream survives what nests 100,000 levels deep", () => {
  const text = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  const args = JSON.parse(text);
  const toolCall = { type: "tool_call", id: "call_1", name: "tool_1", arguments: args };
  const end = { type: "tool_call_end", contentIndex: 0, toolCall };
  const delta = { type: "tool_call_delta", contentIndex: 0, argumentsDelta: text };
  for (const events of [[start, callStart, end], [start, callStart, delta, end]]) {
    const smallest = minimized(events);
    assertEquals(smallest.length, 3);
    const length = JSON.stringify(smallest).length;
    assert(length < 7_000, `1,001 levels should be left, not ${length} code units`);
  }
  assertEquals(minimized([start, { type: "text_delta", contentIndex: args }]), [
    start,
    { type: "text_delta", contentIndex: {} },
  ]);
});

Deno.test("minimizeStream gathers a message that is too long in one delta", () => {
  const chunk = "high tide ".repeat(100);
  const deltas = Array.from({ length: 20 }, () => ({
    type: "text_delta",
    contentIndex: 0,
    delta: chunk,
  }));
  assertEquals(minimized([start, textStart, ...deltas], { limits: { messageLength: 9_999 } }), [
    start,
    textStart,
    { type: "text_delta", contentIndex: 0, delta: "xxxx xxxx ".repeat(1_000) },
  ]);
});

Deno.test("minimizeStream throws when no rule is broken", () => {
  const error = assertThrows(() => minimizeStream(HEALTHY), TypeError);
  assertEquals(
    error.message,
    `Expected events that break a rule, received ${HEALTHY.length} that break none`,
  );
});

Deno.test("minimizeStream keeps how a stream fails, whatever happened to it", () => {
  const damage = fc.record({
    at: fc.nat(),
    to: fc.nat(),
    how: fc.constantFrom("drop", "repeat", "move", "cut", "field", "text"),
  });
  fc.assert(
    fc.property(arbitraryLegalStream(), fc.array(damage, { minLength: 1, maxLength: 2 }), (
      legal,
      damages,
    ) => {
      const events: unknown[] = [...legal];
      for (const { at, to, how } of damages) damageAt(events, at, to, how);
      if (!violationOf(events)) return;
      const smallest = minimized(events);
      assert(smallest.length <= 6, `${smallest.length} events`);
      minimized(events, { keepText: true });
    }),
    { numRuns: 400 },
  );
});

function damageAt(events: unknown[], at: number, to: number, how: string): void {
  if (events.length === 0) return;
  const place = at % events.length;
  const event = events[place] as Fields;
  switch (how) {
    case "drop":
      events.splice(place, 1);
      return;
    case "repeat":
      events.splice(to % events.length, 0, event);
      return;
    case "move":
      events.splice(place, 1);
      events.splice(to % (events.length + 1), 0, event);
      return;
    case "cut":
      events.length = place;
      return;
    case "field": {
      const fields = Object.keys(event);
      const field = fields[to % fields.length] as string;
      events[place] = { ...event, [field]: [null, 7, "", {}, []][to % 5] };
      return;
    }
    default: {
      const field = ["delta", "content", "argumentsDelta"].find((name) =>
        typeof event[name] === "string"
      );
      if (field) events[place] = { ...event, [field]: `${event[field]}${"é1x"[to % 3]}` };
    }
  }
}
