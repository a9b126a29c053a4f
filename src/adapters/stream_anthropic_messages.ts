import type { StreamEventReader } from "../wire/_event_reader.ts";
import {
  type ResponseSource,
  streamResponse,
  type StreamResponseOptions,
} from "./_stream_response.ts";
import { createAnthropicMessagesAdapter } from "./anthropic_messages.ts";

/**
 * Reads the events of a streamed response of Anthropic's Messages API, whatever becomes of it.
 *
 * The events are validated, and always end in one terminal event: a refused status, another content
 * type, a body that is wrong, breaks or stalls, and an abort all become an `error` event, whose message
 * says what is known of it. `result()` gives the message of the terminal event; it rejects only where
 * `response` is none. Leaving the loop lets the body go, and ends the message as `aborted`.
 *
 * @param response A response, its body, the stream of the provider's own client, or a promise of one.
 * @param options How to read it.
 * @returns The events, for one loop; and `result()`, which is enough by itself.
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
