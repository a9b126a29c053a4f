import type { StreamEvent } from "../types.ts";
import type { AdapterOptions } from "./_adapter.ts";
import { connectDecoder } from "./_decoder_stream.ts";
import { createOllamaChatAdapter } from "./ollama_chat.ts";

/**
 * Decodes the body of a streamed response of Ollama's `/api/chat` to events.
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
 * import { OllamaChatDecoderStream } from "@agent-stream/validator/ollama";
 * import { assertEquals } from "@std/assert";
 *
 * const response = new Response(
 *   '{"model":"m","message":{"role":"assistant","content":"Hello"},"done":false}\n' +
 *     '{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}\n',
 * );
 * const validator = new StreamEventValidatorStream();
 * const events = response.body!.pipeThrough(new OllamaChatDecoderStream()).pipeThrough(validator);
 * await events.pipeTo(new WritableStream());
 *
 * const message = await validator.result();
 * assertEquals(message.content, [{ type: "text", text: "Hello" }]);
 * ```
 */
export class OllamaChatDecoderStream extends TransformStream<Uint8Array, StreamEvent> {
  /**
   * Creates a decoder for one body.
   *
   * @param options What the response does not say.
   * @throws {TypeError} An option is of the wrong kind.
   * @throws {RangeError} A limit is out of range.
   */
  constructor(options: AdapterOptions = {}) {
    const adapter = createOllamaChatAdapter(options);
    super();
    connectDecoder(this, adapter, "ndjson");
  }
}
