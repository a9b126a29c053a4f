import type { StreamEventReader } from "../wire/_event_reader.ts";
import {
  type ResponseSource,
  streamResponse,
  type StreamResponseOptions,
} from "./_stream_response.ts";
import { createOllamaChatAdapter } from "./ollama_chat.ts";

/**
 * Reads a streamed response of Ollama's `/api/chat` as events.
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
 * @example An error after the first words
 * ```ts
 * import { streamOllamaChat } from "@agent-stream/validator/ollama";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const response = new Response(
 *   '{"model":"m","message":{"role":"assistant","content":"Hel"},"done":false}\n' +
 *     '{"error":"model runner: unexpected EOF"}\n',
 *   { headers: { "content-type": "application/x-ndjson" } },
 * );
 *
 * const message = await streamOllamaChat(response).result();
 * assert(message.stopReason === "error");
 * assertEquals(message.errorCode, "provider_error");
 * assertEquals(message.errorMessage, "model runner: unexpected EOF");
 * assertEquals(message.content, [{ type: "text", text: "Hel" }]);
 * ```
 */
export function streamOllamaChat(
  response: ResponseSource | PromiseLike<ResponseSource>,
  options: StreamResponseOptions = {},
): StreamEventReader {
  return streamResponse(response, createOllamaChatAdapter(options), {
    format: "ndjson",
    contentTypes: ["application/x-ndjson", "application/ndjson"],
    requestIdHeaders: ["x-request-id"],
  }, options);
}
