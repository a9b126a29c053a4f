/**
 * Converts streamed responses of Anthropic's Messages API to events.
 *
 * @module
 */

export type { Adapter, AdapterLimits, AdapterOptions, Emit, PayloadText } from "../_adapter.ts";
export type { ResponseSource, StreamResponseOptions } from "../_stream_response.ts";
export { createAnthropicMessagesAdapter } from "../anthropic_messages.ts";
export { AnthropicMessagesDecoderStream } from "../anthropic_messages_decoder_stream.ts";
export { streamAnthropicMessages } from "../stream_anthropic_messages.ts";
export type { StreamEventReader } from "../../wire/_event_reader.ts";
