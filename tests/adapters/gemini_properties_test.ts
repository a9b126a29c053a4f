import fc from "fast-check";
import { createGeminiAdapter } from "../../src/adapters/gemini.ts";
import { testProperties } from "./_properties.ts";

/** Payloads that look like the wire's, of nearly the right shape. */
function arbitraryChunk(): fc.Arbitrary<unknown> {
  const piece = fc.constantFrom<unknown>("", "a", "{}", "\ud83d", "\ude00", null, undefined, 1);
  const args = fc.constantFrom<unknown>({}, { a: 1 }, { a: [null] }, null, undefined, "{}", [], 1);
  const name = fc.constantFrom<unknown>("f", "f", "g", "", null, undefined, 1);
  const part = fc.record({
    text: piece,
    thought: fc.constantFrom<unknown>(true, false, null, undefined, "true"),
    thoughtSignature: piece,
    functionCall: fc.oneof(
      { weight: 3, arbitrary: fc.record({ id: name, name, args }, { requiredKeys: [] }) },
      fc.constantFrom<unknown>(null, [], {}, { name: "f", willContinue: true }),
      fc.record({
        name,
        partialArgs: fc.array(
          fc.record({
            jsonPath: fc.constantFrom<unknown>("$.a", "$.a", "$.b[0].c", "$.b[1]", "$", "a", null),
            stringValue: piece,
            numberValue: fc.constantFrom<unknown>(1, NaN, null),
            nullValue: fc.constant(null),
          }, { requiredKeys: ["jsonPath"] }),
          { maxLength: 2 },
        ),
        willContinue: fc.boolean(),
      }, { requiredKeys: [] }),
    ),
    executableCode: fc.constantFrom<unknown>({ code: "1" }, null),
  }, { requiredKeys: [] });
  const candidate = fc.record({
    index: fc.constantFrom<unknown>(0, 0, 1, null, "0"),
    content: fc.oneof(
      { weight: 9, arbitrary: fc.record({ parts: fc.array(part, { maxLength: 3 }) }) },
      fc.constantFrom<unknown>(null, {}, { parts: {} }),
    ),
    finishReason: fc.constantFrom<unknown>("STOP", "MAX_TOKENS", "SAFETY", "NEW", "", null, 1),
    groundingMetadata: fc.constantFrom<unknown>({}, { a: 1 }, null),
  }, { requiredKeys: ["content"] });
  return fc.record({
    candidates: fc.array(candidate, { maxLength: 2 }),
    usageMetadata: fc.constantFrom<unknown>({ promptTokenCount: 1 }, {}, null, [], {
      cachedContentTokenCount: 9,
    }),
    promptFeedback: fc.constantFrom<unknown>({}, null, { blockReason: "" }),
    error: fc.constantFrom<unknown>(null, "", undefined),
  }, { requiredKeys: ["candidates"] });
}

testProperties({
  name: "GeminiAdapter",
  wire: "gemini",
  format: "sse",
  create: () => createGeminiAdapter({ now: () => 0, createId: () => "made_up" }),
  // deno-fmt-ignore
  words: ["candidates", "content", "parts", "text", "thought", "thoughtSignature", "functionCall",
    "name", "args", "id", "partialArgs", "willContinue", "jsonPath", "$.a", "$.a[0]", "stringValue", "nullValue", "finishReason", "STOP", "MAX_TOKENS",
    "SAFETY", "finishMessage", "promptFeedback", "blockReason", "usageMetadata", "promptTokenCount",
    "totalTokenCount", "error", "message", "code", "status", "details", "@type", "retryDelay",
    "google.rpc.RetryInfo", "index", "inlineData", "groundingMetadata", "modelVersion", "__proto__"],
  payload: arbitraryChunk(),
});
