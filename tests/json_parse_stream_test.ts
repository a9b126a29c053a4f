import { assertEquals, assertRejects } from "@std/assert";
import { JsonParseStream } from "@std/json";
import {
  type AssistantMessage,
  StreamEventValidatorStream,
  StreamSequenceError,
  toStreamEvents,
} from "../mod.ts";
import { USAGE } from "./_usage.ts";

const MESSAGE: AssistantMessage = {
  role: "assistant",
  content: [{ type: "text", text: "Hello" }],
  provider: "demo",
  model: "demo-1",
  usage: USAGE,
  timestamp: 0,
  stopReason: "stop",
};

/** Splits text into lines, as people put it before `JsonParseStream`. */
class LineStream extends TransformStream<string, string> {
  constructor() {
    let rest = "";
    super({
      transform(chunk, controller) {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) controller.enqueue(line);
      },
      flush(controller) {
        controller.enqueue(rest);
      },
    });
  }
}

function pipe(lines: readonly unknown[]) {
  const response = new Response(lines.map((line) => JSON.stringify(line)).join("\n"));
  const validator = new StreamEventValidatorStream();
  const events = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>)
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new LineStream())
    .pipeThrough(new JsonParseStream())
    .pipeThrough(validator);
  return { events, validator };
}

Deno.test("StreamEventValidatorStream takes what JsonParseStream gives", async () => {
  const { events, validator } = pipe(toStreamEvents(MESSAGE, { deltaLength: 2 }));
  let text = "";
  for await (const event of events) if (event.type === "text_delta") text += event.delta;
  assertEquals(text, "Hello");
  assertEquals(await validator.result(), MESSAGE);
});

Deno.test("StreamEventValidatorStream refuses JSON that is no event", async () => {
  for (const value of [null, 7, "text", [], {}]) {
    const { events } = pipe([{ type: "start" }, value]);
    const reader = events.getReader();
    await reader.read();
    const error = await assertRejects(() => reader.read(), StreamSequenceError);
    assertEquals([error.code, error.eventIndex], ["malformed_event", 1]);
  }
});
