import type { StreamEventReader } from "../wire/_event_reader.ts";
import { OPENAI_RESPONSE } from "./_openai_response.ts";
import {
  type ResponseSource,
  streamResponse,
  type StreamResponseOptions,
} from "./_stream_response.ts";
import { createOpenAiResponsesAdapter } from "./openai_responses.ts";

/**
 * Reads the events of a streamed response of the Responses API, whatever becomes of it.
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
 * @example A response that was cut
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
