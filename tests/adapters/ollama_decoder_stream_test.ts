import { assert, assertEquals } from "@std/assert";
import { type StreamEvent, StreamEventValidatorStream } from "../../mod.ts";
import { createOllamaChatAdapter } from "../../src/adapters/ollama_chat.ts";
import { OllamaChatDecoderStream } from "../../src/adapters/ollama_chat_decoder_stream.ts";
import { assertPart, cutAt, decode } from "./_bodies.ts";
import { readRecordings } from "./_recordings.ts";

const OPTIONS = { now: () => 0, createId: () => "made_up" };

/** A body that comes in these chunks, and then ends or breaks. */
function bodyOf(chunks: Iterable<Uint8Array>, error?: Error): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]();
  return new ReadableStream({
    pull(controller) {
      const { done, value } = iterator.next();
      if (!done) controller.enqueue(value);
      else if (error) controller.error(error);
      else controller.close();
    },
  });
}

async function collect(events: ReadableStream<StreamEvent>): Promise<StreamEvent[]> {
  const all: StreamEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

for (const { name, body } of readRecordings("ollama")) {
  Deno.test(`OllamaChatDecoderStream makes the adapter's events of ${name}`, async () => {
    const chunks = cutAt(body, [1, 50, 51, 600].filter((at) => at < body.length));

    const events = await collect(
      bodyOf(chunks)
        .pipeThrough(new OllamaChatDecoderStream(OPTIONS))
        .pipeThrough(new StreamEventValidatorStream()),
    );

    assertEquals(events, decode(createOllamaChatAdapter(OPTIONS), [body], "ndjson"));
  });
}

Deno.test("OllamaChatDecoderStream ends in an event when the body breaks", async () => {
  const body = readRecordings("ollama").find(({ name }) => name === "thinking")?.body as Uint8Array;
  const whole = decode(createOllamaChatAdapter(OPTIONS), [body], "ndjson").at(-1);
  assert(whole?.type === "done");

  const events = await collect(
    bodyOf([body.subarray(0, 1_200)], new Error("reset"))
      .pipeThrough(new OllamaChatDecoderStream(OPTIONS))
      .pipeThrough(new StreamEventValidatorStream()),
  );

  const last = events.at(-1);
  assert(last?.type === "error");
  assertEquals(last.message.errorMessage, "The connection broke: reset");
  assert(last.message.content.length > 0);
  assertPart(last.message.content, whole.message.content);
});

Deno.test("OllamaChatDecoderStream lets a body go that is held open after the last line", async () => {
  let cancelled = 0;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"done":true}\n')),
    cancel() {
      cancelled++;
    },
  });

  const events = await collect(body.pipeThrough(new OllamaChatDecoderStream(OPTIONS)));

  assertEquals(events.at(-1)?.type, "done");
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(cancelled, 1);
});
