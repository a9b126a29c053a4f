import type { StreamEvent } from "@agent-stream/validator";
import type {
  AdapterOptions,
  ResponseSource,
  StreamEventReader,
} from "@agent-stream/validator/adapter";
import {
  AnthropicMessagesDecoderStream,
  streamAnthropicMessages,
} from "@agent-stream/validator/anthropic";
import { GeminiDecoderStream, streamGemini } from "@agent-stream/validator/gemini";
import { OllamaChatDecoderStream, streamOllamaChat } from "@agent-stream/validator/ollama";
import {
  OpenAiChatDecoderStream,
  OpenAiResponsesDecoderStream,
  streamOpenAiChat,
  streamOpenAiResponses,
} from "@agent-stream/validator/openai";

/** What reads a provider's wire. */
export interface Wire {
  readonly format: "sse" | "ndjson";
  readonly stream: (
    response: ResponseSource | PromiseLike<ResponseSource>,
    options?: AdapterOptions,
  ) => StreamEventReader;
  readonly DecoderStream: new (
    options?: AdapterOptions,
  ) => TransformStream<Uint8Array, StreamEvent>;
}

/** What reads each wire, by the names of its files in `tests/cases` and `tests/recordings`. */
export const WIRES: Readonly<Record<string, Wire>> = {
  "anthropic": {
    format: "sse",
    stream: streamAnthropicMessages,
    DecoderStream: AnthropicMessagesDecoderStream,
  },
  "gemini": { format: "sse", stream: streamGemini, DecoderStream: GeminiDecoderStream },
  "ollama": {
    format: "ndjson",
    stream: streamOllamaChat,
    DecoderStream: OllamaChatDecoderStream,
  },
  "openai-chat": {
    format: "sse",
    stream: streamOpenAiChat,
    DecoderStream: OpenAiChatDecoderStream,
  },
  "openai-responses": {
    format: "sse",
    stream: streamOpenAiResponses,
    DecoderStream: OpenAiResponsesDecoderStream,
  },
};

/** The wire of a file. */
export function wireOf(name: string): Wire {
  const wire = WIRES[name];
  if (wire === undefined) throw new Error(`Expected a line for the wire "${name}"`);
  return wire;
}

/** Options that make the same message of the same body, every time. */
export function fixedOptions(): AdapterOptions {
  let ids = 0;
  return { now: () => 0, createId: () => `made_up_${ids++}` };
}
