import type { StreamEventValidator } from "../stream_event_validator.ts";
import type { StreamEvent } from "../types.ts";
import { createEventDecoder } from "./_event_decoder.ts";
import { checkFormat, checkStatus, formatOf } from "./_format.ts";
import type { StreamEventFormat } from "./_frame_parser.ts";

/** Options of {@linkcode StreamEventDecoderStream}. */
export interface StreamEventDecoderStreamOptions {
  /** How the events are written. */
  readonly format: StreamEventFormat;
  /**
   * The maximum length of a line, and of the data of a server-sent event, in UTF-16 code units.
   *
   * @default {67_108_864}
   */
  readonly maxLineLength?: number | undefined;
  /**
   * A validator that checks each event as it is decoded, and the end of the stream. Decoding and
   * validating in one stream costs half as much as in two. Errors that the validator throws are
   * handled like those of the decoder.
   */
  readonly validator?: StreamEventValidator | undefined;
}

/**
 * Decodes bytes to events: NDJSON or server-sent events, in UTF-8. It does not check their order by
 * itself: pipe it through a `StreamEventValidatorStream`, or give it a validator.
 *
 * It decodes a chunk only when a reader is waiting and no decoded event is left: the high-water
 * mark of the readable side is 0, that of the writable side is 1.
 *
 * If the body is wrong, the readable side errors with a `StreamDecodeError` after every event
 * before that has been read; the writable side errors at once, so that upstream is cancelled.
 *
 * @example Decoding a response
 * ```ts
 * import { StreamEventDecoderStream } from "@agent-stream/validator/wire";
 * import { assertEquals } from "@std/assert";
 *
 * const response = new Response('data: {"type":"start"}\n\n', {
 *   headers: { "content-type": "text/event-stream" },
 * });
 * const reader = response.body!.pipeThrough(StreamEventDecoderStream.for(response)).getReader();
 * assertEquals(await reader.read(), { done: false, value: { type: "start" } });
 * assertEquals((await reader.read()).done, true);
 * ```
 */
export class StreamEventDecoderStream extends TransformStream<Uint8Array, StreamEvent> {
  /**
   * Creates a decoder for one body.
   *
   * @param options How the events are written.
   * @throws {TypeError} The format is neither `"ndjson"` nor `"sse"`.
   * @throws {RangeError} `maxLineLength` is below 1.
   */
  constructor(options: StreamEventDecoderStreamOptions) {
    const decoder = createEventDecoder(checkFormat(options.format), options.maxLineLength);
    super();
    // A transform stream that errors throws away what waits to be read, and one chunk of bytes may
    // hold many events before what is wrong. So both sides are our own.
    let readableController!: ReadableStreamDefaultController<StreamEvent>;
    let writableController!: WritableStreamDefaultController;
    let ending: { readonly error: unknown } | undefined;
    let isWanted = false;
    let hasEmitted = false;
    let release: (() => void) | undefined;

    const { validator } = options;
    const emit = (event: StreamEvent): void => {
      validator?.accept(event);
      hasEmitted = true;
      readableController.enqueue(event);
    };
    const fail = (error: unknown): void => {
      if (ending) return;
      ending = { error };
      release?.();
      // With a high-water mark of 0, this is how many events wait, negative.
      if (readableController.desiredSize === 0) readableController.error(error);
    };
    const decode = (step: () => void): void => {
      try {
        step();
      } catch (error) {
        fail(error);
        throw error;
      }
    };

    const readable = new ReadableStream<StreamEvent>({
      start(controller) {
        readableController = controller;
      },
      // Called when a read waits and no event does.
      pull(controller) {
        if (ending) controller.error(ending.error);
        isWanted = true;
        release?.();
      },
      cancel(reason) {
        ending = { error: reason };
        writableController.error(reason);
        release?.();
      },
    }, { highWaterMark: 0 });

    const writable = new WritableStream<Uint8Array>({
      start(controller) {
        writableController = controller;
        // Without it, an abort would wait for a write that waits for a reader.
        controller.signal.addEventListener("abort", () => fail(controller.signal.reason));
      },
      async write(bytes) {
        if (!isWanted && !ending) await new Promise<void>((resolve) => release = resolve);
        if (ending) throw ending.error;
        isWanted = hasEmitted = false;
        decode(() => decoder.push(bytes, emit));
        // Nothing came of it: whoever waits still does.
        if (!hasEmitted) isWanted = true;
      },
      close() {
        decode(() => {
          decoder.end(emit);
          validator?.end();
        });
        readableController.close();
      },
      abort: fail,
    });

    // Those of the class itself decode nothing. An engine that takes them to transfer the stream says
    // so now, instead of letting bytes pass as they are.
    super.readable.getReader();
    super.writable.getWriter();
    Object.defineProperties(this, { readable: { value: readable }, writable: { value: writable } });
  }

  /**
   * Creates a decoder for the content type of a response.
   *
   * @param response A response whose body consists of events.
   * @param options The other options.
   * @returns A decoder to pipe the body through.
   * @throws {StreamDecodeError} With the code `unexpected_status` or `unsupported_content_type`.
   * @throws {RangeError} `maxLineLength` is below 1.
   */
  static for(
    response: Response,
    options: Omit<StreamEventDecoderStreamOptions, "format"> = {},
  ): StreamEventDecoderStream {
    checkStatus(response);
    return new StreamEventDecoderStream({ ...options, format: formatOf(response) });
  }
}
