/** The official client as the judge: on healthy bodies its final message agrees with ours. */

import { assertEquals } from "@std/assert";
import OpenAI from "openai";
import type { AssistantMessage, Usage } from "../../mod.ts";
import { createOpenAiChatAdapter } from "../../src/adapters/openai_chat.ts";
import { createOpenAiResponsesAdapter } from "../../src/adapters/openai_responses.ts";
import { streamOpenAiChat } from "../../src/adapters/stream_openai_chat.ts";
import { streamOpenAiResponses } from "../../src/adapters/stream_openai_responses.ts";
import { responseOf, serveAnswer } from "../_serve.ts";
import { outcomeOf } from "./_bodies.ts";
import { readRecordings } from "./_recordings.ts";

/** What both have to say the same about. */
interface Summary {
  readonly text: string;
  readonly toolCalls: readonly { id: string; name: string; arguments: unknown }[];
  readonly stopReason: string;
  readonly usage: Pick<Usage, "input" | "output" | "cacheRead" | "cacheWrite" | "totalTokens">;
}

function summaryOf(message: AssistantMessage): Summary {
  const { input, output, cacheRead, cacheWrite, totalTokens } = message.usage;
  return {
    text: message.content.flatMap((block) => block.type === "text" ? [block.text] : []).join(""),
    toolCalls: message.content.flatMap((block) =>
      block.type === "tool_call"
        ? [{ id: block.id, name: block.name, arguments: block.arguments }]
        : []
    ),
    stopReason: message.stopReason,
    usage: { input, output, cacheRead, cacheWrite, totalTokens },
  };
}

/** Serves a body over loopback while the official client reads it. */
async function withClient<T>(body: Uint8Array, run: (client: OpenAI) => Promise<T>): Promise<T> {
  return await withAnswer(() => responseOf(body), run);
}

async function withAnswer<T>(
  answer: () => Response,
  run: (client: OpenAI) => Promise<T>,
): Promise<T> {
  return await serveAnswer(
    answer,
    (origin) => run(new OpenAI({ baseURL: `${origin}/v1`, apiKey: "none", maxRetries: 0 })),
  );
}

for (const { name, body } of readRecordings("openai-chat")) {
  Deno.test(`OpenAiChatAdapter agrees with the official client about ${name}`, async () => {
    const completion = await withClient(
      body,
      (client) =>
        client.chat.completions.stream({ model: "m", messages: [] }).finalChatCompletion(),
    );

    const { message } = outcomeOf(createOpenAiChatAdapter(), [body]);

    const [choice] = completion.choices;
    const { usage } = completion;
    const cacheRead = usage?.prompt_tokens_details?.cached_tokens ?? 0;
    const cacheWrite = usage?.prompt_tokens_details?.cache_write_tokens ?? 0;
    assertEquals(summaryOf(message), {
      text: `${choice?.message.content ?? ""}${choice?.message.refusal ?? ""}`,
      toolCalls: (choice?.message.tool_calls ?? []).map((call) =>
        call.type === "function"
          ? {
            id: call.id,
            name: call.function.name,
            arguments: JSON.parse(call.function.arguments),
          }
          : { id: call.id, name: call.custom.name, arguments: { input: call.custom.input } }
      ),
      stopReason: choice?.finish_reason === "tool_calls" ? "tool_use" : `${choice?.finish_reason}`,
      usage: {
        input: (usage?.prompt_tokens ?? 0) - cacheRead - cacheWrite,
        output: usage?.completion_tokens ?? 0,
        cacheRead,
        cacheWrite,
        totalTokens: usage?.total_tokens ?? 0,
      },
    });
  });
}

for (const { name, body } of readRecordings("openai-responses")) {
  Deno.test(`OpenAiResponsesAdapter agrees with the official client about ${name}`, async () => {
    const response = await withClient(
      body,
      (client) => client.responses.stream({ model: "m", input: "" }).finalResponse(),
    );

    const { message } = outcomeOf(createOpenAiResponsesAdapter(), [body]);

    const { output, usage } = response;
    const cacheRead = usage?.input_tokens_details.cached_tokens ?? 0;
    const cacheWrite = usage?.input_tokens_details.cache_write_tokens ?? 0;
    const toolCalls = output.flatMap((item) =>
      item.type === "function_call"
        ? [{ id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) }]
        : []
    );
    assertEquals(summaryOf(message), {
      text: output.flatMap((item) => item.type === "message" ? item.content : []).map((part) =>
        part.type === "output_text" ? part.text : part.refusal
      ).join(""),
      toolCalls,
      stopReason: response.status === "incomplete"
        ? "length"
        : toolCalls.length > 0
        ? "tool_use"
        : "stop",
      usage: {
        input: (usage?.input_tokens ?? 0) - cacheRead - cacheWrite,
        output: usage?.output_tokens ?? 0,
        cacheRead,
        cacheWrite,
        totalTokens: usage?.total_tokens ?? 0,
      },
    });
  });
}

