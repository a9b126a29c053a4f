/**
 * Measures one thing in this process, and prints its ratio as JSON.
 *
 * @module
 */

import { drain, floor, parseChunks, sourceOf } from "./_floors.mjs";
import { compare, median } from "./_harness.mjs";
import { chunksOf, eventsOf, linesOf, prose } from "./_workloads.mjs";

const [name, library, mode] = globalThis.Deno ? Deno.args : process.argv.slice(2);
const isQuick = mode === "quick";
const {
  createStreamEventValidator,
  EventStream,
  readStreamEvents,
  streamAnthropicMessages,
  StreamEventDecoderStream,
  StreamEventValidatorStream,
  streamOpenAiChat,
} = await import(library);

function validate(events) {
  const validator = createStreamEventValidator();
  for (let i = 0; i < events.length; i++) validator.accept(events[i]);
  validator.end();
}

/** Times work for a size and for ten (or so) times that size: the cost each must not grow. */
async function growth(work, small, large, rounds = 5) {
  const cost = async (size) => {
    const start = performance.now();
    await work(size);
    return (performance.now() - start) / size;
  };
  await cost(small);
  const [smalls, larges] = [[], []];
  for (let i = 0; i < (isQuick ? 1 : rounds); i++) {
    const many = [];
    for (let k = 0; k < (isQuick ? 1 : 20); k++) many.push(await cost(small));
    smalls.push(median(many));
    larges.push(await cost(isQuick ? small : large));
  }
  return median(larges) / median(smalls);
}

function heapUsed() {
  const collect = globalThis.gc ?? (() => globalThis.Bun.gc(true));
  collect();
  collect();
  return globalThis.Deno ? Deno.memoryUsage().heapUsed : process.memoryUsage().heapUsed;
}

/** The heap that open streams take, against their text; each stands somewhere else in its text. */
function heap(deltaLength) {
  const count = isQuick ? 100 : 10_000;
  const lengthOf = (i) => 1000 + Math.floor((2000 * i) / count);
  const text = prose(3000);
  // Kept alive until the heap was read.
  const validators = globalThis.validators = [];
  const before = heapUsed();
  for (let i = 0; i < count; i++) {
    const validator = createStreamEventValidator();
    validator.accept({ type: "start" });
    validator.accept({ type: "text_start", contentIndex: 0 });
    validators.push(validator);
  }
  let written = 0;
  for (let at = 0; at < text.length; at += deltaLength) {
    const json = JSON.stringify({
      type: "text_delta",
      contentIndex: 0,
      delta: text.slice(at, at + deltaLength),
    });
    for (let i = 0; i < count; i++) {
      if (at >= lengthOf(i)) continue;
      validators[i].accept(JSON.parse(json));
      written += deltaLength;
    }
  }
  return (heapUsed() - before) / written;
}

function accept(workload) {
  return async () => {
    const events = eventsOf(workload);
    const variants = { floor: () => floor(events), accept: () => validate(events) };
    return (await compare(variants, { base: "floor", rounds: 25, isQuick })).accept;
  };
}

/** Text and tool arguments as AG-UI has them. */
function toAgUi(events) {
  const result = [{ type: "RUN_STARTED", threadId: "t", runId: "r" }];
  for (const event of events) {
    const messageId = `m${event.contentIndex}`;
    const toolCallId = `t${event.contentIndex}`;
    switch (event.type) {
      case "text_start":
      case "thinking_start":
        result.push({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
        break;
      case "text_delta":
      case "thinking_delta":
        result.push({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: event.delta });
        break;
      case "text_end":
      case "thinking_end":
        result.push({ type: "TEXT_MESSAGE_END", messageId });
        break;
      case "tool_call_start":
        result.push({ type: "TOOL_CALL_START", toolCallId, toolCallName: event.name });
        break;
      case "tool_call_delta":
        result.push({ type: "TOOL_CALL_ARGS", toolCallId, delta: event.argumentsDelta });
        break;
      case "tool_call_end":
        result.push({ type: "TOOL_CALL_END", toolCallId });
        break;
    }
  }
  result.push({ type: "RUN_FINISHED", threadId: "t", runId: "r" });
  return result.map((event) => JSON.parse(JSON.stringify(event)));
}

/** Text as the `ai` package's UI message stream has it. */
function toUiChunks(events) {
  const result = [{ type: "start" }];
  for (const event of events) {
    const id = `${event.contentIndex}`;
    if (event.type === "text_start") result.push({ type: "text-start", id });
    if (event.type === "text_delta") result.push({ type: "text-delta", id, delta: event.delta });
    if (event.type === "text_end") result.push({ type: "text-end", id });
  }
  result.push({ type: "finish" });
  return result.map((chunk) => JSON.parse(JSON.stringify(chunk)));
}

const SSE = { headers: { "content-type": "text/event-stream" } };

/** Text as the Messages API streams it. */
function toAnthropicBody(events) {
  const usage = { input_tokens: 9, output_tokens: 1 };
  const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], usage };
  const payloads = [{ type: "message_start", message }];
  for (const { type, contentIndex: index, delta } of events) {
    if (type === "text_start") {
      const block = { type: "text", text: "" };
      payloads.push({ type: "content_block_start", index, content_block: block });
    } else if (type === "text_delta") {
      const text = { type: "text_delta", text: delta };
      payloads.push({ type: "content_block_delta", index, delta: text });
    } else if (type === "text_end") payloads.push({ type: "content_block_stop", index });
  }
  const delta = { stop_reason: "end_turn", stop_sequence: null };
  payloads.push({ type: "message_delta", delta, usage: { output_tokens: 9 } });
  payloads.push({ type: "message_stop" });
  return payloads
    .map((payload) => `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`).join("");
}

