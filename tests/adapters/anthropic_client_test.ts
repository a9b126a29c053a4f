/** The official client as the judge: on healthy bodies its final message agrees with ours. */

import Anthropic from "@anthropic-ai/sdk";
import { assertEquals } from "@std/assert";
import { createAnthropicMessagesAdapter } from "../../src/adapters/anthropic_messages.ts";
import { outcomeOf } from "./_bodies.ts";
import { readRecordings } from "./_recordings.ts";

type Message = Anthropic.Message;

const STOP_REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  tool_use: "tool_use",
};

/** What the official client makes of a body that it fetches over loopback. */
async function finalMessageOf(body: Uint8Array): Promise<Message> {
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
    const baseURL = `http://127.0.0.1:${server.addr.port}`;
    const client = new Anthropic({ baseURL, apiKey: "none", authToken: null, maxRetries: 0 });
    return await client.messages.stream({ model: "m", max_tokens: 1, messages: [] })
      .finalMessage();
  } finally {
    await server.shutdown();
  }
}

/** The client's content as our events have it. */
function contentOf({ content }: Message): unknown[] {
  return content.flatMap((block): unknown[] => {
    switch (block.type) {
      case "text":
        return [{ type: "text", text: block.text }];
      case "thinking":
        return [{ type: "thinking", thinking: block.thinking }];
      case "redacted_thinking":
        return [{ type: "thinking", thinking: "" }];
      case "tool_use":
        return [{ type: "tool_call", id: block.id, name: block.name, arguments: block.input }];
      default:
        return [];
    }
  });
}

for (const { name, body } of readRecordings("anthropic")) {
  Deno.test(`AnthropicMessagesAdapter agrees with the official client about ${name}`, async () => {
    const final = await finalMessageOf(body);

    const { message } = outcomeOf(createAnthropicMessagesAdapter(), [body]);

    const { input, output, cacheRead, cacheWrite, totalTokens } = message.usage;
    assertEquals(
      {
        content: message.content,
        stopReason: message.stopReason,
        model: message.model,
        usage: { input, output, cacheRead, cacheWrite, totalTokens },
      },
      {
        content: contentOf(final),
        stopReason: STOP_REASONS[final.stop_reason ?? ""] ?? "",
        model: final.model,
        usage: {
          input: final.usage.input_tokens,
          output: final.usage.output_tokens,
          cacheRead: final.usage.cache_read_input_tokens ?? 0,
          cacheWrite: final.usage.cache_creation_input_tokens ?? 0,
          totalTokens: final.usage.input_tokens + final.usage.output_tokens +
            (final.usage.cache_read_input_tokens ?? 0) +
            (final.usage.cache_creation_input_tokens ?? 0),
        },
      },
    );
    const replay = message.providerReplay?.data as { content: unknown } | undefined;
    // The client parses an input when it is asked for, by a getter.
    const content = JSON.parse(JSON.stringify(final.content));
    if (replay) assertEquals(replay.content, content);
  });
}
