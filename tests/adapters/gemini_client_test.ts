/** The official client as the judge: on healthy bodies its chunks say what our final message does. */

import { type FunctionCall, type GenerateContentResponse, GoogleGenAI } from "@google/genai";
import { assertEquals } from "@std/assert";
import { createGeminiAdapter } from "../../src/adapters/gemini.ts";
import { outcomeOf } from "./_bodies.ts";
import { readRecordings } from "./_recordings.ts";

const STOP_REASONS: Readonly<Record<string, string>> = { STOP: "stop", MAX_TOKENS: "length" };

/** What the official client makes of a body that it fetches over loopback. */
async function chunksOf(body: Uint8Array): Promise<GenerateContentResponse[]> {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      await request.body?.cancel();
      return new Response(new Uint8Array(body), {
        headers: { "content-type": "text/event-stream" },
      });
    },
  );
  try {
    const client = new GoogleGenAI({
      apiKey: "none",
      httpOptions: { baseUrl: `http://127.0.0.1:${server.addr.port}` },
    });
    const chunks: GenerateContentResponse[] = [];
    const stream = await client.models.generateContentStream({ model: "m", contents: "Hi" });
    for await (const chunk of stream) chunks.push(chunk);
    return chunks;
  } finally {
    await server.shutdown();
  }
}

for (const { name, body } of readRecordings("gemini")) {
  Deno.test(`GeminiAdapter agrees with the official client about ${name}`, async () => {
    const chunks = await chunksOf(body);
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
