import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { StreamEvent } from "../../mod.ts";
import { EveryJudge, FirstJudge, type Judge } from "../../src/cli/_judge.ts";
import { readVectorFiles } from "../_vectors.ts";
import { eventsOf, HEALTHY, without } from "./_streams.ts";

/** What a judge says of a stream, as codes with the places of their events. */
function judge(events: readonly unknown[], by: Judge = new EveryJudge()): string[] {
  const found: string[] = [];
  for (const event of events) {
    const error = by.accept(event);
    if (error) found.push(`${error.code}@${error.eventIndex}`);
  }
  const error = by.end();
  if (error) found.push(`${error.code}@${error.eventIndex}`);
  return found;
}

/** Replaces the event at a place. */
function replace(at: number, event: unknown, events: readonly unknown[] = HEALTHY): unknown[] {
  return events.map((old, index) => index === at ? event : old);
}

const done = HEALTHY.at(-1) as Extract<StreamEvent, { readonly type: "done" }>;
const { message } = done;

/** A stream that is wrong, and all that can be said of it. */
const STREAMS: ReadonlyArray<readonly [string, readonly unknown[], readonly string[]]> = [
  ["nothing wrong", HEALTHY, []],
  ["nothing at all", [], ["truncated@0"]],
  ["a lost delta in each block", without(HEALTHY, 3, 9, 15), [
    "content_mismatch@5",
    "content_mismatch@9",
    "arguments_not_json@14",
  ]],
  ["a lost start of a block", without(HEALTHY, 7), ["wrong_block@7"]],
  ["a lost end of a block", without(HEALTHY, 6), ["block_open@6"]],
  ["a lost delta before an event of no known type", [
    ...without(HEALTHY, 3).slice(0, 10),
    { type: "ping" },
    ...without(HEALTHY, 3, 15).slice(10),
  ], ["content_mismatch@5", "unknown_event@10", "arguments_not_json@16"]],
  ["no start of the stream", without(HEALTHY, 0), ["expected_start@0"]],
  ["no start of the stream, and a lost delta in the first block", without(HEALTHY, 0, 3), [
    "expected_start@0",
    "content_mismatch@4",
  ]],
  ["a tool call under another id, then a message with another text", [
    ...HEALTHY.slice(0, -2),
    {
      type: "tool_call_end",
      contentIndex: 2,
      toolCall: { ...message.content[2], id: "call_2" },
    },
    { ...done, message: { ...message, content: message.content.toSpliced(1, 1) } },
  ], ["tool_id_changed@17", "message_mismatch@18"]],
  ["a lost delta, then a message with another text of another block", [
    ...without(HEALTHY, 3).slice(0, -1),
    {
      ...done,
      message: { ...message, content: message.content.with(1, { type: "text", text: "No." }) },
    },
  ], ["content_mismatch@5", "message_mismatch@17"]],
  ["a lost delta, then a message that has the text as it was", without(HEALTHY, 3), [
    "content_mismatch@5",
  ]],
  ["a lost delta, then a reason that is not the message's", [
    ...without(HEALTHY, 3).slice(0, -1),
    { ...done, reason: "stop" },
  ], ["content_mismatch@5", "reason_mismatch@17"]],
  ["a lost delta, then a message that has one block more", [
    ...without(HEALTHY, 3).slice(0, -1),
    { ...done, message: { ...message, content: [...message.content, message.content[1]] } },
  ], ["content_mismatch@5", "message_mismatch@17"]],
  ["a lost delta, then a block that does not end", without(HEALTHY, 3, 17), [
    "content_mismatch@5",
    "block_open_at_done@16",
  ]],
  ["a lost delta, then no end", without(HEALTHY, 3, 18), ["content_mismatch@5", "truncated@17"]],
  ["a lost delta, then the same call twice", [
    ...without(HEALTHY, 3).slice(0, -1),
    { ...HEALTHY[12], contentIndex: 3 },
    ...HEALTHY.slice(13, 17).map((event) => ({ ...event, contentIndex: 3 })),
    { ...HEALTHY[17], contentIndex: 3 },
    done,
  ], ["content_mismatch@5", "duplicate_tool_id@17", "message_mismatch@23"]],
  ["what could have been the end", replace(18, { type: "finished" }), ["unknown_event@18"]],
  ["a second start amid the stream", [...HEALTHY.slice(0, 8), ...HEALTHY], ["duplicate_start@8"]],
  ["an event after the end, and one more", [...HEALTHY, HEALTHY[1], HEALTHY[2]], [
    "after_terminal@19",
  ]],
  ["malformed events in a row", [
    HEALTHY[0],
    null,
    7,
    { type: "text_start" },
    ...HEALTHY.slice(1),
  ], ["malformed_event@1", "malformed_event@2", "malformed_event@3"]],
  ["an index that is skipped, and a lost delta behind", [
    ...HEALTHY.slice(0, 7),
    ...HEALTHY.slice(7, 12).map((event) => ({ ...event, contentIndex: 2 })),
    ...without(HEALTHY, 14).slice(12, 17).map((event) => ({
      ...event as StreamEvent,
      contentIndex: 3,
    })),
    done,
  ], ["unexpected_index@7", "arguments_not_json@16"]],
];

