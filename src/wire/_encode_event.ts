import type { StreamEvent } from "../types.ts";
import type { StreamEventFormat } from "./_frame_parser.ts";

/**
 * Writes one event as it stands in a body.
 *
 * @param event The event.
 * @param format How to write it.
 * @param position Its place among the events of its stream.
 * @param json The event as JSON, where that is at hand.
 */
export function encodeEvent(
  event: StreamEvent,
  format: StreamEventFormat,
  position: number,
  json: string = JSON.stringify(event),
): string {
  return format === "ndjson"
    ? `${json}\n`
    : `event: ${event.type}\nid: ${position}\ndata: ${json}\n\n`;
}
