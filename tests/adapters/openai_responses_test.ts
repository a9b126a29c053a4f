import { assertEquals } from "@std/assert";
import { createOpenAiResponsesAdapter } from "../../src/adapters/openai_responses.ts";
import { assertCut, assertVerdict, bytesOf, cutAt, outcomeOf, readCases } from "./_bodies.ts";

const CASES = readCases("openai-responses");

const create = () => createOpenAiResponsesAdapter({ now: () => 0, createId: () => "made_up" });

Deno.test("openai-responses cases are all there", () => {
  assertEquals(CASES.length, 11);
});

for (const wireCase of CASES) {
  Deno.test(`OpenAiResponsesAdapter gives the verdict of the case ${wireCase.id}`, () => {
    const body = bytesOf(wireCase);

    const outcome = outcomeOf(create(), [body]);

    assertVerdict(wireCase, outcome);
    if (wireCase.splits) assertEquals(outcomeOf(create(), cutAt(body, wireCase.splits)), outcome);
    const bytes = cutAt(body, [...body.keys()].slice(1));
    assertEquals(outcomeOf(create(), bytes), outcome);
    for (let at = 1; at < body.length; at++) {
      assertEquals(outcomeOf(create(), cutAt(body, [at])), outcome);
    }
  });
}

for (const wireCase of CASES) {
  Deno.test(`OpenAiResponsesAdapter never takes a part of the case ${wireCase.id} for the whole`, () => {
    const body = bytesOf(wireCase);
    const whole = outcomeOf(create(), [body]);

    for (let at = 0; at < body.length; at++) {
      assertCut(outcomeOf(create(), [body.subarray(0, at)]), whole);
    }
  });
}
