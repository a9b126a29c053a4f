import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { type AssistantMessage, createStreamEventValidator, toStreamEvents } from "../mod.ts";

const MESSAGE: AssistantMessage = {
  role: "assistant",
  content: [
    { type: "thinking", thinking: "" },
    { type: "text", text: "a😀b" },
    { type: "tool_call", id: "call_1", name: "lookup", arguments: { city: "Łódź 😀" } },
  ],
  provider: "demo",
  model: "demo-1",
  usage: {
    input: 1,
    output: 2,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 3,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  },
  timestamp: 0,
  stopReason: "tool_use",
};

const FAILED: AssistantMessage = { ...MESSAGE, stopReason: "aborted", errorMessage: "Stopped" };

Deno.test("toStreamEvents makes a legal stream whatever the length of its deltas", () => {
  for (const message of [MESSAGE, FAILED]) {
    for (const deltaLength of [1, 2, 3, 7, 100, Infinity]) {
      const validator = createStreamEventValidator();
      const events = toStreamEvents(message, { deltaLength });
      for (const event of events) validator.accept(event);
      validator.end();
      const last = events.at(-1);
      assertStrictEquals(last && "message" in last ? last.message : undefined, message);
      assertEquals(validator.partialContent(), [...message.content]);
    }
  }
});

Deno.test("toStreamEvents keeps surrogate pairs whole and makes no empty delta", () => {
  const deltas = toStreamEvents(MESSAGE, { deltaLength: 1 })
    .flatMap((event) => event.type === "text_delta" ? [event.delta] : []);
  assertEquals(deltas, ["a", "😀", "b"]);
  const thinking = toStreamEvents(MESSAGE).filter((event) => event.type === "thinking_delta");
  assertEquals(thinking, []);
});

Deno.test("toStreamEvents refuses what it cannot stream", () => {
  for (const deltaLength of [0, -1, 1.5, NaN]) {
    assertThrows(
      () => toStreamEvents(MESSAGE, { deltaLength }),
      RangeError,
      `Expected deltaLength to be a whole number from 1 on or Infinity, received ${deltaLength}`,
    );
  }
  assertThrows(
    () => toStreamEvents({ ...MESSAGE, content: undefined } as unknown as AssistantMessage),
    TypeError,
    "Expected a message with a content array, received content undefined",
  );
  assertThrows(
    () =>
      toStreamEvents({ ...MESSAGE, content: [{ type: "image" }] } as unknown as AssistantMessage),
    TypeError,
    "Expected content[0] to be a text, thinking or tool_call block",
  );
});
