import type { StreamEvent } from "../types.ts";
import { encodeEvent } from "./_encode_event.ts";
import { checkFormat } from "./_format.ts";
import type { StreamEventFormat } from "./_frame_parser.ts";

/** Options of {@linkcode StreamEventEncoderStream}. */
export interface StreamEventEncoderStreamOptions {
  /** How to write the events. */
  readonly format: StreamEventFormat;
}

/**
 * Encodes events as bytes, one chunk per event: NDJSON, or server-sent events with the event's type
 * as `event` and its position in the stream as `id`. It has the default queuing strategies of a
 * `TransformStream`: it takes one event ahead of the reader.
 *
 * @example Encoding events
 * ```ts
 * import { StreamEventEncoderStream } from "@agent-stream/validator/wire";
 * import { assertEquals } from "@std/assert";
 *
 * const encoder = new StreamEventEncoderStream({ format: "sse" });
 * const writer = encoder.writable.getWriter();
 * writer.write({ type: "start" });
 * writer.close();
 * const text = await new Response(encoder.readable).text();
 * assertEquals(text, 'event: start\nid: 0\ndata: {"type":"start"}\n\n');
 * ```
 */
export class StreamEventEncoderStream extends TransformStream<StreamEvent, Uint8Array> {
  /**
   * Creates an encoder for one stream.
   *
   * @param options How to write the events.
   * @throws {TypeError} The format is neither `"ndjson"` nor `"sse"`.
   */
  constructor(options: StreamEventEncoderStreamOptions) {
    const format = checkFormat(options.format);
    const encoder = new TextEncoder();
    let position = 0;
    super({
      transform(event, controller) {
        controller.enqueue(encoder.encode(encodeEvent(event, format, position++)));
      },
    });
  }
}
