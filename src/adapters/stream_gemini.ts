import type { StreamEventReader } from "../wire/_event_reader.ts";
import {
  type ResponseSource,
  streamResponse,
  type StreamResponseOptions,
} from "./_stream_response.ts";
import { createGeminiAdapter } from "./gemini.ts";

/**
 * Reads a response of Gemini's `streamGenerateContent?alt=sse` as events.
 *
 * The events are validated and always end in exactly one terminal event. An HTTP error, an
 * unexpected content type, a body that is invalid, breaks or stalls, and an abort all become an
 * `error` event; its message has what is known about the failure. `result()` resolves with the
 * message of the terminal event; it rejects only if `response` is of the wrong kind or already
 * being read. Leaving the loop cancels the body, and the message is then `aborted`.
 *
 * Without `alt=sse`, the API responds with a JSON array, which is rejected. This format has no end
 * marker, so a response ends with its body: set `idleTimeout` in case a server holds the body open.
 *
 * Google's own client continues its request when its stream is left, unless the `abortSignal` in its
 * `config` aborts. With callable tools, it runs their calls itself and asks again: that is more than
 * one response, and ends in an error at the first result.
 *
 * @param response A response, its body, the stream of the provider's own client, or a promise of
 * any of them.
 * @param options How to read it.
 * @returns The events, for one loop. `result()` also works without a loop.
 * @throws {TypeError} An option is of the wrong kind.
 * @throws {RangeError} `idleTimeout` or a limit is out of range.
 *
 * @example A tool call
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
 * assertEquals(message.stopReason, "tool_use"); // the API says STOP
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
