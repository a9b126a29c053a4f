/** Streams for the tests of the page, here and in a browser. */

import type { RecordedStream } from "../../src/cli/_recording.ts";
import { record } from "./_recorded.ts";
import { eventsOf, HEALTHY, without } from "./_streams.ts";

const WORDS = [
  `</script><script>window.intruder = 1</script>`,
  `"><img src=x onerror="window.intruder = 2">`,
  `<b>&amp; '" \u202e\u2028\u0000\u001b[31m 東京 😀`,
];

/** Events that hold what a page must not act upon, wherever they can. */
export const HOSTILE: readonly unknown[] = [
  ...eventsOf([
    { type: "thinking", thinking: WORDS.join("\n") },
    { type: "text", text: WORDS.join("\n") },
    ...WORDS.map((word, index) => ({
      type: "tool_call" as const,
      id: `${word}${index}`,
      name: word,
      arguments: { [word]: word, list: [word] },
    })),
  ]),
  { type: WORDS[0], [WORDS[1] as string]: WORDS[2] },
];

/** 100,000 events, of which one delta is lost. */
export const LARGE: readonly unknown[] = without(
  eventsOf([
    { type: "thinking", thinking: "Let me see what the tables of the harbour say. ".repeat(2_200) },
    { type: "text", text: "The tide is high at noon, and low at six. ".repeat(7_500) },
  ], 4),
  70_000,
);

/** A wait before some events, and short ones before the others. */
const timeOf = (place: number) => place * 45 + (place >= 6 ? 2_400 : 0);

/** The streams of each page that a browser opens. */
export const PAGES: Readonly<Record<string, readonly RecordedStream[]>> = {
  healthy: [record(HEALTHY, { timeOf })],
  wrong: [record(without(HEALTHY, 7), { timeOf })],
  truncated: [record(HEALTHY.slice(0, 9), { timeOf })],
  hostile: [record(HOSTILE, { file: WORDS[0] as string })],
  large: [record(LARGE)],
  many: [HEALTHY, without(HEALTHY, 3), [], [null, 7], HEALTHY.slice(0, 3)].map((events, index) =>
    record(events, { index })
  ),
};
