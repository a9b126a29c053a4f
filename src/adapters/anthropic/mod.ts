/**
 * From the responses of Anthropic's Messages API to events.
 *
 * @module
 */

export type { Adapter, AdapterLimits, AdapterOptions, Emit } from "../_adapter.ts";
export { createAnthropicMessagesAdapter } from "../anthropic_messages.ts";
