import { assert, assertEquals } from "@std/assert";
import { type AssistantMessage, createStreamEventValidator } from "../../mod.ts";
import { streamOpenAiChat, streamOpenAiResponses } from "../../src/adapters/openai/mod.ts";
import { END, head, httpChunk, type Misbehaviour, send, withServer } from "./_bad_server.ts";

const SSE = { "content-type": "text/event-stream; charset=utf-8", "x-request-id": "req_1" };
const JSON_TYPE = { "content-type": "application/json", "x-request-id": "req_1" };

/** The functions, each with the beginning of a body that has the text "Hi", and with its rest. */
const FUNCTIONS = [
  {
    name: "streamOpenAiChat",
    stream: streamOpenAiChat,
    first: 'data: {"model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n',
    rest: 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  },
  {
    name: "streamOpenAiResponses",
    stream: streamOpenAiResponses,
    first: 'data: {"type":"response.output_item.added","output_index":0,' +
      '"item":{"type":"message","id":"m","content":[]}}\n\n' +
      'data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hi"}\n\n',
    rest: 'data: {"type":"response.completed","response":{"status":"completed","output":[]}}\n\n',
  },
] as const;

interface Trouble {
  readonly serve: (first: string, rest: string) => Misbehaviour;
  readonly options?: () => Readonly<Parameters<typeof streamOpenAiChat>[1]>;
  /** The code, or the reason of a message that succeeded. */
  readonly outcome: string;
  readonly text?: string;
  readonly words?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

const TROUBLES: Readonly<Record<string, Trouble>> = {
  "is healthy": {
    serve: (first, rest) => (connection) =>
      send(connection, head("200 OK", SSE) + httpChunk(first) + httpChunk(rest) + END),
    outcome: "stop",
    text: "Hi",
  },
  "holds the body open after the last frame": {
    serve: (first, rest) => (connection) =>
      send(connection, head("200 OK", SSE) + httpChunk(first + rest)),
    outcome: "stop",
    text: "Hi",
  },
  "ends too early": {
    serve: (first) => (connection) =>
      send(connection, head("200 OK", SSE) + httpChunk(first) + END),
    outcome: "truncated",
    text: "Hi",
    details: { requestId: "req_1" },
  },
  "ends in the middle of a frame": {
    serve: (first, rest) => (connection) =>
      send(connection, head("200 OK", SSE) + httpChunk(first + rest.slice(0, 20)) + END),
    outcome: "truncated",
    text: "Hi",
  },
  "closes the connection in the middle of a chunk": {
    serve: (first) => async (connection) => {
      await send(connection, `${head("200 OK", SSE)}${httpChunk(first)}ff\r\ndata`);
      connection.close();
    },
    outcome: "network_error",
    text: "Hi",
  },
  "stalls": {
    serve: (first) => (connection) => send(connection, head("200 OK", SSE) + httpChunk(first)),
    options: () => ({ idleTimeout: 50 }),
    outcome: "idle_timeout",
    text: "Hi",
  },
  "never answers": {
    serve: () => async () => {},
    options: () => ({ idleTimeout: 50 }),
    outcome: "idle_timeout",
  },
  "is aborted": {
    serve: (first) => (connection) => send(connection, head("200 OK", SSE) + httpChunk(first)),
    options: () => ({ signal: AbortSignal.timeout(50) }),
    outcome: "aborted",
    text: "Hi",
  },
  "is aborted before it begins": {
    serve: (first, rest) => (connection) =>
      send(connection, head("200 OK", SSE) + httpChunk(first + rest) + END),
    options: () => ({ signal: AbortSignal.abort() }),
    outcome: "aborted",
  },
  "refuses for a while": {
    serve: () => (connection) =>
      send(
        connection,
        head("429 Too Many Requests", { ...JSON_TYPE, "retry-after": "7" }) +
          httpChunk('{"error":{"message":"Slow down","type":"rate_limit_error"}}') + END,
      ),
    outcome: "http_error",
    words: "Slow down",
    details: {
      providerErrorType: "rate_limit_error",
      status: 429,
      retryAfter: 7_000,
      requestId: "req_1",
    },
  },
  "fails with a page": {
    serve: () => (connection) =>
      send(
        connection,
        head("502 Bad Gateway", { "content-type": "text/html" }) +
          httpChunk("<html><title>Bad gateway</title></html>") + END,
      ),
    outcome: "http_error",
    details: { status: 502 },
  },
  "is a page": {
    serve: () => (connection) =>
      send(
        connection,
        head("200 OK", { "content-type": "text/html" }) + httpChunk("<html>Log in</html>") + END,
      ),
    outcome: "unexpected_content_type",
  },
  "is an error under status 200": {
    serve: () => (connection) =>
      send(
        connection,
        head("200 OK", JSON_TYPE) + httpChunk('{"error":{"message":"Too long","code":400}}') + END,
      ),
    outcome: "provider_error",
    words: "Too long",
  },
  "has no body": {
    serve: () => (connection) => send(connection, head("200 OK", SSE) + END),
    outcome: "truncated",
  },
};

for (const { name, stream, first, rest } of FUNCTIONS) {
  for (const [what, trouble] of Object.entries(TROUBLES)) {
    Deno.test(`${name} ends in an event when the response ${what}`, async () => {
      const message = await withServer(trouble.serve(first, rest), async (url) => {
        const controller = new AbortController();
        const events = stream(fetch(url, { signal: controller.signal }), trouble.options?.());
        const validator = createStreamEventValidator();
        for await (const event of events) validator.accept(event);
        validator.end();
        const result: AssistantMessage = await events.result();
        controller.abort();
        return result;
      });

      const { outcome, text, words, details } = trouble;
      assertEquals(message.content, text === undefined ? [] : [{ type: "text", text }]);
      if (message.stopReason !== "error" && message.stopReason !== "aborted") {
        assertEquals(message.stopReason, outcome);
        return;
      }
      assertEquals(message.errorCode, outcome);
      assertEquals(message.stopReason, outcome === "aborted" ? "aborted" : "error");
      if (words !== undefined) assert(message.errorMessage.includes(words), message.errorMessage);
      if (details) assertEquals({ ...message.errorDetails }, details);
    });
  }

  Deno.test(`${name} ends in an event when there is no server`, async () => {
    const url = await withServer(async () => {}, (url) => Promise.resolve(url));

    const message = await stream(fetch(url)).result();

    assert(message.stopReason === "error");
    assertEquals(message.errorCode, "network_error");
  });

  Deno.test(`${name} lets the response go when the loop is left`, async () => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(first)),
      cancel() {
        isCancelled = true;
      },
    });
    const events = stream(new Response(body, { headers: SSE }));

    for await (const { type } of events) if (type === "text_delta") break;

    assertEquals((await events.result()).stopReason, "aborted");
    assert(isCancelled);
  });
}
