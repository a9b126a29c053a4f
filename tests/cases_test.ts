import { assertEquals } from "@std/assert";
import { createStreamEventValidator, type StreamEvent, StreamSequenceError } from "../mod.ts";

/** A stream that really went wrong, rebuilt. */
interface UnifiedCase {
  readonly id: string;
  readonly input: string;
  readonly expected: "accept" | "reject" | "truncated";
  readonly code?: string;
  readonly eventIndex?: number;
  readonly terminal: string | null;
  readonly final: unknown;
}

const CASES: UnifiedCase[] = Deno.readTextFileSync(
  new URL("./cases/unified.jsonl", import.meta.url),
).trim().split("\n").map((line) => JSON.parse(line));

/** What becomes of a stream, in the words of the cases. */
function outcomeOf(events: readonly StreamEvent[]): Record<string, unknown> {
  const validator = createStreamEventValidator();
  try {
    for (const event of events) validator.accept(event);
    validator.end();
  } catch (error) {
    if (!(error instanceof StreamSequenceError)) throw error;
    const { code, eventIndex } = error;
    return code === "truncated"
      ? { expected: "truncated" }
      : { expected: "reject", code, eventIndex };
  }
  const last = events.at(-1);
  const terminal = last?.type === "done" || last?.type === "error"
    ? `${last.type}:${last.reason}`
    : "";
  return { expected: "accept", terminal, final: validator.partialContent() };
}

for (const { id, input, expected, code, eventIndex, terminal, final } of CASES) {
  Deno.test(`StreamEventValidator gives the verdict of the case ${id}`, () => {
    const events = input.trim().split("\n").map((line) => JSON.parse(line));

    const outcome = outcomeOf(events);

    assertEquals(
      outcome,
      expected === "accept"
        ? { expected, terminal, final }
        : expected === "reject"
        ? { expected, code, eventIndex }
        : { expected },
    );
  });
}

Deno.test("unified cases are all there", () => {
  assertEquals(CASES.length, 7);
});
