/** The official client as the judge: on healthy bodies its final message agrees with ours. */

import Anthropic from "@anthropic-ai/sdk";
import { assertEquals } from "@std/assert";
import { createAnthropicMessagesAdapter } from "../../src/adapters/anthropic_messages.ts";
import { streamAnthropicMessages } from "../../src/adapters/stream_anthropic_messages.ts";
import { responseOf, serveAnswer } from "../_serve.ts";
import { outcomeOf } from "./_bodies.ts";
import { readRecordings } from "./_recordings.ts";

type Message = Anthropic.Message;

const STOP_REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  tool_use: "tool_use",
};

/** Serves an answer over loopback while the official client asks for it. */
async function withClient<T>(
  answer: () => Response,
  run: (client: Anthropic) => Promise<T>,
): Promise<T> {
  return await serveAnswer(
    answer,
    (baseURL) => run(new Anthropic({ baseURL, apiKey: "none", authToken: null, maxRetries: 0 })),
  );
}

const REQUEST = { model: "m", max_tokens: 1, messages: [] };

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
    const final = await withClient(
      () => responseOf(body),
      (client) => client.messages.stream(REQUEST).finalMessage(),
    );

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

for (const { name, body } of readRecordings("anthropic")) {
  Deno.test(`streamAnthropicMessages reads the official client's stream of ${name}`, async () => {
    const options = { now: () => 0 };
    for (const ask of ["create", "stream", "late"] as const) {
      const message = await withClient(
        () => responseOf(body),
        async (client) => {
          if (ask === "create") {
            const answer = client.messages.create({ ...REQUEST, stream: true });
            return streamAnthropicMessages(answer, options).result();
          }
          const helper = client.messages.stream(REQUEST);
          const events = streamAnthropicMessages(helper, options);
          // It does not wait, and adds to the message that its first event holds.
          if (ask === "late") await helper.done();
          return events.result();
        },
      );

      assertEquals(message, outcomeOf(createAnthropicMessagesAdapter(options), [body]).message);
    }
  });
}

Deno.test("streamAnthropicMessages reads what the official client throws", async () => {
  const error = { type: "overloaded_error", message: "Overloaded" };
  const body = { type: "error", error, request_id: "req_1" };
  const headers = { "request-id": "req_1", "retry-after": "2" };
  const answers: ReadonlyArray<readonly [() => Response, string, object]> = [
    [
      () => Response.json(body, { status: 529, headers }),
      "HTTP status 529: Overloaded",
      { status: 529, retryAfter: 2000 },
    ],
    [
      () => responseOf(new TextEncoder().encode(`event: error\ndata: ${JSON.stringify(body)}\n\n`)),
      "Overloaded",
      {},
    ],
  ];
  for (const [answer, errorMessage, details] of answers) {
    const message = await withClient(
      answer,
      (client) =>
        streamAnthropicMessages(client.messages.create({ ...REQUEST, stream: true })).result(),
    );
    const late = await withClient(answer, async (client) => {
      const helper = client.messages.stream(REQUEST);
      const events = streamAnthropicMessages(helper);
      await helper.done().catch(() => {});
      return events.result();
    });

    for (const failed of [message, late]) {
      assertEquals(failed.errorMessage, errorMessage);
      assertEquals(failed.errorDetails, {
        requestId: "req_1",
        providerErrorType: "overloaded_error",
        ...details,
      });
    }
  }
});
