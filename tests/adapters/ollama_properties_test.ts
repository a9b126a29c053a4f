import fc from "fast-check";
import { createOllamaChatAdapter } from "../../src/adapters/ollama_chat.ts";
import { testProperties } from "./_properties.ts";

/** Payloads that look like the wire's, of nearly the right shape. */
function arbitraryLine(): fc.Arbitrary<unknown> {
  const piece = fc.constantFrom<unknown>("", "a", "{}", "\ud83d", "\ude00", null, undefined, 1);
  const args = fc.constantFrom<unknown>({}, { a: 1 }, { a: [null] }, null, undefined, "{}", [], 1);
  const name = fc.constantFrom<unknown>("f", "f", "g", "", null, undefined, 1);
  const call = fc.record({
    id: name,
    function: fc.record({ name, arguments: args }, { requiredKeys: [] }),
  }, { requiredKeys: ["function"] });
  const message = fc.record({
    content: piece,
    thinking: piece,
    tool_calls: fc.array(call, { maxLength: 2 }),
    images: fc.constantFrom<unknown>([], ["aGk="], null, {}),
  }, { requiredKeys: [] });
  return fc.record({
    message: fc.oneof({ weight: 9, arbitrary: message }, fc.constantFrom<unknown>(null, "", [])),
    done: fc.constantFrom<unknown>(false, false, false, false, true, null, undefined, "true"),
    done_reason: fc.constantFrom<unknown>("", null, undefined, "stop", "length", "load", 1),
    eval_count: fc.constantFrom<unknown>(1, -1, "1"),
    error: fc.constantFrom<unknown>(null, "", undefined),
  }, { requiredKeys: ["message"] });
}

testProperties({
  name: "OllamaChatAdapter",
  wire: "ollama",
  format: "ndjson",
  create: () => createOllamaChatAdapter({ now: () => 0, createId: () => "made_up" }),
  // deno-fmt-ignore
  words: ["model", "message", "role", "content", "thinking", "tool_calls", "function", "name",
    "arguments", "index", "id", "images", "done", "done_reason", "stop", "length", "load", "error",
    "status", "prompt_eval_count", "eval_count", "__proto__"],
  payload: arbitraryLine(),
});
