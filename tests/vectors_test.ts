import { assert, assertEquals } from "@std/assert";
import { createStreamEventValidator, type StreamSequenceErrorCode } from "../mod.ts";
import { judgeEach } from "./_oracle.ts";
import { readVectorFiles, runVector } from "./_vectors.ts";

/** The words that the detail keeps for each code, for code that looks for them. */
const KEPT_WORDS: Partial<Record<StreamSequenceErrorCode, RegExp>> = {
  expected_start: /expected "start"/,
  duplicate_start: /"start".*only once/,
  after_terminal: /after a terminal event/,
  block_open: /while (text|thinking|tool_call) is active/,
  unexpected_index: /expected contentIndex \d+, received \S+/,
  wrong_index: /expected contentIndex \d+, received \S+/,
  wrong_block: /expected active (text|thinking|tool_call) block/,
  content_mismatch: /end content/,
  arguments_not_json: /valid JSON/,
  arguments_not_object: /JSON object/,
  tool_id_changed: /tool id/,
  tool_name_changed: /tool name/,
  arguments_mismatch: /arguments.*match/,
  block_open_at_done: /active block/,
  reason_mismatch: /message\.stopReason/,
  message_mismatch: /message content/,
};

const CODES = [
  "malformed_event",
  "expected_start",
  "after_terminal",
  "duplicate_start",
  "unknown_event",
  "block_open",
  "unexpected_index",
  "duplicate_tool_id",
  "wrong_block",
  "wrong_index",
  "content_mismatch",
  "arguments_not_json",
  "limit_exceeded",
  "arguments_not_object",
  "tool_id_changed",
  "tool_name_changed",
  "arguments_mismatch",
  "block_open_at_done",
  "reason_mismatch",
  "message_mismatch",
  "truncated",
] as const satisfies readonly StreamSequenceErrorCode[];

const FILES = readVectorFiles();

for (const { code, vectors } of FILES) {
  Deno.test(`StreamEventValidator gives the verdicts of the vectors for ${code}`, () => {
    const failures = vectors.flatMap((vector) =>
      runVector(createStreamEventValidator, vector).map((failure) => `${vector.name}: ${failure}`)
    );
    assertEquals(failures, []);
  });
}

Deno.test("vectors have a file for each code with every kind of vector that it can have", () => {
  assertEquals(FILES.map(({ code }) => code), CODES.toSorted());
  for (const { code, vectors } of FILES) {
    const names = vectors.map(({ name }) => name);
    assertEquals(new Set(names).size, names.length, `${code}: two vectors of one name`);
    for (const kind of ["first", "late", "near_miss"]) {
      // What every language can run counts, not what only JavaScript can.
      assert(
        vectors.some((vector) => vector.kind === kind && vector.host === undefined),
        `${code}: no ${kind}`,
      );
    }
    for (const { name, kind, rejected, limitsRefused } of vectors) {
      const own = rejected.some((rejection) => rejection.code === code);
      if (kind === "first" || kind === "late") {
        assert(
          own || limitsRefused || name.startsWith("a deep value"),
          `${code}: ${name}: ${kind}`,
        );
      }
      if (kind === "near_miss") assert(!own, `${code}: ${name} is no near miss`);
    }
  }
});

Deno.test("vectors name the words that the detail keeps wherever there are any", () => {
  for (const { code, vectors } of FILES) {
    for (const { name, rejected } of vectors) {
      for (const rejection of rejected) {
        const kept = KEPT_WORDS[rejection.code];
        const words = (rejection.words ?? []).join(" … ");
        assert(kept === undefined || kept.test(words), `${code}: ${name}: "${words}"`);
      }
    }
  }
});

Deno.test("oracle gives the verdicts of the vectors that are plain JSON", () => {
  for (const { code, vectors } of FILES) {
    for (const { name, host, limits, limitsRefused, events, rejected } of vectors) {
      if (host !== undefined || limitsRefused !== undefined) continue;
      const expected = events.map((_, index) =>
        rejected.find(({ eventIndex }) => eventIndex === index)?.code
      );
      assertEquals(judgeEach(events, limits), expected, `${code}: ${name}`);
    }
  }
});
