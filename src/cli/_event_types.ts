import type { StreamEventType } from "../types.ts";

const TYPES: Readonly<Record<StreamEventType, true>> = {
  start: true,
  text_start: true,
  text_delta: true,
  text_end: true,
  thinking_start: true,
  thinking_delta: true,
  thinking_end: true,
  tool_call_start: true,
  tool_call_delta: true,
  tool_call_end: true,
  done: true,
  error: true,
};

/** The types of the stream events. */
export const EVENT_TYPES: ReadonlySet<unknown> = new Set(Object.keys(TYPES));
