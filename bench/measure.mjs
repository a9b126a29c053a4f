/**
 * Measures one thing in this process, and prints its ratio as JSON.
 *
 * @module
 */

import {
  Accumulator,
  comparingFloor,
  createChunkParser,
  createEventStreamParser,
  drain,
  floor,
  iterate,
  parseChunks,
  readInLoop,
  sourceOf,
} from "./_floors.mjs";
import { compare, median } from "./_harness.mjs";
import { chunksOf, eventsOf, linesOf, prose } from "./_workloads.mjs";

const [name, library, mode] = globalThis.Deno ? Deno.args : process.argv.slice(2);
const isQuick = mode === "quick";
const {
  createStreamEventValidator,
  DeltaText,
  EventStream,
  readStreamEvents,
  streamAnthropicMessages,
  StreamEventDecoderStream,
  StreamEventValidatorStream,
  streamOpenAiChat,
} = await import(library);

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
    validators.push(openText());
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

function validate(events) {
  const validator = createStreamEventValidator();
  for (let i = 0; i < events.length; i++) validator.accept(events[i]);
  validator.end();
}

/** Times a way to take the events of a workload against the floor. */
function againstFloor(workload, take) {
  return async () => {
    const events = eventsOf(workload);
    const variants = { floor: () => floor(events), taken: () => take(events) };
    return (await compare(variants, { base: "floor", rounds: 25, isQuick })).taken;
  };
}

/** Times JSON.parse and what `create` makes, over interleaved streams, against JSON.parse alone. */
async function interleave(create) {
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
    taken: () => {
      const takers = Array.from({ length: count }, create);
      walk((i, line) => takers[i].accept(JSON.parse(line)));
    },
  }, { base: "parse", milliseconds: 1, rounds: 9, isQuick })).taken;
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

const NDJSON = { format: "ndjson" };
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

/** A body in chunks, as from a socket. */
function toChunks(text) {
  const bytes = new TextEncoder().encode(text);
  const chunks = [];
  for (let i = 0; i < bytes.length; i += 4096) chunks.push(bytes.slice(i, i + 4096));
  return chunks;
}

async function readAll(stream) {
  for await (const _ of stream);
  return await stream.result();
}

/** A TransformStream with the strategies of ours that looks at each event and enqueues it. */
function enqueueing(look) {
  return new TransformStream(
    {
      transform(event, controller) {
        look(event);
        controller.enqueue(event);
      },
    },
    { highWaterMark: 1 },
    { highWaterMark: 0 },
  );
}

async function streamAgainstBare(create) {
  const events = eventsOf("W2");
  const run = (create) => () => drain(sourceOf(events).pipeThrough(create()));
  return (await compare({ bare: run(() => enqueueing(() => {})), ours: run(create) }, {
    base: "bare",
    rounds: 25,
    isQuick,
  })).ours;
}

/** The least to read validated events with JSON.parse. */
async function readLeast(chunks) {
  const validator = createStreamEventValidator();
  await readInLoop(chunks, (take) =>
    createChunkParser((event) => {
      validator.accept(event);
      take(event);
    }));
  validator.end();
}

/** The least to make validated events of a provider's deltas: of all else on the wire, none. */
async function adaptLeast(chunks, createParser, textOf) {
  const validator = createStreamEventValidator();
  await readInLoop(chunks, (take) => {
    const put = (event) => {
      validator.accept(event);
      take(event);
    };
    put({ type: "start" });
    put({ type: "text_start", contentIndex: 0 });
    return createEventStreamParser(createParser, (payload) => {
      const delta = textOf(payload);
      if (delta) put({ type: "text_delta", contentIndex: 0, delta });
    });
  });
  return validator.partialContent();
}

/** Times a way to read a body against decoding, splitting and parsing it. */
async function readAgainstFloor(read) {
  const chunks = chunksOf("W2");
  return (await compare({ floor: () => parseChunks(chunks), read: () => read(chunks) }, {
    base: "floor",
    rounds: 25,
    isQuick,
  })).read;
}

/** How many times as long a peer takes. */
async function leadOver(theirs, ours) {
  return (await compare({ ours, theirs }, { base: "ours", isQuick })).theirs;
}

async function leadOfAgUi(workload) {
  const { verifyEvents } = await import("@ag-ui/client");
  const { from } = await import("rxjs");
  const events = eventsOf(workload);
  const theirs = toAgUi(events);
  return leadOver(
    () =>
      new Promise((resolve, reject) =>
        verifyEvents()(from(theirs)).subscribe({ complete: resolve, error: reject })
      ),
    () => validate(events),
  );
}

