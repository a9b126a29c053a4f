import { createAnthropicMessagesAdapter } from "../../src/adapters/anthropic_messages.ts";
import { AnthropicMessagesDecoderStream } from "../../src/adapters/anthropic_messages_decoder_stream.ts";
import { testDecoderStream } from "./_decoder_suite.ts";

testDecoderStream({
  name: "AnthropicMessagesDecoderStream",
  wire: "anthropic",
  create: (options) => new AnthropicMessagesDecoderStream(options),
  createAdapter: createAnthropicMessagesAdapter,
});
