import { assertEquals } from "@std/assert";
import { streamGemini } from "../../src/adapters/stream_gemini.ts";
import { readRecordings } from "./_recordings.ts";
import { testStreamFunction } from "./_stream_suite.ts";

testStreamFunction({
  name: "streamGemini",
  stream: streamGemini,
  contentType: "text/event-stream",
  requestIdHeader: "x-request-id",
  body: readRecordings("gemini").find(({ name }) => name === "text")?.body as Uint8Array,
  hasEnd: false,
});

Deno.test("streamGemini reads from a refused request when to come again", async () => {
  const error = {
    code: 429,
    message: "You exceeded your current quota",
    status: "RESOURCE_EXHAUSTED",
    details: [
      { "@type": "type.googleapis.com/google.rpc.Help", links: [] },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "31.5s" },
    ],
  };

  for (const body of [{ error }, [{ error }]]) {
    const message = await streamGemini(Response.json(body, { status: 429 })).result();

    assertEquals(message.errorMessage, "HTTP status 429: You exceeded your current quota");
    assertEquals(message.stopReason === "error" && message.errorDetails, {
      providerErrorType: "RESOURCE_EXHAUSTED",
      status: 429,
      retryAfter: 31_500,
    });
  }
});

Deno.test("streamGemini finds the error in the JSON array of a request without alt=sse", async () => {
  const error = { code: 503, message: "The model is overloaded", status: "UNAVAILABLE" };
  const body = [{ candidates: [{ content: { parts: [{ text: "Hi" }] } }] }, { error }];

  const message = await streamGemini(Response.json(body)).result();

  assertEquals(message.stopReason === "error" && message.errorCode, "provider_error");
  assertEquals(message.errorMessage, "The model is overloaded");
});

Deno.test("streamGemini refuses the JSON array of a request without alt=sse", async () => {
  const body = [{ candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }] }];

  const message = await streamGemini(Response.json(body)).result();

  assertEquals(message.stopReason === "error" && message.errorCode, "unexpected_content_type");
});