/** Text as Chat Completions stream it. */
function toChatBody(events) {
  const chunk = (delta, finish_reason = null) => ({
    id: "c",
    object: "chat.completion.chunk",
    created: 0,
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const chunks = [chunk({ role: "assistant", content: "" })];
  for (const { type, delta } of events) {
    if (type === "text_delta") chunks.push(chunk({ content: delta }));
  }
  chunks.push(chunk({}, "stop"));
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("") +
    "data: [DONE]\n\n";
}

/** A response whose body comes in chunks, as from a socket. */
function respond(text) {
  const bytes = new TextEncoder().encode(text);
  const chunks = [];
  for (let i = 0; i < bytes.length; i += 4096) chunks.push(bytes.slice(i, i + 4096));
  return () => new Response(sourceOf(chunks), SSE);
}

async function readAll(stream) {
  for await (const _ of stream);
  return await stream.result();
}

function nested(depth) {
  return '{"a":'.repeat(depth) + "1" + "}".repeat(depth);
}

function acceptCall(text, args) {
  const limits = { contentBlocks: Infinity, messageLength: Infinity, argumentsDepth: Infinity };
  const validator = createStreamEventValidator({ limits });
  validator.accept({ type: "start" });
  validator.accept({ type: "tool_call_start", contentIndex: 0, id: "call_0", name: "tool" });
  validator.accept({ type: "tool_call_delta", contentIndex: 0, argumentsDelta: text });
  const toolCall = { type: "tool_call", id: "call_0", name: "tool", arguments: args };
  validator.accept({ type: "tool_call_end", contentIndex: 0, toolCall });
}

const MEASUREMENTS = {
  W1: accept("W1"),
  W2: accept("W2"),
  W3: accept("W3"),
  W4: accept("W4"),
  W5: accept("W5"),
  async interleaved() {
    const lines = linesOf("W2");
    const count = isQuick ? 10 : 1000;
    const walk = (step) => {
      for (const line of lines) for (let i = 0; i < count; i++) step(i, line);
    };
    return (await compare({
      parse: () => {
        let length = 0;
        walk((_, line) => length += JSON.parse(line).type.length);
        return length;
      },
      accept: () => {
        const validators = Array.from({ length: count }, () => createStreamEventValidator());
        walk((i, line) => validators[i].accept(JSON.parse(line)));
      },
    }, { base: "parse", milliseconds: 1, rounds: 9, isQuick })).accept;
  },
  heap4: () => heap(4),
  heap1: () => heap(1),
  async stream() {
    const events = eventsOf("W2");
    const run = (create) => () => drain(sourceOf(events).pipeThrough(create()));
    return (await compare({
      bare: run(() =>
        new TransformStream(
          { transform: (event, controller) => controller.enqueue(event) },
          undefined,
          { highWaterMark: 0 },
        )
      ),
      validating: run(() => new StreamEventValidatorStream()),
    }, { base: "bare", rounds: 25, isQuick })).validating;
  },
  async pipe() {
    const chunks = chunksOf("W2");
    const splitter = () => {
      let rest = "";
      return new TransformStream({
        transform(text, controller) {
          const lines = (rest + text).split("\n");
          rest = lines.pop();
          for (const line of lines) controller.enqueue(line);
        },
      });
    };
    const transform = (step) =>
      new TransformStream({
        transform: (value, controller) => controller.enqueue(step(value)),
      });
    return 1 / (await compare({
      chained: () => {
        const validator = createStreamEventValidator();
        return drain(
          sourceOf(chunks).pipeThrough(new TextDecoderStream()).pipeThrough(splitter())
            .pipeThrough(transform(JSON.parse))
            .pipeThrough(transform((event) => (validator.accept(event), event))),
        );
      },
      ours: () =>
        drain(
          sourceOf(chunks).pipeThrough(
            new StreamEventDecoderStream({
              format: "ndjson",
              validator: createStreamEventValidator(),
            }),
          ),
        ),
    }, { base: "chained", isQuick })).ours;
  },
  async read() {
    const chunks = chunksOf("W2");
    return (await compare({
      floor: () => parseChunks(chunks),
      read: async () => {
        let count = 0;
        const stream = readStreamEvents(sourceOf(chunks), { format: "ndjson" });
        for await (const _ of stream) count++;
        return count;
      },
    }, { base: "floor", rounds: 25, isQuick })).read;
  },
  deltas() {
    const event = JSON.parse('{"type":"text_delta","contentIndex":0,"delta":"word"}');
    return growth(
      (size) => {
        const validator = createStreamEventValidator();
        validator.accept({ type: "start" });
        validator.accept({ type: "text_start", contentIndex: 0 });
        for (let i = 0; i < size; i++) validator.accept(event);
      },
      10_000,
      10_000_000,
      3,
    );
  },
  queue() {
    return growth(
      async (size) => {
        const stream = new EventStream({
          isTerminal: (event) => event === 0,
          getResult: () => undefined,
        });
        for (let i = size; i >= 0; i--) stream.push(i);
        for await (const _ of stream);
      },
      10_000,
      1_000_000,
    );
  },
  async agUi() {
    const { verifyEvents } = await import("@ag-ui/client");
    const { from } = await import("rxjs");
    const events = eventsOf("W2");
    const theirs = toAgUi(events);
    return (await compare({
      ours: () => validate(events),
      theirs: () =>
        new Promise((resolve, reject) =>
          verifyEvents()(from(theirs)).subscribe({ complete: resolve, error: reject })
        ),
    }, { base: "ours", isQuick })).theirs;
  },
  async ai() {
    const { readUIMessageStream } = await import("ai");
    const chunks = chunksOf("W1");
    const uiChunks = toUiChunks(eventsOf("W1"));
    return (await compare({
      ours: async () => {
        for await (const _ of readStreamEvents(sourceOf(chunks), { format: "ndjson" }));
      },
      theirs: async () => {
        for await (const _ of readUIMessageStream({ stream: sourceOf(uiChunks) }));
      },
    }, { base: "ours", isQuick })).theirs;
  },
  async anthropic() {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const answer = respond(toAnthropicBody(eventsOf("W1")));
    const client = new Anthropic({ apiKey: "none", fetch: () => Promise.resolve(answer()) });
    const request = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
    return (await compare({
      ours: () => readAll(streamAnthropicMessages(answer())),
      theirs: () => client.messages.stream(request).finalMessage(),
    }, { base: "ours", isQuick })).theirs;
  },
  async openAiChat() {
    const { default: OpenAI } = await import("openai");
    const answer = respond(toChatBody(eventsOf("W1")));
    const client = new OpenAI({ apiKey: "none", fetch: () => Promise.resolve(answer()) });
    const request = { model: "m", messages: [{ role: "user", content: "Hi" }] };
    return (await compare({
      ours: () => readAll(streamOpenAiChat(answer())),
      theirs: () => client.chat.completions.stream(request).finalChatCompletion(),
    }, { base: "ours", isQuick })).theirs;
  },
  depth() {
    const texts = new Map();
    return growth(
      (size) => {
        const text = texts.get(size) ?? nested(size);
        texts.set(size, text);
        acceptCall(text, JSON.parse(text));
      },
      100_000,
      1_000_000,
      3,
    );
  },
  width() {
    return growth(
      (size) => {
        const args = { items: Array.from({ length: size }, (_, i) => i) };
        acceptCall(JSON.stringify(args), args);
      },
      100_000,
      1_000_000,
      3,
    );
  },
  length() {
    const piece = prose(64 * 1024);
    return growth(
      (size) => {
        const validator = createStreamEventValidator({ limits: { messageLength: Infinity } });
        validator.accept({ type: "start" });
        validator.accept({ type: "text_start", contentIndex: 0 });
        const count = size / piece.length;
        for (let i = 0; i < count; i++) {
          validator.accept({ type: "text_delta", contentIndex: 0, delta: piece });
        }
        validator.accept({ type: "text_end", contentIndex: 0, content: piece.repeat(count) });
      },
      4 * 1024 * 1024,
      64 * 1024 * 1024,
      3,
    );
  },
};

console.log(JSON.stringify(await MEASUREMENTS[name]()));
