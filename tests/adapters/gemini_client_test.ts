/** The official client as the judge: on healthy bodies its chunks say what our final message does. */

import {
  type CallableTool,
  type FunctionCall,
  type GenerateContentConfig,
  type GenerateContentResponse,
  GoogleGenAI,
} from "@google/genai";
import { assertEquals } from "@std/assert";
import { createGeminiAdapter } from "../../src/adapters/gemini.ts";
import { streamGemini } from "../../src/adapters/stream_gemini.ts";
import { responseOf, serveAnswer } from "../_serve.ts";
import { outcomeOf } from "./_bodies.ts";
import { readRecordings } from "./_recordings.ts";

const STOP_REASONS: Readonly<Record<string, string>> = { STOP: "stop", MAX_TOKENS: "length" };

/** Serves an answer over loopback while the official client asks for it. */
async function withAnswer<T>(
  answer: () => Response,
  run: (stream: Promise<AsyncIterable<GenerateContentResponse>>) => Promise<T>,
  config: GenerateContentConfig = {},
): Promise<T> {
  return await serveAnswer(answer, (baseUrl) => {
    const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl } });
    return run(client.models.generateContentStream({ model: "m", contents: "Hi", config }));
  });
}

for (const { name, body } of readRecordings("gemini")) {
  Deno.test(`GeminiAdapter agrees with the official client about ${name}`, async () => {
    const chunks = await withAnswer(() => responseOf(body), async (stream) => {
      const chunks: GenerateContentResponse[] = [];
      for await (const chunk of await stream) chunks.push(chunk);
      return chunks;
    });
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
    const calls = parts.flatMap(({ functionCall }): FunctionCall[] =>
      functionCall ? [functionCall] : []
    );
    const finishReason = chunks.at(-1)?.candidates?.[0]?.finishReason ?? "";
    const usage = chunks.at(-1)?.usageMetadata ?? {};
    const textOf = (isThought: boolean) =>
      parts.filter(({ thought }) => Boolean(thought) === isThought).map(({ text }) => text ?? "")
        .join("");

    const { message } = outcomeOf(createGeminiAdapter({ createId: () => "made_up" }), [body]);

    const { input, output, cacheRead, totalTokens } = message.usage;
    assertEquals<unknown>(
      {
        text: message.content.map((block) => block.type === "text" ? block.text : "").join(""),
        thinking: message.content.map((block) => block.type === "thinking" ? block.thinking : "")
          .join(""),
        calls: message.content.flatMap((block) => {
          if (block.type !== "tool_call") return [];
          const { id, name, arguments: args } = block;
          return [{ ...(!id.startsWith("made_up") && { id }), name, args }];
        }),
        stopReason: message.stopReason,
        model: message.model,
        usage: { input, output, cacheRead, totalTokens },
      },
      {
        text: textOf(false),
        thinking: textOf(true),
        calls,
        stopReason: calls.length > 0 ? "tool_use" : STOP_REASONS[finishReason] ?? "",
        model: chunks[0]?.modelVersion ?? "",
        usage: {
          input: (usage.promptTokenCount ?? 0) - (usage.cachedContentTokenCount ?? 0) +
            (usage.toolUsePromptTokenCount ?? 0),
          output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
          cacheRead: usage.cachedContentTokenCount ?? 0,
          totalTokens: usage.totalTokenCount ?? 0,
        },
      },
    );
    // Its chat keeps the parts of each chunk as they came; ours puts unsigned neighbours together.
    const replay = message.providerReplay?.data as { content?: { parts: object[] } } | undefined;
    if (replay?.content) {
      const isSaid = (part: object) => JSON.stringify(part) !== '{"text":""}';
      assertEquals(joined(replay.content.parts), joined(parts.filter(isSaid)));
    }
  });
}

/** The parts, with unsigned texts of one kind put together. */
function joined(parts: readonly object[]): unknown[] {
  const all: Record<string, unknown>[] = [];
  for (const part of parts.map((part): Record<string, unknown> => ({ ...part }))) {
    const last = all.at(-1);
    const isPlain = (one: object | undefined) =>
      one && Object.keys(one).every((key) => key === "text" || key === "thought");
    if (last && isPlain(last) && isPlain(part) && last.thought === part.thought) {
      last.text = `${last.text}${part.text}`;
    } else {
      all.push(part);
    }
  }
  return all;
}

for (const { name, body } of readRecordings("gemini")) {
  Deno.test(`streamGemini reads the official client's stream of ${name}`, async () => {
    let ids = 0;
    const options = { now: () => 0, createId: () => `call_${ids++}` };
    const message = await withAnswer(
      () => responseOf(body),
      (stream) => streamGemini(stream, options).result(),
    );
    ids = 0;

    const { message: expected } = outcomeOf(createGeminiAdapter(options), [body]);
    // The client has a name of its own for it.
    const json = JSON.stringify(expected).replaceAll('"citationSources":', '"citations":');
    assertEquals(message, JSON.parse(json));
  });
}

Deno.test("streamGemini reads what the official client throws", async () => {
  const error = {
    code: 429,
    message: "Quota exceeded",
    status: "RESOURCE_EXHAUSTED",
    details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "3s" }],
  };
  const message = await withAnswer(
    () => Response.json({ error }, { status: 429 }),
    (stream) => streamGemini(stream).result(),
  );

  assertEquals(message.errorMessage, "HTTP status 429: Quota exceeded");
  assertEquals(message.errorDetails, {
    providerErrorType: "RESOURCE_EXHAUSTED",
    status: 429,
    retryAfter: 3000,
  });
});

Deno.test("streamGemini refuses the answers of a client that runs calls itself", async () => {
  const functionCall = { name: "get_tide", args: { harbour: "Bergen" } };
  const answers = [{ functionCall }, { text: "High at noon" }];
  const tool: CallableTool = {
    tool: () => Promise.resolve({ functionDeclarations: [{ name: "get_tide" }] }),
    callTool: () =>
      Promise.resolve([{ functionResponse: { name: "get_tide", response: { high: "12:00" } } }]),
  };
  const message = await withAnswer(
    () => {
      const parts = [answers.shift()];
      const chunk = { candidates: [{ content: { parts }, finishReason: "STOP" }] };
      return responseOf(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`));
    },
    (stream) => streamGemini(stream, { createId: () => "call_1" }).result(),
    { tools: [tool] },
  );

  // As `tool_use` it would have been run twice.
  assertEquals(
    message.errorMessage,
    "Expected no result of a call in a response, received one of a client that runs calls itself",
  );
  assertEquals(message.stopReason, "error");
});
