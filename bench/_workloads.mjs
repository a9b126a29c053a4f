/**
 * What is measured on: streams of events as a wire gives them, each parsed from a text of its own.
 * (Literals are quicker by two fifths, and no wire gives them.)
 *
 * @module
 */

const WORDS = "a model answers with one token after another until it has said what there is to say"
  .split(" ");

/** Numbers that look random and are the same in every run. */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export function prose(length, seed = 1) {
  const random = createRandom(seed);
  let text = "";
  while (text.length < length) text += `${WORDS[Math.floor(random() * WORDS.length)]} `;
  // Flat, as a text from a wire is.
  return JSON.parse(JSON.stringify(text.slice(0, length)));
}

function toolArguments(length, seed) {
  const random = createRandom(seed);
  const items = [];
  let written = 20;
  while (written < length) {
    const item = {
      id: Math.floor(random() * 1e6),
      name: WORDS[Math.floor(random() * WORDS.length)],
      isOpen: random() > 0.5,
      score: Math.round(random() * 1000) / 8,
      tags: ["a", "b"],
      place: { line: Math.floor(random() * 1000), text: prose(24, written) },
    };
    items.push(item);
    written += JSON.stringify(item).length + 1;
  }
  return { path: "src/index.ts", items };
}

function cut(text, length) {
  const pieces = [];
  for (let i = 0; i < text.length; i += length) pieces.push(text.slice(i, i + length));
  return pieces;
}

const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const USAGE = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: COST };

function build(blocks) {
  const events = [{ type: "start" }];
  const content = [];
  blocks.forEach(({ kind, value, delta }, contentIndex) => {
    if (kind === "tool_call") {
      const call = { type: kind, id: `call_${contentIndex}`, name: "tool", arguments: value };
      events.push({ type: "tool_call_start", contentIndex, id: call.id, name: call.name });
      for (const argumentsDelta of cut(JSON.stringify(value), delta)) {
        events.push({ type: "tool_call_delta", contentIndex, argumentsDelta });
      }
      events.push({ type: "tool_call_end", contentIndex, toolCall: call });
      content.push(call);
    } else {
      events.push({ type: `${kind}_start`, contentIndex });
      for (const piece of cut(value, delta)) {
        events.push({ type: `${kind}_delta`, contentIndex, delta: piece });
      }
      events.push({ type: `${kind}_end`, contentIndex, content: value });
      content.push({ type: kind, [kind]: value });
    }
  });
  const message = { role: "assistant", content, provider: "p", model: "m", usage: USAGE };
  events.push({
    type: "done",
    reason: "stop",
    message: { ...message, timestamp: 1, stopReason: "stop" },
  });
  return events;
}

const text = (length, delta, seed) => ({ kind: "text", value: prose(length, seed), delta });
const thinking = (length, delta, seed) => ({ kind: "thinking", value: prose(length, seed), delta });
const tool = (length, delta, seed) => ({
  kind: "tool_call",
  value: toolArguments(length, seed),
  delta,
});

const WORKLOADS = {
  /** Chat text: 2,000 characters in deltas of 4. */
  W1: () => build([text(2000, 4)]),
  /** Thinking, text, three tools. */
  W2: () => build([thinking(800, 4), text(800, 4), ...[1, 2, 3].map((i) => tool(1140, 6, i))]),
  /** One tool call of a megabyte in 100,000 deltas. */
  W3: () => build([tool(1e6 - 60, 10, 1)]),
  /** 200 small blocks. */
  W4: () =>
    build(
      Array.from(
        { length: 200 },
        (_, i) => i % 3 === 2 ? tool(140, 10, i) : i % 3 ? thinking(100, 5, i) : text(100, 5, i),
      ),
    ),
  /** A million deltas of one character. */
  W5: () => build([text(1e6, 1)]),
};

/** The lines of a workload, one JSON text an event. */
export function linesOf(name) {
  return WORKLOADS[name]().map((event) => JSON.stringify(event));
}

/** The events of a workload, each parsed from its own text. */
export function eventsOf(name) {
  return linesOf(name).map((line) => JSON.parse(line));
}

/** The body of a workload as NDJSON, in chunks. */
export function chunksOf(name, length = 4096) {
  const bytes = new TextEncoder().encode(linesOf(name).map((line) => `${line}\n`).join(""));
  const chunks = [];
  for (let i = 0; i < bytes.length; i += length) chunks.push(bytes.slice(i, i + length));
  return chunks;
}
