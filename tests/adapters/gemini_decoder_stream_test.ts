import { createGeminiAdapter } from "../../src/adapters/gemini.ts";
import { GeminiDecoderStream } from "../../src/adapters/gemini_decoder_stream.ts";
import { testDecoderStream } from "./_decoder_suite.ts";

testDecoderStream({
  name: "GeminiDecoderStream",
  wire: "gemini",
  create: (options) => new GeminiDecoderStream(options),
  createAdapter: createGeminiAdapter,
});
