/** The official client as the judge: on healthy bodies its parts say what our final message does. */

import { assertEquals } from "@std/assert";
import { type ChatResponse, Ollama, type ToolCall } from "ollama";
import { createOllamaChatAdapter } from "../../src/adapters/ollama_chat.ts";
import { streamOllamaChat } from "../../src/adapters/stream_ollama_chat.ts";
import { responseOf, serveAnswer } from "../_serve.ts";
import { outcomeOf } from "./_bodies.ts";
import { readRecordings } from "./_recordings.ts";

/** Serves an answer over loopback while the official client asks for it. */
async function withAnswer<T>(
  answer: () => Response,
  run: (parts: Promise<AsyncIterable<ChatResponse>>) => Promise<T>,
): Promise<T> {
  return await serveAnswer(
    answer,
    (host) => run(new Ollama({ host }).chat({ model: "m", messages: [], stream: true })),
  );
}

for (const { name, body } of readRecordings("ollama")) {
  Deno.test(`OllamaChatAdapter agrees with the official client about ${name}`, async () => {
    const parts = await withAnswer(
      () => responseOf(body, "application/x-ndjson"),
      async (stream) => {
        const parts: ChatResponse[] = [];
        for await (const part of await stream) parts.push(part);
        return parts;
      },
    );
    const last = parts.at(-1) as ChatResponse;
    const calls = parts.flatMap(({ message }) => message.tool_calls ?? []);

    const adapter = createOllamaChatAdapter({ createId: () => "made_up" });
    const { message } = outcomeOf(adapter, [body], "ndjson");

    const { input, output, totalTokens } = message.usage;
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
        usage: { input, output, totalTokens },
      },
      {
        text: parts.map(({ message }) => message.content).join(""),
        thinking: parts.map(({ message }) => message.thinking ?? "").join(""),
        // Its types leave out the id, which the wire may have.
        calls: calls.map((
          { id, function: { name, arguments: args } }: ToolCall & { id?: string },
        ) => ({
          ...(id !== undefined && { id }),
          name,
          args,
        })),
        stopReason: calls.length > 0 ? "tool_use" : last.done_reason,
        model: last.model,
        usage: {
          input: last.prompt_eval_count ?? 0,
          output: last.eval_count,
          totalTokens: (last.prompt_eval_count ?? 0) + last.eval_count,
        },
      },
    );
  });
}

for (const { name, body } of readRecordings("ollama")) {
  Deno.test(`streamOllamaChat reads the official client's stream of ${name}`, async () => {
    let ids = 0;
    const options = { now: () => 0, createId: () => `call_${ids++}` };
    const message = await withAnswer(
      () => responseOf(body, "application/x-ndjson"),
      (stream) => streamOllamaChat(stream, options).result(),
    );
    ids = 0;

    assertEquals(message, outcomeOf(createOllamaChatAdapter(options), [body], "ndjson").message);
  });
}

Deno.test("streamOllamaChat reads what the official client throws", async () => {
  const message = await withAnswer(
    () => Response.json({ error: "no such model" }, { status: 404 }),
    (stream) => streamOllamaChat(stream).result(),
  );

  assertEquals(message.errorMessage, "HTTP status 404: no such model");
  assertEquals(message.errorDetails, { status: 404 });
});
