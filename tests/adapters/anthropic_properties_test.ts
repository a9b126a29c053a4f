/**
 * Whatever bytes come in, what comes out is a legal stream with one `start` and one terminal event,
 * which is the last: `decode` fails otherwise.
 */

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { createAnthropicMessagesAdapter } from "../../src/adapters/anthropic_messages.ts";
import { assertPart, bytesOf, cutAt, decode, outcomeOf, readCases } from "./_bodies.ts";
import {
  arbitraryCuts,
  arbitraryFlips,
  arbitraryFrameDamage,
  arbitraryPayloads,
  bytesOfText,
  framesOf,
  textOfBytes,
} from "./_damage.ts";
import { readRecordings } from "./_recordings.ts";

const RUNS = Number(Deno.env.get("PROPERTY_RUNS") ?? 1_500);

const create = () => createAnthropicMessagesAdapter({ now: () => 0, createId: () => "made_up" });

// deno-fmt-ignore
const WORDS = ["type", "message_start", "message", "content_block_start", "content_block", "index",
  "content_block_delta", "delta", "text_delta", "text", "input_json_delta", "partial_json",
  "thinking_delta", "thinking", "signature_delta", "signature", "citations_delta", "citation",
  "content_block_stop", "message_delta", "stop_reason", "end_turn", "tool_use", "max_tokens",
  "message_stop", "tool_use", "id", "name", "input", "redacted_thinking", "data", "usage",
  "input_tokens", "error", "__proto__", "server_tool_use", "container"];

const RECORDINGS = readRecordings("anthropic").map(({ body }) => body);
const TEXTS = [...RECORDINGS, ...readCases("anthropic").map(bytesOf)].map(textOfBytes);
const anyBody = fc.constantFrom(...TEXTS);

Deno.test("AnthropicMessagesAdapter makes a legal stream when the bytes are random", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      assertEquals(outcomeOf(create(), [bytes]).terminal, "error:error");
    }),
    { numRuns: RUNS },
  );
});

/** Payloads that look like the wire's, of nearly the right shape. */
function arbitraryWireBody(): fc.Arbitrary<string> {
  const index = fc.constantFrom<unknown>(0, 0, 1, 1, 2, undefined, null, "0", -1);
  const piece = fc.constantFrom<unknown>("", "a", "{", "}", "{}", '{"a":1}', null, undefined, 1);
  const name = fc.constantFrom<unknown>("a", "b", "", null, undefined, 1);
  const blockType = fc.constantFrom("text", "thinking", "tool_use", "redacted_thinking", "new");
  const deltaType = fc.constantFrom(
    "text_delta",
    "thinking_delta",
    "input_json_delta",
    "signature_delta",
    "citations_delta",
    "new_delta",
  );
  const block = fc.record({
    type: blockType,
    text: piece,
    thinking: piece,
    signature: piece,
    id: name,
    name,
    input: fc.constantFrom<unknown>({}, { a: 1 }, null, "{}", undefined),
  }, { requiredKeys: ["type"] });
  const delta = fc.record({
    type: deltaType,
    text: piece,
    thinking: piece,
    partial_json: piece,
    signature: piece,
    citation: piece,
  });
  const reason = fc.constantFrom("end_turn", "tool_use", "max_tokens", "refusal", null);
  const starting = { type: "message_start", message: { model: "m", usage: {} } };
  const frame = fc.oneof(
    fc.record({ type: fc.constant("content_block_start"), index, content_block: block }),
    fc.record({ type: fc.constant("content_block_delta"), index, delta }),
    fc.record({ type: fc.constant("content_block_stop"), index }),
    fc.record({
      type: fc.constant("message_delta"),
      delta: fc.record({ stop_reason: reason }),
    }),
    fc.constantFrom({ type: "message_stop" }, { type: "ping" }, starting),
  );
  return fc.array(frame, { maxLength: 14 }).map((frames) =>
    [starting, ...frames].map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("")
  );
}

Deno.test("AnthropicMessagesAdapter makes a legal stream when the payloads are any JSON", () => {
  fc.assert(
    fc.property(fc.oneof(arbitraryPayloads(WORDS), arbitraryWireBody()), (body) => {
      decode(create(), [bytesOfText(body)]);
    }),
    { numRuns: RUNS * 4 },
  );
});

Deno.test("AnthropicMessagesAdapter makes a legal stream when bytes are flipped", () => {
  fc.assert(
    fc.property(anyBody.chain((body) => arbitraryFlips(body, 4)), (body) => {
      decode(create(), [bytesOfText(body)]);
    }),
    { numRuns: RUNS },
  );
});

Deno.test("AnthropicMessagesAdapter makes a legal stream when frames are damaged, however cut", () => {
  const damaged = anyBody.chain((body) => arbitraryFrameDamage(body, 3)).chain((body) =>
    fc.tuple(fc.constant(bytesOfText(body)), arbitraryCuts(body.length))
  );
  fc.assert(
    fc.property(damaged, ([body, cuts]) => {
      assertEquals(decode(create(), cutAt(body, cuts)), decode(create(), [body]));
    }),
    { numRuns: RUNS },
  );
});

// A lost or doubled delta cannot be told on this wire; the frames around the deltas can.
Deno.test("AnthropicMessagesAdapter keeps the content when a frame but a delta is lost or doubled", () => {
  for (const body of RECORDINGS) {
    const frames = framesOf(textOfBytes(body));
    const whole = outcomeOf(create(), [body]);
    for (const [at, frame] of frames.entries()) {
      if (frame.includes("content_block_delta")) continue;
      for (const count of [0, 2]) {
        const damaged = frames.toSpliced(at, 1, ...Array(count).fill(frame)).join("");
        const { terminal, message } = outcomeOf(create(), [bytesOfText(damaged)]);
        if (terminal === whole.terminal) assertEquals(message.content, whole.message.content);
        else {
          assertEquals(terminal, "error:error");
          assertPart(message.content, whole.message.content);
        }
      }
    }
  }
});
