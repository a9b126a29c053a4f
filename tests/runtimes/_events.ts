import type { AssistantMessage, StreamEvent } from "@agent-stream/validator";

/** The message that {@linkcode EVENTS} stream. */
export const MESSAGE: AssistantMessage & { readonly stopReason: "tool_use" } = {
  role: "assistant",
  content: [
    { type: "thinking", thinking: "plan" },
    { type: "text", text: "Hello, 世界 🎉" },
    { type: "tool_call", id: "call_1", name: "lookup", arguments: { city: "Oslo" } },
  ],
  provider: "demo",
  model: "demo-1",
  usage: {
    input: 1,
    output: 2,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 3,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  },
  timestamp: 0,
  stopReason: "tool_use",
};

/** A stream with every kind of block. */
export const EVENTS: readonly StreamEvent[] = [
  { type: "start" },
  { type: "thinking_start", contentIndex: 0 },
  { type: "thinking_delta", contentIndex: 0, delta: "plan" },
  { type: "thinking_end", contentIndex: 0, content: "plan" },
  { type: "text_start", contentIndex: 1 },
  { type: "text_delta", contentIndex: 1, delta: "Hello, " },
  { type: "text_delta", contentIndex: 1, delta: "世界 🎉" },
  { type: "text_end", contentIndex: 1, content: "Hello, 世界 🎉" },
  { type: "tool_call_start", contentIndex: 2, id: "call_1", name: "lookup" },
  { type: "tool_call_delta", contentIndex: 2, argumentsDelta: '{"city":"Oslo"}' },
  {
    type: "tool_call_end",
    contentIndex: 2,
    toolCall: { type: "tool_call", id: "call_1", name: "lookup", arguments: { city: "Oslo" } },
  },
  { type: "done", reason: "tool_use", message: MESSAGE },
];

/** No stream accepts this one, wherever it comes. */
export const IMPOSSIBLE = { type: "text_delta", contentIndex: 99, delta: "x" } as const;

/** Writes one event. */
export function frameOf(event: unknown, format: string): string {
  const json = JSON.stringify(event);
  return format === "sse" ? `data: ${json}\n\n` : `${json}\n`;
}

/** The content type of a format. */
export function contentTypeOf(format: string): string {
  return format === "sse" ? "text/event-stream" : "application/x-ndjson";
}
