import { assert, assertEquals } from "@std/assert";
import { type StreamEvent, StreamEventValidatorStream } from "../../mod.ts";
import { createAnthropicMessagesAdapter } from "../../src/adapters/anthropic_messages.ts";
import { AnthropicMessagesDecoderStream } from "../../src/adapters/anthropic_messages_decoder_stream.ts";
import { assertPart, cutAt, decode } from "./_bodies.ts";
import { readRecordings } from "./_recordings.ts";

const OPTIONS = { now: () => 0 };

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

for (const { name, body } of readRecordings("anthropic")) {
  Deno.test(`AnthropicMessagesDecoderStream makes the adapter's events of ${name}`, async () => {
    const chunks = cutAt(body, [1, 50, 51, 600, 1_000].filter((at) => at < body.length));

    const events = await collect(
      bodyOf(chunks)
        .pipeThrough(new AnthropicMessagesDecoderStream(OPTIONS))
        .pipeThrough(new StreamEventValidatorStream()),
    );

    assertEquals(events, decode(createAnthropicMessagesAdapter(OPTIONS), [body]));
  });
}

Deno.test("AnthropicMessagesDecoderStream ends in an event when the body breaks", async () => {
  const [recording] = readRecordings("anthropic");
  const body = recording?.body as Uint8Array;
  const whole = decode(createAnthropicMessagesAdapter(OPTIONS), [body]).at(-1);
  assert(whole?.type === "done");

  const events = await collect(
    bodyOf([body.subarray(0, 1_200)], new Error("reset"))
      .pipeThrough(new AnthropicMessagesDecoderStream(OPTIONS))
      .pipeThrough(new StreamEventValidatorStream()),
  );

  const last = events.at(-1);
  assert(last?.type === "error");
  assertEquals(last.message.errorMessage, "The connection broke: reset");
  assert(last.message.content.length > 0);
  assertPart(last.message.content, whole.message.content);
});
