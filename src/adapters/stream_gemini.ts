import type { StreamEventReader } from "../wire/_event_reader.ts";
import {
  type ResponseSource,
  streamResponse,
  type StreamResponseOptions,
} from "./_stream_response.ts";
import { createGeminiAdapter } from "./gemini.ts";

/**
 * Reads the events of a response of Gemini's `streamGenerateContent?alt=sse`, whatever becomes of it.
 *
 * The events are validated, and always end in one terminal event: a refused status, another content
 * type, a body that is wrong, breaks or stalls, and an abort all become an `error` event, whose message
 * says what is known of it. `result()` gives the message of the terminal event; it rejects only where
 * `response` is none. Leaving the loop lets the body go, and ends the message as `aborted`.
 *
 * Without `alt=sse` the API answers with a JSON array, which is refused. A response ends with its body,
 * for this wire has no end marker: against a server that holds the body open, set `idleTimeout`.
 *
 * @param response A response, its body, the stream of the provider's own client, or a promise of one.
 * @param options How to read it.
 * @returns The events, for one loop; and `result()`, which is enough by itself.
 * @throws {TypeError} An option is of the wrong kind.
 * @throws {RangeError} `idleTimeout` or a limit is out of range.
 *
 * @example A call of a tool
 * ```ts
 * import { streamGemini } from "@agent-stream/validator/gemini";
 * import { assertEquals } from "@std/assert";
 *
 * const functionCall = { name: "get_tide", args: { harbour: "Bergen" } };
 * const chunk = { candidates: [{ content: { parts: [{ functionCall }] }, finishReason: "STOP" }] };
 * const response = new Response(`data: ${JSON.stringify(chunk)}\n\n`, {
 *   headers: { "content-type": "text/event-stream" },
 * });
 *
 * const message = await streamGemini(response, { createId: () => "call_1" }).result();
 * assertEquals(message.stopReason, "tool_use"); // the wire says STOP
 * assertEquals(message.content, [
 *   { type: "tool_call", id: "call_1", name: "get_tide", arguments: { harbour: "Bergen" } },
 * ]);
 * ```
 */
export function streamGemini(
  response: ResponseSource | PromiseLike<ResponseSource>,
  options: StreamResponseOptions = {},
): StreamEventReader {
  return streamResponse(response, createGeminiAdapter(options), {
    format: "sse",
    contentTypes: ["text/event-stream"],
    requestIdHeaders: ["x-request-id", "x-cloud-trace-context"],
  }, options);
}
