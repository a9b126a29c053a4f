import { isPlainObject } from "../_json.ts";
import type { Adapter, AdapterOptions } from "../adapters/_adapter.ts";
import { createAnthropicMessagesAdapter } from "../adapters/anthropic_messages.ts";
import { createGeminiAdapter } from "../adapters/gemini.ts";
import { createOllamaChatAdapter } from "../adapters/ollama_chat.ts";
import { createOpenAiChatAdapter } from "../adapters/openai_chat.ts";
import { createOpenAiResponsesAdapter } from "../adapters/openai_responses.ts";

/** What is to know of a provider's wire format to read a recording of it. */
export interface ProviderWire {
  readonly create: (options?: AdapterOptions) => Adapter;
  /** Whether a payload can be of this wire only. */
  readonly recognises: (payload: Fields) => boolean;
  /** The id of the response that a payload is of: empty where it does not say. */
  readonly idOf?: (payload: Fields) => string;
  /** Whether a payload can only be the first of a response. */
  readonly isFirst?: (payload: Fields) => boolean;
  /** Whether a payload is the last of a response; `[DONE]` may still follow. */
  readonly isLast?: (payload: unknown) => boolean;
  /** Whether a response may end with a payload, of a wire that does not say that it ends. */
  readonly mayEndWith?: (payload: Fields) => boolean;
  /** When a payload was sent, in milliseconds since some moment, where it says so. */
  readonly timeOf?: (payload: Fields) => number;
}

type Fields = Readonly<Record<string, unknown>>;

/** The wire formats of providers, by the name that `--from` takes. */
export const PROVIDER_WIRES: Readonly<Record<string, ProviderWire>> = {
  "anthropic": {
    create: createAnthropicMessagesAdapter,
    recognises: ({ type, error }) =>
      typeof type === "string" &&
      (/^(message|content_block)_|^ping$/.test(type) || (type === "error" && isPlainObject(error))),
    idOf: ({ type, message }) => type === "message_start" ? idIn(message) : "",
    isFirst: ({ type }) => type === "message_start",
  },
  "openai-chat": {
    create: createOpenAiChatAdapter,
    recognises: ({ object, choices }) =>
      object === "chat.completion.chunk" || Array.isArray(choices),
    // Servers that imitate the wire give each chunk an id of its own.
    isLast: (payload) => payload === "[DONE]" || hasError(payload),
  },
  "openai-responses": {
    create: createOpenAiResponsesAdapter,
    recognises: ({ type }) => typeof type === "string" && type.startsWith("response."),
    idOf: ({ type, response }) => type === "response.created" ? idIn(response) : "",
    isFirst: ({ type }) => type === "response.created",
  },
  "gemini": {
    create: createGeminiAdapter,
    recognises: ({ candidates, promptFeedback, usageMetadata }) =>
      Array.isArray(candidates) || isPlainObject(promptFeedback) || isPlainObject(usageMetadata),
    idOf: ({ responseId }) => typeof responseId === "string" ? responseId : "",
    isLast: (payload) => payload === "[DONE]" || hasError(payload),
    mayEndWith: ({ candidates }) =>
      Array.isArray(candidates) &&
      candidates.some((item) => isPlainObject(item) && typeof item.finishReason === "string"),
  },
  "ollama": {
    create: createOllamaChatAdapter,
    recognises: ({ model, message, done, done_reason }) =>
      typeof model === "string" &&
      (isPlainObject(message) || typeof done === "boolean" || typeof done_reason === "string"),
    // Some servers give the reason, and leave out that it is the end.
    isLast: (payload) =>
      isPlainObject(payload) &&
      (payload.done === true || typeof payload.done_reason === "string" || hasError(payload)),
    timeOf: ({ created_at }) => typeof created_at === "string" ? Date.parse(created_at) : NaN,
  },
};

/** Whether a payload says that the response failed. */
export function hasError(payload: unknown): boolean {
  return isPlainObject(payload) && payload.error !== undefined && payload.error !== null;
}

function idIn(value: unknown): string {
  return isPlainObject(value) && typeof value.id === "string" ? value.id : "";
}
