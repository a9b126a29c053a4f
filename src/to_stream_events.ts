import { kindOf } from "./_json.ts";
import type {
  AssistantContent,
  AssistantMessage,
  FailedAssistantMessage,
  StreamEvent,
} from "./types.ts";

/** Options of {@linkcode toStreamEvents}. */
export interface ToStreamEventsOptions {
  /**
   * The longest delta, in UTF-16 code units. A surrogate pair is never cut, so that a delta of
   * length 1 may have 2.
   *
   * @default {Infinity}
   */
  readonly deltaLength?: number;
}

/**
 * Makes the events that stream a finished message: for replaying a cached answer, for tests, for a
 * fake provider.
 *
 * @param message A successful or failed message.
 * @param options How to cut its texts.
 * @returns The events, from `start` to the terminal event, which carries the message itself.
 * @throws {TypeError} The message has no content array, or a block of an unknown type.
 * @throws {RangeError} `deltaLength` is neither a whole number from 1 on nor `Infinity`.
 *
 * @example Replaying a message
 * ```ts
 * import { toStreamEvents } from "@agent-stream/validator";
 * import { assertEquals } from "@std/assert";
 *
 * const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
 * const events = toStreamEvents({
 *   role: "assistant",
 *   content: [{ type: "text", text: "Hello" }],
 *   provider: "demo",
 *   model: "demo-1",
 *   usage: { input: 9, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 11, cost },
 *   timestamp: 0,
 *   stopReason: "stop",
 * }, { deltaLength: 3 });
 * assertEquals(
 *   events.map((event) => event.type === "text_delta" ? event.delta : event.type),
 *   ["start", "text_start", "Hel", "lo", "text_end", "done"],
 * );
 * ```
 */
export function toStreamEvents(
  message: AssistantMessage,
  options: ToStreamEventsOptions = {},
): StreamEvent[] {
  const { deltaLength = Infinity } = options;
  if (deltaLength !== Infinity && !(Number.isInteger(deltaLength) && deltaLength >= 1)) {
    throw new RangeError(
      `Expected deltaLength to be a whole number from 1 on or Infinity, received ${deltaLength}`,
    );
  }
  if (!Array.isArray(message?.content)) {
    throw new TypeError(
      `Expected a message with a content array, received content ${kindOf(message?.content)}`,
    );
  }
  const events: StreamEvent[] = [{ type: "start" }];
  message.content.forEach((block: AssistantContent, contentIndex) => {
    switch (block?.type) {
      case "text":
        events.push({ type: "text_start", contentIndex });
        for (const delta of cut(block.text, deltaLength)) {
          events.push({ type: "text_delta", contentIndex, delta });
        }
        events.push({ type: "text_end", contentIndex, content: block.text });
        break;
      case "thinking":
        events.push({ type: "thinking_start", contentIndex });
        for (const delta of cut(block.thinking, deltaLength)) {
          events.push({ type: "thinking_delta", contentIndex, delta });
        }
        events.push({ type: "thinking_end", contentIndex, content: block.thinking });
        break;
      case "tool_call":
        events.push({ type: "tool_call_start", contentIndex, id: block.id, name: block.name });
        for (const argumentsDelta of cut(JSON.stringify(block.arguments), deltaLength)) {
          events.push({ type: "tool_call_delta", contentIndex, argumentsDelta });
        }
        events.push({ type: "tool_call_end", contentIndex, toolCall: block });
        break;
      default:
        throw new TypeError(
          `Expected content[${contentIndex}] to be a text, thinking or tool_call block`,
        );
    }
  });
  events.push(
    isFailed(message)
      ? { type: "error", reason: message.stopReason, message }
      : { type: "done", reason: message.stopReason, message },
  );
  return events;
}

function isFailed(message: AssistantMessage): message is FailedAssistantMessage {
  return message.stopReason === "error" || message.stopReason === "aborted";
}

/** Cuts a text into pieces, never between the halves of a surrogate pair. */
function* cut(text: string, length: number): Generator<string> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + length, text.length);
    // A pair that the end would cut stays whole in this piece.
    if (end < text.length && (text.codePointAt(end - 1) as number) > 0xffff) end++;
    yield text.slice(start, end);
    start = end;
  }
}
