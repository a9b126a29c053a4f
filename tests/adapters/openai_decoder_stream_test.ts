import { assert, assertEquals, assertRejects } from "@std/assert";
import { createOpenAiChatAdapter } from "../../src/adapters/openai_chat.ts";
import { createOpenAiResponsesAdapter } from "../../src/adapters/openai_responses.ts";
import {
  OpenAiChatDecoderStream,
  OpenAiResponsesDecoderStream,
} from "../../src/adapters/openai/mod.ts";
import { OPTIONS, readAll, testDecoderStream } from "./_decoder_suite.ts";
import { readRecordings } from "./_recordings.ts";

const FIRST = 'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n';
const LAST = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

const bytes = (text: string) => new TextEncoder().encode(text);

testDecoderStream({
  name: "OpenAiChatDecoderStream",
  wire: "openai-chat",
  create: (options) => new OpenAiChatDecoderStream(options),
  createAdapter: createOpenAiChatAdapter,
});

testDecoderStream({
  name: "OpenAiResponsesDecoderStream",
  wire: "openai-responses",
  create: (options) => new OpenAiResponsesDecoderStream(options),
  createAdapter: createOpenAiResponsesAdapter,
});

Deno.test("OpenAiResponsesDecoderStream says that a body was cut", async () => {
  const [recording] = readRecordings("openai-responses");
  const response = new Response(recording?.body.slice(0, -100));
  const stream = response.body?.pipeThrough(new OpenAiResponsesDecoderStream(OPTIONS));
  assert(stream);

  const last = (await readAll(stream)).at(-1);

  assert(last?.type === "error");
  assertEquals(last.message.errorCode, "truncated");
});

Deno.test("OpenAiChatDecoderStream makes an event of a body that breaks", async () => {
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(bytes(FIRST));
      controller.error(new Error("Connection reset"));
    },
  }, { highWaterMark: 0 });

  const events = await readAll(body.pipeThrough(new OpenAiChatDecoderStream(OPTIONS)));

  const last = events.at(-1);
  assertEquals(events[0], { type: "start" });
  assert(last?.type === "error");
  assertEquals(last.reason, "error");
  assertEquals(last.message.errorCode, "network_error");
  assert(last.message.errorMessage.includes("Connection reset"));
});

Deno.test("OpenAiChatDecoderStream makes an event of an abort while nobody reads", async () => {
  const stream = new OpenAiChatDecoderStream(OPTIONS);
  const writer = stream.writable.getWriter();
  const written = writer.write(bytes(FIRST)).catch(() => {});

  await writer.abort(new DOMException("Enough", "AbortError"));
  await written;

  const last = (await readAll(stream.readable)).at(-1);
  assert(last?.type === "error");
  assertEquals(last.reason, "aborted");
  assertEquals(last.message.errorCode, "aborted");
});

Deno.test("OpenAiChatDecoderStream lets a body go that is held open after the last frame", async () => {
  let cancelled = 0;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes(FIRST + LAST)),
    cancel() {
      cancelled++;
    },
  });

  const events = await readAll(body.pipeThrough(new OpenAiChatDecoderStream(OPTIONS)));

  assertEquals(events.at(-1)?.type, "done");
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(cancelled, 1);
});

Deno.test("OpenAiChatDecoderStream lets the body go when its reader leaves", async () => {
  let reason: unknown;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes(FIRST)),
    cancel(why) {
      reason = why;
    },
  });
  const reader = body.pipeThrough(new OpenAiChatDecoderStream(OPTIONS)).getReader();
  assertEquals(await reader.read(), { done: false, value: { type: "start" } });

  await reader.cancel("left");

  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(reason, "left");
});

Deno.test("OpenAiChatDecoderStream takes no more bytes than are read", async () => {
  let pulled = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++;
      controller.enqueue(bytes(FIRST));
    },
  }, { highWaterMark: 0 });
  const reader = body.pipeThrough(new OpenAiChatDecoderStream(OPTIONS)).getReader();

  await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 5));

  assert(pulled <= 3, `pulled ${pulled}`);
  await reader.cancel();
});

Deno.test("OpenAiChatDecoderStream refuses what is not bytes, and ends in an event", async () => {
  const stream = new OpenAiChatDecoderStream(OPTIONS);
  const writer = stream.writable.getWriter();
  const reading = readAll(stream.readable);

  const error = await assertRejects(() => writer.write("text" as unknown as Uint8Array), TypeError);

  assertEquals(error.message, "Expected a chunk to be a Uint8Array, received a string");
  const last = (await reading).at(-1);
  assert(last?.type === "error");
  assertEquals(last.message.errorCode, "malformed_frame");
});
