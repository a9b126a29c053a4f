import type { StreamEventReader } from "../wire/_event_reader.ts";
import { OPENAI_RESPONSE } from "./_openai_response.ts";
import {
  type ResponseSource,
  streamResponse,
  type StreamResponseOptions,
} from "./_stream_response.ts";
import { createOpenAiChatAdapter } from "./openai_chat.ts";

/**
 * Reads the events of a streamed Chat Completions response, of the API or of
 * the many servers that imitate it, whatever becomes of it.
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
 * @example The text as it comes, and the message
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
