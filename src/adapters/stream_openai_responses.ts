import type { StreamEventReader } from "../wire/_event_reader.ts";
import { OPENAI_RESPONSE } from "./_openai_response.ts";
import {
  type ResponseSource,
  streamResponse,
  type StreamResponseOptions,
} from "./_stream_response.ts";
import { createOpenAiResponsesAdapter } from "./openai_responses.ts";

/**
 * Reads a streamed response of OpenAI's Responses API as events.
 *
 * The events are validated and always end in exactly one terminal event. An HTTP error, an
 * unexpected content type, a body that is invalid, breaks or stalls, and an abort all become an
 * `error` event; its message has what is known about the failure. `result()` resolves with the
 * message of the terminal event; it rejects only if `response` is of the wrong kind or already
 * being read. Leaving the loop cancels the body, and the message is then `aborted`.
 *
 * @param response A response, its body, the stream of the provider's own client, or a promise of
 * any of them.
 * @param options How to read it.
 * @returns The events, for one loop. `result()` also works without a loop.
 * @throws {TypeError} An option is of the wrong kind.
 * @throws {RangeError} `idleTimeout` or a limit is out of range.
 *
 * @example A response that was cut off
 * ```ts
 * import { streamOpenAiResponses } from "@agent-stream/validator/openai";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const response = new Response(
 *   'data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}\n\n' +
 *     'data: {"type":"response.output_text.delta","output_index":0,"delta":"Hello, wor"}\n\n',
 *   { headers: { "content-type": "text/event-stream", "x-request-id": "req_1" } },
 * );
 *
 * const message = await streamOpenAiResponses(response).result();
 * assert(message.stopReason === "error");
 * assertEquals(message.errorCode, "truncated");
 * assertEquals(message.errorDetails, { requestId: "req_1" });
 * assertEquals(message.content, [{ type: "text", text: "Hello, wor" }]);
 * ```
 */
export function streamOpenAiResponses(
  response: ResponseSource | PromiseLike<ResponseSource>,
  options: StreamResponseOptions = {},
): StreamEventReader {
  return streamResponse(response, createOpenAiResponsesAdapter(options), OPENAI_RESPONSE, options);
}
