/**
 * Whatever bytes come in, what comes out is a legal stream with one `start` and one terminal event,
 * which is the last: `decode` fails otherwise.
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Adapter } from "../../src/adapters/_adapter.ts";
import { createOpenAiChatAdapter } from "../../src/adapters/openai_chat.ts";
import { createOpenAiResponsesAdapter } from "../../src/adapters/openai_responses.ts";
import { bytesOf, cutAt, decode, outcomeOf, readCases } from "./_bodies.ts";
import {
  arbitraryCuts,
  arbitraryFlips,
  arbitraryFrameDamage,
  arbitraryPayloads,
  type BinaryText,
  bytesOfText,
  textOfBytes,
} from "./_damage.ts";
import { readRecordings } from "./_recordings.ts";

const RUNS = Number(Deno.env.get("PROPERTY_RUNS") ?? 1_000);

interface Wire {
  readonly name: string;
  readonly create: () => Adapter;
  readonly words: readonly string[];
}

const OPTIONS = { now: () => 0, createId: () => "made_up" };

const WIRES: readonly Wire[] = [
  {
    name: "openai-chat",
    create: () => createOpenAiChatAdapter(OPTIONS),
    // deno-fmt-ignore
    words: ["choices", "delta", "index", "content", "refusal", "tool_calls", "function", "name",
      "arguments", "id", "finish_reason", "stop", "tool_calls", "length", "error", "message", "code",
      "reasoning", "reasoning_content", "reasoning_details", "text", "type", "usage",
      "prompt_tokens", "__proto__", "audio", "data", "custom", "input", "thinking"],
  },
  {
    name: "openai-responses",
    create: () => createOpenAiResponsesAdapter(OPTIONS),
    // deno-fmt-ignore
    words: ["type", "response.output_item.added", "response.output_item.done", "item", "message",
      "function_call", "reasoning", "output_index", "item_id", "id", "call_id", "name", "arguments",
      "content", "summary", "output_text", "text", "response.output_text.delta",
      "response.output_text.done", "delta", "response.function_call_arguments.delta",
      "response.function_call_arguments.done", "content_index", "response.completed", "response",
      "status", "completed", "incomplete", "output", "error", "part", "response.content_part.added",
      "__proto__", "custom_tool_call", "input"],
  },
];

for (const { name, create, words } of WIRES) {
  const recordings = readRecordings(name).map(({ body }) => body);
  const bodies = [...recordings, ...readCases(name).map(bytesOf)].map(textOfBytes);
  const anyBody = fc.constantFrom(...bodies);
  const decodeText = (body: BinaryText) => decode(create(), [bytesOfText(body)]);

  Deno.test(`${name} adapter makes a legal stream when the bytes are random`, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        assertEquals(outcomeOf(create(), [bytes]).terminal, "error:error");
      }),
      { numRuns: RUNS },
    );
  });

  Deno.test(`${name} adapter makes a legal stream when the payloads are any JSON`, () => {
    fc.assert(
      fc.property(arbitraryPayloads(words), (body) => {
        decodeText(body);
      }),
      { numRuns: RUNS * 2 },
    );
  });

  Deno.test(`${name} adapter makes a legal stream when bytes are flipped`, () => {
    const flipped = anyBody.chain((body) => arbitraryFlips(body, 4));
    fc.assert(
      fc.property(flipped, (body) => {
        decodeText(body);
      }),
      { numRuns: RUNS },
    );
  });

  Deno.test(`${name} adapter makes a legal stream when frames are damaged, however cut`, () => {
    const damaged = anyBody.chain((body) => arbitraryFrameDamage(body, 3)).chain((body) =>
      fc.tuple(fc.constant(body), arbitraryCuts(body.length))
    );
    fc.assert(
      fc.property(damaged, ([body, cuts]) => {
        assertEquals(decode(create(), cutAt(bytesOfText(body), cuts)), decodeText(body));
      }),
      { numRuns: RUNS },
    );
  });
}

// This wire says everything more than once, so that no single fault can pass for another answer.
Deno.test("OpenAiResponsesAdapter tells the same or an error when one frame or byte is damaged", () => {
  const create = () => createOpenAiResponsesAdapter(OPTIONS);
  const recordings = readRecordings("openai-responses").map(({ body }) => textOfBytes(body));
  const anyBody = fc.constantFrom(...recordings);
  const damaged = anyBody.chain((body) =>
    fc.tuple(
      fc.constant(body),
      fc.oneof(
        arbitraryFlips(body, 1),
        arbitraryFrameDamage(body, 1, ["drop", "double", "swap", "cut"]),
      ),
    )
  );
  fc.assert(
    fc.property(damaged, ([body, changed]) => {
      const whole = outcomeOf(create(), [bytesOfText(body)]).message;
      const { message, terminal } = outcomeOf(create(), [bytesOfText(changed)]);
      if (terminal.startsWith("error:")) return;
      assertEquals(message.content, whole.content);
      assert(message.stopReason !== "stop" || whole.stopReason === "stop");
    }),
    { numRuns: RUNS * 2 },
  );
});
