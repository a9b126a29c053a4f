/**
 * Converts streamed responses of OpenAI's APIs, and of the many servers that imitate them, to
 * events.
 *
 * @module
 */

export type { Adapter, AdapterLimits, AdapterOptions, Emit, PayloadText } from "../_adapter.ts";
export type { ResponseSource, StreamResponseOptions } from "../_stream_response.ts";
export { createOpenAiChatAdapter } from "../openai_chat.ts";
export { OpenAiChatDecoderStream } from "../openai_chat_decoder_stream.ts";
export { createOpenAiResponsesAdapter } from "../openai_responses.ts";
export { OpenAiResponsesDecoderStream } from "../openai_responses_decoder_stream.ts";
export { streamOpenAiChat } from "../stream_openai_chat.ts";
export { streamOpenAiResponses } from "../stream_openai_responses.ts";
export type { StreamEventReader } from "../../wire/_event_reader.ts";