Deno.test("EveryJudge says what can be said of a stream that is wrong", () => {
  for (const [name, events, expected] of STREAMS) {
    assertEquals(judge(events), [...expected], name);
  }
});

Deno.test("EveryJudge and FirstJudge begin with what the validator says of every vector", () => {
  for (const { vectors } of readVectorFiles()) {
    for (const { name, host, limits, events, rejected, end } of vectors) {
      if (host || limits) continue;
      const [first] = rejected;
      const expected = first && !(first.eventIndex === events.length && end === undefined)
        ? [`${first.code}@${first.eventIndex}`]
        : end === undefined
        ? undefined
        : [];
      if (expected === undefined) continue;
      assertEquals(judge(events, new FirstJudge()).slice(0, 1), expected, name);
      assertEquals(judge(events).slice(0, 1), expected, name);
    }
  }
});

Deno.test("EveryJudge blames nothing but the one thing that is wrong", () => {
  // Of a stream that lost one event, or has one twice, whatever follows is as it was.
  fc.assert(
    fc.property(
      fc.nat({ max: HEALTHY.length - 1 }),
      fc.constantFrom("lost", "twice", "unknown", "malformed"),
      (at, what) => {
        const event = HEALTHY[at];
        const stream = what === "lost"
          ? without(HEALTHY, at)
          : what === "twice"
          ? HEALTHY.toSpliced(at, 0, event as StreamEvent)
          : replace(at, what === "unknown" ? { type: "x" } : { type: 0 });
        const found = judge(stream);
        assert(found.length === 1, `${what} ${at}: ${found.join(", ")}`);
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("EveryJudge stops after a hundred violations", () => {
  const events = Array.from({ length: 5_000 }, () => null);
  assertEquals(judge([{ type: "start" }, ...events]).length, 100);
});

Deno.test("EveryJudge does not take long for blocks that claim far positions", () => {
  const events: unknown[] = [{ type: "start" }];
  for (let i = 0; i < 20_000; i++) {
    events.push({ type: "text_start", contentIndex: i % 2 === 0 ? 999 : 1e9 });
  }
  const begin = performance.now();
  assertEquals(judge(events).length, 100);
  assert(performance.now() - begin < 2_000);
});

Deno.test("EveryJudge takes a stream as long as a validator does", () => {
  const content = Array.from(
    { length: 1_200 },
    (_, i) => ({ type: "text", text: `${i}` } as const),
  );
  assertEquals(judge(eventsOf(content)), []);
  // Past the positions that are believed after something wrong, it says less.
  assertEquals(judge(without(eventsOf(content), 2)), ["content_mismatch@2"]);
  assertEquals(judge(without(eventsOf(content), 2, 3_302, 3_452)), [
    "content_mismatch@2",
    "content_mismatch@3301",
  ]);
});
