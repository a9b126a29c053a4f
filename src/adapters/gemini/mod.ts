/**
 * Converts responses of Gemini's `streamGenerateContent` to events.
 *
 * @module
 */

export type { Adapter, AdapterLimits, AdapterOptions, Emit, PayloadText } from "../_adapter.ts";
export type { ResponseSource, StreamResponseOptions } from "../_stream_response.ts";
export { createGeminiAdapter } from "../gemini.ts";
export { GeminiDecoderStream } from "../gemini_decoder_stream.ts";
export { streamGemini } from "../stream_gemini.ts";
export type { StreamEventReader } from "../../wire/_event_reader.ts";
