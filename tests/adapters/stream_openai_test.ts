import { assert, assertEquals } from "@std/assert";
import { streamOpenAiChat } from "../../src/adapters/stream_openai_chat.ts";
import { streamOpenAiResponses } from "../../src/adapters/stream_openai_responses.ts";
import { readRecordings } from "./_recordings.ts";
import { testStreamFunction } from "./_stream_suite.ts";

testStreamFunction({
  name: "streamOpenAiChat",
  stream: streamOpenAiChat,
  contentType: "text/event-stream",
  requestIdHeader: "x-request-id",
  body: readRecordings("openai-chat").find(({ name }) => name === "text")?.body as Uint8Array,
});

Deno.test("streamOpenAiChat gives the status that an error says, where that of the response is good", async () => {
  const body = { error: { message: "Slow down", code: 429 } };
  const message = await streamOpenAiChat(Response.json(body)).result();

  assert(message.stopReason === "error");
  assertEquals(message.errorCode, "provider_error");
  assertEquals(message.errorDetails, { status: 429 });
});

Deno.test("streamOpenAiChat finds the error of MiniMax in an answer that is no stream", async () => {
  const body = { base_resp: { status_code: 1008, status_msg: "insufficient balance" } };
  const message = await streamOpenAiChat(Response.json(body)).result();

  assert(message.stopReason === "error");
  assertEquals(message.errorCode, "provider_error");
  assertEquals(message.errorMessage, "insufficient balance");
  assertEquals(message.errorDetails, { providerErrorType: "1008", status: 200 });
});

testStreamFunction({
  name: "streamOpenAiResponses",
  stream: streamOpenAiResponses,
  contentType: "text/event-stream",
  requestIdHeader: "x-request-id",
  body: readRecordings("openai-responses").find(({ name }) => name === "text")?.body as Uint8Array,
});
