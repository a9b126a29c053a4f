import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { cutToWidth, displayWidth, fitToWidth } from "../../src/cli/_display_width.ts";
import { lanesOf } from "../../src/cli/_lanes.ts";
import { drawStream } from "../../src/cli/_picture.ts";
import type { RecordedStream } from "../../src/cli/_recording.ts";
import { readVectorFiles } from "../_vectors.ts";
import { record } from "./_recorded.ts";
import { eventsOf, HEALTHY, without } from "./_streams.ts";

const HOSTILE = 'a\u001b[31m\u0007\u0000\u202e\u2028</script>東京😀👩‍👩‍👧‍👦e\u0301\ud800"';

function draw(stream: RecordedStream, width = 60): string[] {
  return drawStream(stream, { width, color: false }).split("\n").slice(0, -1);
}

/** Holds that a terminal of so many columns shows every line as it is. */
function assertFits(lines: readonly string[], width: number): void {
  for (const line of lines) {
    assert(displayWidth(line) <= width, `${displayWidth(line)} columns of ${width}: ${line}`);
    // deno-lint-ignore no-control-regex -- they are what it is about
    assert(!/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028]/.test(line), line);
  }
}

Deno.test("drawStream draws a lane for each block over the events", () => {
  const head = draw(record(HEALTHY)).slice(0, 3);
  assertEquals(head, ["recording.ndjson, stream 1  19 events, 3 blocks", "✓ well-formed", ""]);
  const lanes = draw(record(HEALTHY)).slice(3, 8);
  assertEquals(lanes.map((line) => line.split(" ").slice(0, 2).join(" ").trim()), [
    "stream",
    "0 thinking",
    "1 text",
    "2 get_tide",
    "",
  ]);
  // Each begins behind where the one before it ended.
  const begins = lanes.slice(1, 4).map((line) => line.search(/[▁-█]/));
  const ends = lanes.slice(1, 4).map((line) => line.length - line.search(/[▁-█](?![▁-█─])/));
  assert((begins[0] as number) < (begins[1] as number), `${begins}`);
  assert((begins[1] as number) < (begins[2] as number), `${begins}`);
  assert((ends[0] as number) > (ends[2] as number), `${ends}`);
});

Deno.test("drawStream marks the violation in its lane, and says where it is", () => {
  const stream = record(without(HEALTHY, 3));
  const lines = draw(stream);
  assertStringIncludes(lines[1] as string, "✗ content_mismatch at event 5, line 6");
  const lane = lines.find((line) => line.startsWith("0 thinking")) as string;
  const caret = lines.find((line) => line.includes("▲")) as string;
  assertEquals(lane.indexOf("✗"), caret.indexOf("▲"));
  assert(lane.includes("✗"));
});

Deno.test("drawStream marks where a stream was cut off at the end", () => {
  const lines = draw(record(HEALTHY.slice(0, 4)));
  assertStringIncludes(lines[1] as string, "✗ truncated at the end, after 4 events");
  assert(lines.some((line) => line.startsWith("stream") && line.includes("✗")));
  assertEquals(lines.at(-1), "no final message came");
});

Deno.test("drawStream shows over time where nothing came for long", () => {
  const timeOf = (place: number) => place * 20 + (place >= 4 ? 3_000 : 0);
  const lines = draw(record(HEALTHY, { timeOf }));
  assertStringIncludes(lines[0] as string, "3.4 s");
  assertEquals(lines[2], "  3.0 s of silence before event 4");
  assert(lines.some((line) => line.startsWith("0 thinking") && line.includes("····")));
});

Deno.test("drawStream fits every width, whatever the stream holds", () => {
  const hostile = [
    { type: "text" as const, text: HOSTILE.repeat(30) },
    { type: "tool_call" as const, id: HOSTILE, name: HOSTILE, arguments: { [HOSTILE]: HOSTILE } },
  ];
  const streams = [
    record(eventsOf(hostile), { file: `${HOSTILE}.ndjson` }),
    record([null, 7, "text", [], { type: HOSTILE, contentIndex: NaN }, { type: "text_delta" }]),
    record([]),
    record([{ type: "start" }, { type: "error", reason: HOSTILE, message: { content: 1 } }]),
    ...readVectorFiles().flatMap(({ vectors }) =>
      vectors.slice(0, 6).map(({ events }) => record(events))
    ),
  ];
  for (const stream of streams) {
    for (const width of [24, 40, 79, 120]) assertFits(draw(stream, width), width);
  }
  assertFits(draw(record(HEALTHY), 1), 24);
});

