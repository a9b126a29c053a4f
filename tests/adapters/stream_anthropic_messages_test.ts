import { assertEquals } from "@std/assert";
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

Deno.test("streamAnthropicMessages knows the request's id by the header of a cloud", async () => {
  const requestIdOf = async (headers: Record<string, string>) => {
    const message = await streamAnthropicMessages(new Response("", { headers })).result();
    return message.stopReason === "error" && message.errorDetails?.requestId;
  };

  assertEquals(await requestIdOf({ "apim-request-id": "a" }), "a");
  assertEquals(await requestIdOf({ "x-amzn-requestid": "b" }), "b");
  assertEquals(await requestIdOf({ "x-amzn-requestid": "b", "request-id": "c" }), "c");
});
