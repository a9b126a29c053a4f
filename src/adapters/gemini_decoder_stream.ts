import type { StreamEvent } from "../types.ts";
import type { AdapterOptions } from "./_adapter.ts";
import { connectDecoder } from "./_decoder_stream.ts";
import { createGeminiAdapter } from "./gemini.ts";

/**
 * Decodes the body of a response of Gemini's `streamGenerateContent?alt=sse` to events.
 *
 * The output is a valid stream whatever the input is: a body that is invalid or breaks ends in an
 * `error` event. This format has no end marker: a response ends
 * with its body.
 *
 * It decodes a chunk only when a reader is waiting and no decoded event is left: the high-water
 * mark of the readable side is 0, that of the writable side is 1.
 *
 * @example Decoding a body
 * ```ts
 * import { StreamEventValidatorStream } from "@agent-stream/validator";
 * import { GeminiDecoderStream } from "@agent-stream/validator/gemini";
 * import { assertEquals } from "@std/assert";
 *
 * const response = new Response(
 *   'data: {"candidates":[{"content":{"parts":[{"text":"Hel"}]}}]}\n\n' +
 *     'data: {"candidates":[{"content":{"parts":[{"text":"lo"}]},"finishReason":"STOP"}]}\n\n',
 * );
 * const validator = new StreamEventValidatorStream();
 * const events = response.body!.pipeThrough(new GeminiDecoderStream()).pipeThrough(validator);
 * await events.pipeTo(new WritableStream());
 *
 * const message = await validator.result();
 * assertEquals(message.content, [{ type: "text", text: "Hello" }]);
 * ```
 */
export class GeminiDecoderStream extends TransformStream<Uint8Array, StreamEvent> {
  /**
   * Creates a decoder for one body.
   *
   * @param options What the response does not say.
   * @throws {TypeError} An option is of the wrong kind.
   * @throws {RangeError} A limit is out of range.
   */
  constructor(options: AdapterOptions = {}) {
    const adapter = createGeminiAdapter(options);
    super();
    connectDecoder(this, adapter, "sse");
  }
}