Deno.test("drawStream uses colours only where it is told to", () => {
  const stream = record(without(HEALTHY, 3));
  const colored = drawStream(stream, { width: 60, color: true });
  assert(colored.includes("\x1b[31m"));
  assertEquals(
    colored.split("\x1b[").map((part, index) => index === 0 ? part : part.replace(/^\d+m/, ""))
      .join("").replace(/ +$/gm, ""),
    draw(stream).join("\n") + "\n",
  );
});

Deno.test("drawStream leaves out blocks in the middle, and keeps the one that is wrong", () => {
  const content = Array.from({ length: 10_000 }, (_, index) => ({
    type: "text" as const,
    text: `Block ${index}`,
  }));
  const events: unknown[] = eventsOf(content, 100);
  const at = 5_000 * 3 + 3;
  events[at] = { ...(events[at] as object), content: "other" };
  const lines = draw(record(events), 80);
  assert(lines.length < 80, `${lines.length} lines`);
  assert(lines.some((line) => line.startsWith("5000 text") && line.includes("✗")));
  const left = lines.filter((line) => line.includes("blocks left out"));
  assertEquals(left.length, 3);
  const shown = lines.filter((line) => /^\d+ text/.test(line)).length;
  const hidden = left.slice(0, 2).reduce((sum, line) => sum + Number(line.replace(/\D/g, "")), 0);
  assertEquals(shown + hidden, 10_000);
});

Deno.test("drawStream survives what nests deep and what is huge", () => {
  let nested: unknown = 1;
  for (let level = 0; level < 100_000; level++) nested = [nested];
  const huge = { type: "text_delta", contentIndex: 0, delta: "字".repeat(5_000_000) };
  assertFits(draw(record([{ type: "start" }, { type: "text_start", contentIndex: 0 }, huge])), 60);
  const done = { type: "done", reason: "stop", message: { content: [nested], stopReason: "stop" } };
  assertFits(draw(record([{ type: "start" }, done])), 60);
});

Deno.test("lanesOf takes events of any order and kind", () => {
  const delta = { type: "text_delta", contentIndex: 3, delta: "abc" };
  const { lanes, laneOf } = lanesOf(record([
    delta,
    null,
    delta,
    {
      type: "text_end",
      contentIndex: 3,
      content: "abc",
    },
    delta,
    { type: "text_start", contentIndex: 3 },
  ]));
  assertEquals(lanes.map(({ size, deltas, isClosed }) => [size, deltas, isClosed]), [
    [6, 2, true],
    [3, 1, false],
    [0, 0, false],
  ]);
  assertEquals([...laneOf], [0, -1, 0, 0, 1, 2]);
});

Deno.test("displayWidth counts columns, not code units", () => {
  const widths: ReadonlyArray<readonly [string, number]> = [
    ["", 0],
    ["abc", 3],
    ["東京", 4],
    ["한글", 4],
    ["ｱ", 1],
    ["Ａ", 2],
    ["e\u0301", 1],
    ["😀", 2],
    ["👍🏽", 2],
    ["🇳🇴", 2],
    ["☀️", 2],
    ["☀", 1],
    ["𝄞", 1],
  ];
  for (const [text, width] of widths) assertEquals(displayWidth(text), width, text);
});

Deno.test("cutToWidth never cuts a character, and says that something is left out", () => {
  assertEquals(cutToWidth("abcdef", 4), "abc…");
  assertEquals(cutToWidth("abcd", 4), "abcd");
  assertEquals(cutToWidth("東京東", 4), "東…");
  assertEquals(cutToWidth("東京", 4), "東京");
  assertEquals(cutToWidth("a😀b", 2), "a…");
  assertEquals(cutToWidth("abc", 0), "");
  assertEquals(fitToWidth("東", 4), "東  ");
  assertEquals(cutToWidth("x".repeat(1_000_000), 3), "xx…");
});