const options = { now: () => 0 };

for (const { name, body } of readRecordings("openai-chat")) {
  Deno.test(`streamOpenAiChat reads the official client's stream of ${name}`, async () => {
    for (const ask of ["create", "stream", "late"] as const) {
      const message = await withClient(body, async (client) => {
        if (ask === "create") {
          const answer = client.chat.completions.create({ model: "m", messages: [], stream: true });
          return streamOpenAiChat(answer, options).result();
        }
        const helper = client.chat.completions.stream({ model: "m", messages: [] });
        const events = streamOpenAiChat(helper, options);
        if (ask === "late") await helper.done();
        return events.result();
      });

      assertEquals(message, outcomeOf(createOpenAiChatAdapter(options), [body]).message);
    }
  });
}

for (const { name, body } of readRecordings("openai-responses")) {
  Deno.test(`streamOpenAiResponses reads the official client's stream of ${name}`, async () => {
    for (const ask of ["create", "stream", "late"] as const) {
      const message = await withClient(body, async (client) => {
        if (ask === "create") {
          const answer = client.responses.create({ model: "m", input: "", stream: true });
          return streamOpenAiResponses(answer, options).result();
        }
        const helper = client.responses.stream({ model: "m", input: "" });
        const events = streamOpenAiResponses(helper, options);
        if (ask === "late") await helper.done();
        return events.result();
      });

      assertEquals(message, outcomeOf(createOpenAiResponsesAdapter(options), [body]).message);
    }
  });
}

Deno.test("streamOpenAiChat reads what the official client throws", async () => {
  const error = { type: "requests", code: null, message: "Too many requests" };
  const headers = { "x-request-id": "req_1", "retry-after": "2" };
  const answers: ReadonlyArray<readonly [() => Response, string, object]> = [
    [
      () => Response.json({ error }, { status: 429, headers }),
      "HTTP status 429: Too many requests",
      { providerErrorType: "requests", status: 429, retryAfter: 2000 },
    ],
    [
      () =>
        new Response(`data: ${JSON.stringify({ error })}\n\n`, {
          headers: { "x-request-id": "req_1", "content-type": "text/event-stream" },
        }),
      "Too many requests",
      { providerErrorType: "requests" },
    ],
    [
      () => new Response("<title>Bad gateway</title>", { status: 502, headers }),
      "HTTP status 502: <title>Bad gateway</title>",
      { status: 502, retryAfter: 2000 },
    ],
  ];
  for (const [answer, errorMessage, details] of answers) {
    const message = await withAnswer(answer, (client) =>
      streamOpenAiChat(
        client.chat.completions.create({ model: "m", messages: [], stream: true }),
      ).result());

    assertEquals(message.errorMessage, errorMessage);
    assertEquals(message.errorDetails, { requestId: "req_1", ...details });
  }
});

Deno.test("streamOpenAiChat refuses the answers of a client that runs calls itself", async () => {
  const call = { index: 0, id: "call_1", type: "function" };
  const completions = [
    [
      { tool_calls: [{ ...call, function: { name: "get_tide", arguments: "" } }] },
      { tool_calls: [{ index: 0, function: { arguments: "{}" } }] },
    ],
    [{ content: "High at " }, { content: "noon" }],
  ];
  let count = 0;
  const message = await withAnswer(
    () => {
      const deltas = completions[count] ?? [];
      const reason = count === 0 ? "tool_calls" : "stop";
      const head = { id: `chatcmpl-${++count}`, object: "chat.completion.chunk", model: "m" };
      const chunks = deltas.map((delta, i) => {
        const finish_reason = i === deltas.length - 1 ? reason : null;
        return {
          ...head,
          choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason }],
        };
      });
      const body = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
      const headers = { "content-type": "text/event-stream" };
      return new Response(`${body}data: [DONE]\n\n`, { headers });
    },
    (client) =>
      streamOpenAiChat(client.chat.completions.runTools({
        model: "m",
        stream: true,
        messages: [{ role: "user", content: "When is high tide?" }],
        tools: [{
          type: "function",
          function: {
            name: "get_tide",
            description: "Says when high tide is",
            parameters: { type: "object", properties: {} },
            function: () => "12:00",
          },
        }],
      })).result(),
  );

  // As `tool_use` it would have been run twice.
  assertEquals(
    message.errorMessage,
    "Expected the chunks of one completion, received those of another after its calls",
  );
});
