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

testStreamFunction({
  name: "streamOpenAiResponses",
  stream: streamOpenAiResponses,
  contentType: "text/event-stream",
  requestIdHeader: "x-request-id",
  body: readRecordings("openai-responses").find(({ name }) => name === "text")?.body as Uint8Array,
});
