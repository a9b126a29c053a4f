/**
 * Converts streamed responses of Ollama's `/api/chat` to events.
 *
 * @module
 */

export type { Adapter, AdapterLimits, AdapterOptions, Emit, PayloadText } from "../_adapter.ts";
export type { ResponseSource, StreamResponseOptions } from "../_stream_response.ts";
export { createOllamaChatAdapter } from "../ollama_chat.ts";
export { OllamaChatDecoderStream } from "../ollama_chat_decoder_stream.ts";
export { streamOllamaChat } from "../stream_ollama_chat.ts";
export type { StreamEventReader } from "../../wire/_event_reader.ts";
