import { assert, assertEquals } from "@std/assert";
import { createStreamEventValidator, type StreamEvent, StreamSequenceError } from "../../mod.ts";
import { findRule, type Rule, RULES } from "../../src/cli/_rules.ts";
import { createEventDecoder } from "../../src/wire/_event_decoder.ts";

/** The code of what is wrong first, and how many events came before it. */
function judge(
  events: readonly unknown[],
  { limits }: Rule,
): [code: string, at: number] | undefined {
  const validator = createStreamEventValidator(limits ? { limits } : {});
  try {
    for (const event of events) validator.accept(event as StreamEvent);
    validator.end();
    return undefined;
  } catch (error) {
    assert(StreamSequenceError.is(error));
    return [error.code, error.eventIndex];
  }
}

const ALL = Object.entries(RULES);

Deno.test("RULES has every code of the vectors", () => {
  const codes = [...Deno.readDirSync(new URL("../vectors/", import.meta.url))]
    .map(({ name }) => name).filter((name) => name.endsWith(".json"))
    .map((name) => name.replace(".json", "")).sort();
  assertEquals(Object.keys(RULES).sort(), codes);
  assertEquals(codes.length, 21);
});

Deno.test("RULES break the rule with the last event of the broken stream", () => {
  for (const [code, rule] of ALL) {
    const at = code === "truncated" ? rule.broken.length : rule.broken.length - 1;
    assertEquals(judge(rule.broken, rule), [code, at], code);
  }
});

Deno.test("RULES show a broken stream that is not as broken with any event less", () => {
  // The empty stream is truncated too, and shows nothing.
  for (const [code, rule] of ALL.filter(([code]) => code !== "truncated")) {
    rule.broken.forEach((_, index) => {
      const less = rule.broken.toSpliced(index, 1);
      assert(judge(less, rule)?.[0] !== code, `${code} without event ${index}`);
    });
  }
});

Deno.test("RULES show how the stream is right, on the wire too", () => {
  for (const [code, rule] of ALL) {
    assertEquals(judge(rule.fixed, rule), undefined, code);
    const decoded: unknown[] = [];
    const decoder = createEventDecoder("ndjson");
    const text = rule.fixed.map((event) => `${JSON.stringify(event)}\n`).join("");
    decoder.push(new TextEncoder().encode(text), (event) => decoded.push(event));
    decoder.end((event) => decoded.push(event));
    assertEquals(decoded, [...rule.fixed], code);
  }
});

Deno.test("findRule takes a code with hyphens or capitals, and nothing else", () => {
  assertEquals(findRule("Block-Open"), "block_open");
  assertEquals(findRule("toString"), undefined);
});
