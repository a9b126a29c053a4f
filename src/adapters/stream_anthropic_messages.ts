import type { StreamEventReader } from "../wire/_event_reader.ts";
import {
  type ResponseSource,
  streamResponse,
  type StreamResponseOptions,
} from "./_stream_response.ts";
import { createAnthropicMessagesAdapter } from "./anthropic_messages.ts";

/**
 * Reads a streamed response of Anthropic's Messages API as events.
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
 * @example A refused request
 * ```ts
 * import { streamAnthropicMessages } from "@agent-stream/validator/anthropic";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const error = { type: "overloaded_error", message: "Overloaded" };
 * const response = Response.json({ type: "error", error }, {
 *   status: 529,
 *   headers: { "request-id": "req_1", "retry-after": "2" },
 * });
 *
 * const message = await streamAnthropicMessages(response).result();
 * assert(message.stopReason === "error");
 * assertEquals(message.errorCode, "http_error");
 * assertEquals(message.errorMessage, "HTTP status 529: Overloaded");
 * assertEquals(message.errorDetails, {
 *   providerErrorType: "overloaded_error",
 *   status: 529,
 *   retryAfter: 2000,
 *   requestId: "req_1",
 * });
 * ```
 */
export function streamAnthropicMessages(
  response: ResponseSource | PromiseLike<ResponseSource>,
  options: StreamResponseOptions = {},
): StreamEventReader {
  return streamResponse(response, createAnthropicMessagesAdapter(options), {
    format: "sse",
    contentTypes: ["text/event-stream"],
    // The last two of clouds that serve the API.
    requestIdHeaders: ["request-id", "x-request-id", "apim-request-id", "x-amzn-requestid"],
  }, options);
}
