import { kindOf } from "../_json.ts";
import type { StreamEvent } from "../types.ts";
import type { StreamEventFormat } from "./_frame_parser.ts";

/**
 * Writes one event as it stands in a body.
 *
 * @param event The event.
 * @param format How to write it.
 * @param position Its place among the events of its stream.
 * @param json The event as JSON, where that is at hand.
 * @throws {TypeError} JSON has nothing for it: it is a function, or `undefined`.
 */
export function encodeEvent(
  event: StreamEvent,
  format: StreamEventFormat,
  position: number,
  json: string | undefined = JSON.stringify(event),
): string {
  if (json === undefined) {
    throw new TypeError(`Expected an event that JSON can express, received ${kindOf(event)}`);
  }
  if (format === "ndjson") return `${json}\n`;
  const type: unknown = event?.type;
  // A type with the end of a line would begin a field, or an event, of its own.
  const name = typeof type === "string" && !/[\r\n]/.test(type) ? `event: ${type}\n` : "";
  return `${name}id: ${position}\ndata: ${json}\n\n`;
}
