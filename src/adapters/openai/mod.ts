/**
 * From the responses of OpenAI's APIs, and of the many servers that imitate them, to events.
 *
 * @module
 */

export type { Adapter, AdapterOptions, AssistantErrorCode, Emit } from "../_adapter.ts";
export { createOpenAiChatAdapter } from "../openai_chat.ts";
export { createOpenAiResponsesAdapter } from "../openai_responses.ts";
export { OpenAiChatDecoderStream } from "../openai_chat_decoder_stream.ts";
export { OpenAiResponsesDecoderStream } from "../openai_responses_decoder_stream.ts";
