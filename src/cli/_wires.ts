import { isPlainObject } from "../_json.ts";
import type { Adapter, AdapterOptions } from "../adapters/_adapter.ts";
import { createAnthropicMessagesAdapter } from "../adapters/anthropic_messages.ts";
import { createOpenAiChatAdapter } from "../adapters/openai_chat.ts";
import { createOpenAiResponsesAdapter } from "../adapters/openai_responses.ts";

/** What is to know of a provider's wire format to read a recording of it. */
export interface ProviderWire {
  readonly create: (options?: AdapterOptions) => Adapter;
  /** Whether a payload can be of this wire only. */
  readonly recognises: (payload: Fields) => boolean;
  /**
   * The id of the response that a payload begins: empty where it has none, `undefined` where the
   * payload begins no response. For wires whose responses begin with a payload of its own kind.
   */
  readonly begins?: (payload: Fields) => string | undefined;
  /** Whether a payload is the last of its response. For the other wires. */
  readonly ends?: (payload: unknown) => boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** The wire formats of providers, by the name that `--from` takes. */
export const PROVIDER_WIRES: Readonly<Record<string, ProviderWire>> = {
  "anthropic": {
    create: createAnthropicMessagesAdapter,
    recognises: ({ type, error }) =>
      typeof type === "string" &&
      (/^(message|content_block)_|^ping$/.test(type) || (type === "error" && isPlainObject(error))),
    begins: ({ type, message }) => type === "message_start" ? idOf(message) : undefined,
  },
  "openai-chat": {
    create: createOpenAiChatAdapter,
    recognises: ({ object, choices }) =>
      object === "chat.completion.chunk" || Array.isArray(choices),
    ends: (payload) => payload === "[DONE]",
  },
  "openai-responses": {
    create: createOpenAiResponsesAdapter,
    recognises: ({ type }) => typeof type === "string" && type.startsWith("response."),
    begins: ({ type, response }) => type === "response.created" ? idOf(response) : undefined,
  },
};

function idOf(value: unknown): string {
  return isPlainObject(value) && typeof value.id === "string" ? value.id : "";
}
