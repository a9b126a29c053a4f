import type { StreamEvent } from "../types.ts";
import type { AdapterOptions } from "./_adapter.ts";
import { connectDecoder } from "./_decoder_stream.ts";
import { createOpenAiChatAdapter } from "./openai_chat.ts";

/**
 * Decodes the body of a streamed Chat Completions response, of the API or of the many servers that
 * imitate it, to events.
 *
 * The output is a valid stream whatever the input is: a body that is invalid or breaks ends in an
 * `error` event. After the terminal event, the body is cancelled, as with `terminate()`.
 *
 * It decodes a chunk only when a reader is waiting and no decoded event is left: the high-water
 * mark of the readable side is 0, that of the writable side is 1.
 *
 * @example Decoding a body
 * ```ts
 * import { StreamEventValidatorStream } from "@agent-stream/validator";
 * import { OpenAiChatDecoderStream } from "@agent-stream/validator/openai";
 * import { assertEquals } from "@std/assert";
 *
 * const response = new Response(
 *   'data: {"model":"m","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}\n\n' +
 *     'data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n' +
 *     "data: [DONE]\n\n",
 * );
 * const validator = new StreamEventValidatorStream();
 * const events = response.body!.pipeThrough(new OpenAiChatDecoderStream()).pipeThrough(validator);
 * await events.pipeTo(new WritableStream());
 *
 * const message = await validator.result();
 * assertEquals(message.content, [{ type: "text", text: "Hello" }]);
 * ```
 */
export class OpenAiChatDecoderStream extends TransformStream<Uint8Array, StreamEvent> {
  /**
   * Creates a decoder for one body.
   *
   * @param options What the response does not say.
   * @throws {TypeError} An option is of the wrong kind.
   * @throws {RangeError} A limit is out of range.
   */
  constructor(options: AdapterOptions = {}) {
    const adapter = createOpenAiChatAdapter(options);
    super();
    connectDecoder(this, adapter, "sse");
  }
}
