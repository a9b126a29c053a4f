import type { StreamEventReader } from "../wire/_event_reader.ts";
import { OPENAI_RESPONSE } from "./_openai_response.ts";
import {
  type ResponseSource,
  streamResponse,
  type StreamResponseOptions,
} from "./_stream_response.ts";
import { createOpenAiChatAdapter } from "./openai_chat.ts";

/**
 * Reads a streamed Chat Completions response as events, from OpenAI's API or from one of the many
 * servers that imitate it.
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
 * @example The text as it arrives, and the message
 * ```ts
 * import { streamOpenAiChat } from "@agent-stream/validator/openai";
 * import { assertEquals } from "@std/assert";
 *
 * const response = new Response(
 *   'data: {"model":"m","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}\n\n' +
 *     'data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n' +
 *     "data: [DONE]\n\n",
 *   { headers: { "content-type": "text/event-stream" } },
 * );
 *
 * let text = "";
 * const stream = streamOpenAiChat(response);
 * for await (const event of stream) if (event.type === "text_delta") text += event.delta;
 *
 * const message = await stream.result();
 * assertEquals(text, "Hello");
 * assertEquals(message.stopReason, "stop");
 * ```
 */
export function streamOpenAiChat(
  response: ResponseSource | PromiseLike<ResponseSource>,
  options: StreamResponseOptions = {},
): StreamEventReader {
  return streamResponse(response, createOpenAiChatAdapter(options), OPENAI_RESPONSE, options);
}
