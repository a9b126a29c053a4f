/**
 * The parts that the adapters of this package are built on, for writing your own adapter.
 *
 * @example An adapter for a made-up wire format
 * ```ts
 * import {
 *   AdapterError,
 *   type AdapterOptions,
 *   type SerializedBlock,
 *   streamResponse,
 *   WireAdapter,
 * } from "@agent-stream/validator/adapter";
 * import { assertEquals } from "@std/assert";
 *
 * // Lines such as {"say":"Hel"}, {"say":"lo"}, {"call":"lookup","with":{"city":"Oslo"}}, {"end":true}
 * class AcmeAdapter extends WireAdapter {
 *   #text: SerializedBlock | undefined;
 *
 *   constructor(options: AdapterOptions = {}) {
 *     super(options, "acme");
 *   }
 *
 *   protected override take(payload: { say?: string; call?: string; with?: never; end?: boolean }) {
 *     if (payload.say !== undefined) {
 *       this.#text ??= this.blocks.open("text");
 *       this.blocks.append(this.#text, payload.say);
 *     }
 *     if (payload.call !== undefined) {
 *       const call = this.blocks.open("tool_call");
 *       this.blocks.identify(call, undefined, payload.call); // no id here: one is generated
 *       this.blocks.closeToolCall(call, payload.with);
 *     }
 *     if (payload.end) this.blocks.finish("stop");
 *   }
 *
 *   protected override takeEnd() {
 *     throw new AdapterError("truncated", "The body ended before the response did");
 *   }
 * }
 *
 * const response = new Response('{"say":"Hel"}\n{"say":"lo"}\n{"end":true}\n', {
 *   headers: { "content-type": "application/x-ndjson" },
 * });
 * const stream = streamResponse(response, new AcmeAdapter(), {
 *   format: "ndjson",
 *   contentTypes: ["application/x-ndjson"],
 *   requestIdHeaders: ["x-request-id"],
 * });
 * const message = await stream.result();
 * assertEquals(message.content, [{ type: "text", text: "Hello" }]);
 * assertEquals(message.provider, "acme");
 * ```
 *
 * @module
 */

export {
  type Adapter,
  AdapterError,
  type AdapterLimits,
  type AdapterOptions,
  type AssistantErrorCode,
  type Emit,
  type PayloadText,
} from "../_adapter.ts";
export { BlockSerializer, type SerializedBlock } from "../_block_serializer.ts";
export { connectDecoder } from "../_decoder_stream.ts";
export {
  type ResponseFormat,
  type ResponseSource,
  streamResponse,
  type StreamResponseOptions,
} from "../_stream_response.ts";
export { WireAdapter } from "../_wire_adapter.ts";
export type { StreamEventFormat } from "../../wire/_frame_parser.ts";
export type { StreamEventReader } from "../../wire/_event_reader.ts";
