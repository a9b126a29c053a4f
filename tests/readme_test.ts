import { assert, assertEquals, assertRejects } from "@std/assert";
import ts from "typescript";
import type { ToolCallContent } from "../mod.ts";
import { streamAnthropicMessages } from "../src/adapters/anthropic/mod.ts";

/** The program without its types and comments, laid out anew. */
function strip(code: string): string {
  const { ES2022: target } = ts.ScriptTarget;
  const { ESNext: module } = ts.ModuleKind;
  return ts.transpileModule(code, { compilerOptions: { target, module, removeComments: true } })
    .outputText;
}

Deno.test("README shows the example Worker as it is, but for its types", async () => {
  const readme = await Deno.readTextFile(new URL("../README.md", import.meta.url));
  const example = await Deno.readTextFile(
    new URL("../examples/worker_proxy.ts", import.meta.url),
  );

  const shown = /^## On the edge$[^]*?^```ts ignore\n([^]*?)^```$/m.exec(readme)?.[1];

  assert(shown);
  assertEquals(strip(shown), strip(example));
});

Deno.test("README's first example asks the API for a stream, gives its message, and throws a refusal", async () => {
  const readme = await Deno.readTextFile(new URL("../README.md", import.meta.url));
  const shown = /^```ts\n[^`]*?\n(async function ask\([^]*?)^```$/m.exec(readme)?.[1];
  assert(shown);
  const requests: Request[] = [];
  const ask = (response: Response) =>
    new Function("streamAnthropicMessages", "fetch", `${strip(shown)}; return ask;`)(
      streamAnthropicMessages,
      (url: string, init: RequestInit) => {
        requests.push(new Request(url, init));
        return Promise.resolve(response);
      },
    )("key_1", "model-1", "Hello?");
  const said = [
    { type: "message_start", message: { model: "m", usage: { input_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello." } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ].map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join("");

  const message = await ask(
    new Response(said, { headers: { "content-type": "text/event-stream" } }),
  );
  assertEquals(message.content, [{ type: "text", text: "Hello." }]);
  assertEquals(requests[0]?.url, "https://api.anthropic.com/v1/messages");
  assertEquals(requests[0]?.headers.get("x-api-key"), "key_1");
  assertEquals(await requests[0]?.json(), {
    model: "model-1",
    max_tokens: 1024,
    stream: true,
    messages: [{ role: "user", content: "Hello?" }],
  });

  const error = { type: "overloaded_error", message: "Overloaded" };
  await assertRejects(
    () => ask(Response.json({ type: "error", error }, { status: 529 })),
    Error,
    "http_error: HTTP status 529: Overloaded",
  );
});

Deno.test("README's loop runs a whole call, sends its result back, and throws a broken answer", async () => {
  const readme = await Deno.readTextFile(new URL("../README.md", import.meta.url));
  const shown = /^```ts\nimport type [^]*?\n(async function answer\([^]*?)^```$/m.exec(readme)?.[1];
  assert(shown);
  const answer = new Function("streamAnthropicMessages", `${strip(shown)}; return answer;`)(
    streamAnthropicMessages,
  );
  const reply = (block: object, stopReason: string, ...deltas: object[]) =>
    new Response(
      [
        { type: "message_start", message: { model: "m", usage: { input_tokens: 1 } } },
        { type: "content_block_start", index: 0, content_block: block },
        ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: stopReason }, usage: { output_tokens: 1 } },
        { type: "message_stop" },
      ].map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join(""),
      { headers: { "content-type": "text/event-stream" } },
    );
  const call = { type: "tool_use", id: "toolu_1", name: "weather", input: {} };
  const part = { type: "input_json_delta", partial_json: '{"city":"Oslo"}' };
  const thinking = { type: "thinking", thinking: "", signature: "c2ln" };
  const run = (calls: ToolCallContent[]) => (whole: ToolCallContent) => {
    calls.push(whole);
    return Promise.resolve("sunny");
  };

  const replies = [
    reply(call, "tool_use", part),
    reply({ type: "text", text: "" }, "end_turn", { type: "text_delta", text: "Sunny." }),
  ];
  const messages: object[] = [{ role: "user", content: "Weather in Oslo?" }];
  const calls: ToolCallContent[] = [];
  const message = await answer(messages, () => replies.shift(), run(calls));
  assertEquals(message.content, [{ type: "text", text: "Sunny." }]);
  assertEquals(calls.map((whole) => whole.arguments), [{ city: "Oslo" }]);
  assertEquals(messages.slice(1), [
    { role: "assistant", content: [{ ...call, input: { city: "Oslo" } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "sunny" }] },
  ]);

  // A half call is never run.
  const half = [reply(call, "tool_use", { ...part, partial_json: '{"city":"Os' })];
  const none: ToolCallContent[] = [];
  await assertRejects(
    () => answer([], () => half.shift(), run(none)),
    Error,
    "invalid_tool_arguments: ",
  );
  assertEquals(none, []);

  // What was signed goes back as it came.
  const signed = new Response(
    (await reply(thinking, "x").text()).replace(/event: message_delta[^]*/, "") +
      (await reply(call, "tool_use", part).text()).replace(/^[^]*?(?=event: content)/, "")
        .replaceAll('"index":0', '"index":1'),
    { headers: { "content-type": "text/event-stream" } },
  );
  const turns = [signed, reply({ type: "text", text: "Sunny." }, "end_turn")];
  const history: object[] = [];
  await answer(history, () => turns.shift(), run([]));
  assertEquals(history[0], {
    role: "assistant",
    content: [thinking, { ...call, input: { city: "Oslo" } }],
  });
});
