import { assertEquals } from "@std/assert";
import { createOllamaChatAdapter } from "../../src/adapters/ollama_chat.ts";
import { OllamaChatDecoderStream } from "../../src/adapters/ollama_chat_decoder_stream.ts";
import { OPTIONS, readAll, testDecoderStream } from "./_decoder_suite.ts";

testDecoderStream({
  name: "OllamaChatDecoderStream",
  wire: "ollama",
  create: (options) => new OllamaChatDecoderStream(options),
  createAdapter: createOllamaChatAdapter,
  format: "ndjson",
});

Deno.test("OllamaChatDecoderStream lets a body go that is held open after the last line", async () => {
  let cancelled = 0;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"done":true}\n')),
    cancel() {
      cancelled++;
    },
  });

  const events = await readAll(body.pipeThrough(new OllamaChatDecoderStream(OPTIONS)));

  assertEquals(events.at(-1)?.type, "done");
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(cancelled, 1);
});
