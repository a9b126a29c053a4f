import type { StreamEvent } from "../types.ts";
import type { AdapterOptions } from "./_adapter.ts";
import { connectDecoder } from "./_decoder_stream.ts";
import { createOpenAiResponsesAdapter } from "./openai_responses.ts";

/**
 * Decodes the body of a streamed response of the Responses API to events.
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
 * import { OpenAiResponsesDecoderStream } from "@agent-stream/validator/openai";
 * import { assertEquals } from "@std/assert";
 *
 * const response = new Response(
 *   'data: {"type":"response.completed","response":{"status":"completed","output":[{"type":' +
 *     '"message","content":[{"type":"output_text","text":"Hello"}]}]}}\n\n',
 * );
 * const validator = new StreamEventValidatorStream();
 * const decoder = new OpenAiResponsesDecoderStream();
 * const events = response.body!.pipeThrough(decoder).pipeThrough(validator);
 * await events.pipeTo(new WritableStream());
 *
 * const message = await validator.result();
 * assertEquals(message.content, [{ type: "text", text: "Hello" }]);
 * ```
 */
export class OpenAiResponsesDecoderStream extends TransformStream<Uint8Array, StreamEvent> {
  /**
   * Creates a decoder for one body.
   *
   * @param options What the response does not say.
   * @throws {TypeError} An option is of the wrong kind.
   * @throws {RangeError} A limit is out of range.
   */
  constructor(options: AdapterOptions = {}) {
    const adapter = createOpenAiResponsesAdapter(options);
    super();
    connectDecoder(this, adapter, "sse");
  }
}
