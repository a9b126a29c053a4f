import type { StreamEvent } from "../types.ts";
import type { AdapterOptions } from "./_adapter.ts";
import { connectDecoder } from "./_decoder_stream.ts";
import { createAnthropicMessagesAdapter } from "./anthropic_messages.ts";

/**
 * Decodes the body of a streamed response of Anthropic's Messages API to events.
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
 * import { AnthropicMessagesDecoderStream } from "@agent-stream/validator/anthropic";
 * import { assertEquals } from "@std/assert";
 *
 * const response = new Response([
 *   { type: "message_start", message: { model: "m", usage: { input_tokens: 9 } } },
 *   { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
 *   { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
 *   { type: "content_block_stop", index: 0 },
 *   { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
 *   { type: "message_stop" },
 * ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
 * const validator = new StreamEventValidatorStream();
 * const events = response.body!
 *   .pipeThrough(new AnthropicMessagesDecoderStream())
 *   .pipeThrough(validator);
 * await events.pipeTo(new WritableStream());
 *
 * const message = await validator.result();
 * assertEquals(message.content, [{ type: "text", text: "Hello" }]);
 * ```
 */
export class AnthropicMessagesDecoderStream extends TransformStream<Uint8Array, StreamEvent> {
  /**
   * Creates a decoder for one body.
   *
   * @param options What the response does not say.
   * @throws {TypeError} An option is of the wrong kind.
   * @throws {RangeError} A limit is out of range.
   */
  constructor(options: AdapterOptions = {}) {
    const adapter = createAnthropicMessagesAdapter(options);
    super();
    connectDecoder(this, adapter, "sse");
  }
}
