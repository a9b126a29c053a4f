import type { StreamEvent } from "../types.ts";
import { encodeEvent } from "../wire/_encode_event.ts";
import type { StreamEventFormat } from "../wire/_frame_parser.ts";
import { UnreadableError } from "./_errors.ts";
import { EVENT_TYPES } from "./_event_types.ts";

/**
 * Writes an event of a recording, right or wrong, as it stands in a body.
 *
 * @throws {UnreadableError} It nests deeper than JSON can be written.
 */
export function writeEvent(event: unknown, format: StreamEventFormat, position: number): string {
  // The name of an event stands on a line of its own, so it may be none but those that are known.
  const isKnown = EVENT_TYPES.has((event as { readonly type?: unknown } | null)?.type);
  const json = writeJson(event);
  return isKnown || format === "ndjson"
    ? encodeEvent(event as StreamEvent, format, position, json)
    : `id: ${position}\ndata: ${json}\n\n`;
}

function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UnreadableError("it has an event that nests too deep to be written");
  }
}
