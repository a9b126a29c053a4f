/** Streams of events for the tests of the command line. */

import { toStreamEvents } from "../../mod.ts";
import type { AssistantContent, StreamEvent } from "../../mod.ts";
import { USAGE } from "../_usage.ts";

/** The events of a finished message. */
export function eventsOf(
  content: readonly AssistantContent[],
  deltaLength = 8,
): StreamEvent[] {
  const hasCall = content.some(({ type }) => type === "tool_call");
  return [...toStreamEvents({
    role: "assistant",
    content,
    provider: "demo",
    model: "demo-1",
    usage: USAGE,
    timestamp: 0,
    stopReason: hasCall ? "tool_use" : "stop",
  }, { deltaLength })];
}

/** A healthy stream: thinking, text and a tool call. */
export const HEALTHY: readonly StreamEvent[] = eventsOf([
  { type: "thinking", thinking: "The tide tables should say it." },
  { type: "text", text: "I look up the tide." },
  { type: "tool_call", id: "call_1", name: "get_tide", arguments: { harbour: "Tromsø", days: 3 } },
]);

/** Writes events, or whatever stands for them, one a line. */
export function ndjson(events: readonly unknown[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join("");
}

/** Leaves out the events at some places. */
export function without(events: readonly unknown[], ...places: readonly number[]): unknown[] {
  return events.filter((_, index) => !places.includes(index));
}
