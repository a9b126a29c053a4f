import { streamAnthropicMessages } from "../../src/adapters/stream_anthropic_messages.ts";
import { readRecordings } from "./_recordings.ts";
import { testStreamFunction } from "./_stream_suite.ts";

testStreamFunction({
  name: "streamAnthropicMessages",
  stream: streamAnthropicMessages,
  contentType: "text/event-stream",
  requestIdHeader: "request-id",
  body: readRecordings("anthropic").find(({ name }) => name === "text")?.body as Uint8Array,
});
