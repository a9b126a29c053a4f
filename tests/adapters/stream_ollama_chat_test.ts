import { assertEquals } from "@std/assert";
import { streamOllamaChat } from "../../src/adapters/stream_ollama_chat.ts";
import { readRecordings } from "./_recordings.ts";
import { testStreamFunction } from "./_stream_suite.ts";

testStreamFunction({
  name: "streamOllamaChat",
  stream: streamOllamaChat,
  contentType: "application/x-ndjson",
  requestIdHeader: "x-request-id",
  body: readRecordings("ollama").find(({ name }) => name === "text")?.body as Uint8Array,
});

Deno.test("streamOllamaChat quotes the error of a refused request", async () => {
  const response = Response.json({ error: "model 'm' not found" }, { status: 404 });

  const message = await streamOllamaChat(response).result();

  assertEquals(message.errorMessage, "HTTP status 404: model 'm' not found");
});