async function leadOfAi(read) {
  const { readUIMessageStream } = await import("ai");
  const chunks = chunksOf("W1");
  const uiChunks = toUiChunks(eventsOf("W1"));
  return leadOver(async () => {
    for await (const _ of readUIMessageStream({ stream: sourceOf(uiChunks) }));
  }, () => read(chunks));
}

const ANTHROPIC = {
  toBody: toAnthropicBody,
  async connect(fetch) {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const client = new Anthropic({ apiKey: "none", fetch });
    const request = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
    return () => client.messages.stream(request).finalMessage();
  },
};

const OPENAI = {
  toBody: toChatBody,
  async connect(fetch) {
    const { default: OpenAI } = await import("openai");
    const client = new OpenAI({ apiKey: "none", fetch });
    const request = { model: "m", messages: [{ role: "user", content: "Hi" }] };
    return () => client.chat.completions.stream(request).finalChatCompletion();
  },
};

async function leadOfClient({ toBody, connect }, read) {
  const chunks = toChunks(toBody(eventsOf("W1")));
  const { createParser } = await import("eventsource-parser");
  const theirs = await connect(() => Promise.resolve(new Response(sourceOf(chunks), SSE)));
  return leadOver(theirs, () => read(chunks, createParser));
}

function openText() {
  const validator = createStreamEventValidator();
  validator.accept({ type: "start" });
  validator.accept({ type: "text_start", contentIndex: 0 });
  return validator;
}

const DELTA = JSON.parse('{"type":"text_delta","contentIndex":0,"delta":"word"}');

function takeDeltas(validator, count) {
  for (let i = 0; i < count; i++) validator.accept(DELTA);
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
  ...Object.fromEntries(
    ["W1", "W2", "W3", "W4", "W5"].flatMap((workload) => [
      [workload, againstFloor(workload, validate)],
      [`${workload}Least`, againstFloor(workload, (events) => comparingFloor(events, DeltaText))],
    ]),
  ),
  interleaved: () => interleave(() => createStreamEventValidator()),
  interleavedLeast: () => interleave(() => new Accumulator()),
  heap4: () => heap(4),
  heap1: () => heap(1),
  stream: () => streamAgainstBare(() => new StreamEventValidatorStream()),
  streamLeast: () =>
    streamAgainstBare(() => {
      const validator = createStreamEventValidator();
      return enqueueing((event) => validator.accept(event));
    }),
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
  read: () => readAgainstFloor((chunks) => readAll(readStreamEvents(sourceOf(chunks), NDJSON))),
  readLeast: () => readAgainstFloor(readLeast),
  deltas: () => growth((size) => takeDeltas(openText(), size), 10_000, 10_000_000, 3),
  deltasLeast() {
    // The same 10,000 deltas: to new validators, and to validators that have survived a collection.
    const cost = (validator) => {
      const start = performance.now();
      takeDeltas(validator, 10_000);
      return performance.now() - start;
    };
    const ratios = [];
    for (let round = 0; round < (isQuick ? 1 : 9); round++) {
      const old = Array.from({ length: 50 }, openText);
      heapUsed();
      const olds = old.map(cost);
      ratios.push(median(olds) / median(Array.from({ length: 50 }, openText).map(cost)));
    }
    return median(ratios);
  },
  queue: () =>
    growth(
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
    ),
  queueLeast: () =>
    growth(
      async (size) => {
        const values = [];
        for (let i = size; i >= 0; i--) values.push(i);
        for await (const _ of iterate(values));
      },
      10_000,
      1_000_000,
    ),
  agUi: () => leadOfAgUi("W1"),
  agUiTools: () => leadOfAgUi("W2"),
  ai: () => leadOfAi((chunks) => readAll(readStreamEvents(sourceOf(chunks), NDJSON))),
  aiLeast: () => leadOfAi(readLeast),
  anthropic: () =>
    leadOfClient(
      ANTHROPIC,
      (chunks) => readAll(streamAnthropicMessages(new Response(sourceOf(chunks), SSE))),
    ),
  anthropicLeast: () =>
    leadOfClient(
      ANTHROPIC,
      (chunks, parser) => adaptLeast(chunks, parser, ({ delta }) => delta?.text),
    ),
  openAiChat: () =>
    leadOfClient(
      OPENAI,
      (chunks) => readAll(streamOpenAiChat(new Response(sourceOf(chunks), SSE))),
    ),
  openAiChatLeast: () =>
    leadOfClient(
      OPENAI,
      (chunks, parser) => adaptLeast(chunks, parser, ({ choices }) => choices[0].delta.content),
    ),
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
