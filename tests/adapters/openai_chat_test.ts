import { assertEquals } from "@std/assert";
import { createOpenAiChatAdapter } from "../../src/adapters/openai_chat.ts";
import {
  assertCut,
  assertPart,
  assertVerdict,
  bytesOf,
  cutAt,
  outcomeOf,
  readCases,
  type WireCase,
} from "./_bodies.ts";

const CASES = readCases("openai-chat");

const create = () => createOpenAiChatAdapter({ now: () => 0, createId: () => "made_up" });

Deno.test("openai-chat cases are all there", () => {
  assertEquals(CASES.length, 48);
});

for (const wireCase of CASES) {
  Deno.test(`OpenAiChatAdapter gives the verdict of the case ${wireCase.id}`, () => {
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

/** Bodies that a cut can turn into another whole one; what is held of them is said below. */
const CUT_TO_WHOLE = ["oc-finish-stop-every-chunk", "oc-json-concatenated"];

for (const wireCase of CASES.filter(({ id }) => !CUT_TO_WHOLE.includes(id))) {
  Deno.test(`OpenAiChatAdapter never takes a part of the case ${wireCase.id} for the whole`, () => {
    const body = bytesOf(wireCase);
    const whole = outcomeOf(create(), [body]);

    for (let at = 0; at < body.length; at++) {
      assertCut(outcomeOf(create(), [body.subarray(0, at)]), whole);
    }
  });
}

Deno.test("OpenAiChatAdapter keeps what came when a body that stops in each chunk is cut", () => {
  const wireCase = CASES.find(({ id }) => id === "oc-finish-stop-every-chunk");
  const body = bytesOf(wireCase as WireCase);

  for (let at = 0; at < body.length; at++) {
    const { message } = outcomeOf(create(), [body.subarray(0, at)]);
    assertPart(message.content, [{ type: "text", text: "Blue kite sky" }]);
  }
});

Deno.test("OpenAiChatAdapter takes none of two glued chunks for the whole, wherever cut", () => {
  const wireCase = CASES.find(({ id }) => id === "oc-json-concatenated");
  const body = bytesOf(wireCase as WireCase);

  for (let at = 0; at < body.length; at++) {
    const { terminal, message } = outcomeOf(create(), [body.subarray(0, at)]);
    assertEquals(terminal, "error:error");
    assertPart(message.content, [{ type: "text", text: "Blue" }]);
  }
});
