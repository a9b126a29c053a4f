import type { StreamEvent } from "../types.ts";
import { readString } from "./_read_string.ts";

/**
 * Reads a delta of the open block from its line, as `JSON.parse` would. Nearly all lines are such
 * lines, and how `JSON.stringify` begins and ends them is known from the start of the block; to compare
 * that takes a quarter of the time of `JSON.parse`, and a fifth off that of `readStreamEvents`. Any
 * other line is left to `JSON.parse`.
 */
export class DeltaLine {
  #prefix = "";
  #type = "";
  #contentIndex = 0;

  /** Takes an event that may start a block, and says how the lines of its deltas begin. */
  expect(event: StreamEvent): void {
    const { type } = event;
    if (!(type === "text_start" || type === "thinking_start" || type === "tool_call_start")) return;
    const { contentIndex } = event;
    // Nothing is known of it yet: to make a text of what is no number could throw.
    if (typeof contentIndex !== "number") return;
    const index = String(contentIndex);
    // Any other number may be written in another way.
    if (!/^\d{1,15}$/.test(index)) return;
    const field = type === "tool_call_start" ? "argumentsDelta" : "delta";
    this.#type = type.replace("start", "delta");
    this.#contentIndex = Number(index); // 0 for -0
    this.#prefix = `{"type":"${this.#type}","contentIndex":${index},"${field}":"`;
  }

  /** Reads a line, or says `undefined` where it is not quite what was expected. */
  read(line: string): StreamEvent | undefined {
    const prefix = this.#prefix;
    const start = prefix.length;
    const end = line.length - 2;
    if (start === 0 || end < start || !line.startsWith(prefix) || !line.endsWith('"}')) {
      return undefined;
    }
    const delta = readString(line, start, end);
    if (delta === undefined) return undefined;
    const type = this.#type;
    const contentIndex = this.#contentIndex;
    return (type === "tool_call_delta"
      ? { type, contentIndex, argumentsDelta: delta }
      : { type, contentIndex, delta }) as StreamEvent;
  }
}
