import { checkBytes } from "../_check_bytes.ts";
import type { StreamEvent } from "../types.ts";
import type { StreamEventFormat } from "../wire/_frame_parser.ts";
import { type Adapter, AdapterError } from "./_adapter.ts";
import { BodyDecoder } from "./_body_decoder.ts";

/**
 * Turns a stream into a decoder stream: bytes of a body in, valid events out, whatever the body
 * does.
 *
 * A body that breaks does not error the readable side: the failure becomes the `error` event, and
 * the readable side closes. After the terminal event, the writable side errors, as with
 * `terminate()`, so that the body is cancelled even if the server holds it open.
 *
 * @param stream The stream whose two sides are replaced.
 * @param adapter The adapter that converts the payloads to events.
 * @param format How the payloads are written.
 *
 * @example Your own decoder stream
 * ```ts
 * import type { StreamEvent } from "@agent-stream/validator";
 * import { connectDecoder, WireAdapter } from "@agent-stream/validator/adapter";
 * import { assertEquals } from "@std/assert";
 *
 * class TextAdapter extends WireAdapter {
 *   readonly #text = this.blocks.open("text");
 *   protected override take(payload: string) {
 *     this.blocks.append(this.#text, payload);
 *   }
 *   protected override takeEnd() {
 *     this.blocks.finish("stop");
 *   }
 * }
 *
 * class TextDecoderOfAcme extends TransformStream<Uint8Array, StreamEvent> {
 *   constructor() {
 *     super();
 *     connectDecoder(this, new TextAdapter({}, "acme"), "ndjson");
 *   }
 * }
 *
 * const types: string[] = [];
 * const body = new Response('"Hel"\n"lo"\n').body!;
 * for await (const event of body.pipeThrough(new TextDecoderOfAcme())) types.push(event.type);
 * assertEquals(types, ["start", "text_start", "text_delta", "text_delta", "text_end", "done"]);
 * ```
 */
export function connectDecoder(
  stream: TransformStream<Uint8Array, StreamEvent>,
  adapter: Adapter,
  format: StreamEventFormat,
): void {
  const decoder = new BodyDecoder(adapter, format);
  // A transform stream that is aborted errors its readable side, where no event could follow. So
  // both sides are our own.
  let readableController!: ReadableStreamDefaultController<StreamEvent>;
  let writableController!: WritableStreamDefaultController;
  let isEnded = false;
  let isWanted = false;
  let hasEmitted = false;
  let release: (() => void) | undefined;

  const emit = (event: StreamEvent): void => {
    hasEmitted = true;
    readableController.enqueue(event);
  };
  const close = (): void => {
    isEnded = true;
    release?.();
    readableController.close();
  };
  /** Ends the stream with the adapter's last words; one that throws instead errors it. */
  const endWith = (step: () => void): void => {
    if (isEnded) return;
    try {
      step();
      close();
    } catch (error) {
      isEnded = true;
      release?.();
      readableController.error(error);
      throw error;
    }
  };
  const fail = (reason: unknown): void => endWith(() => decoder.fail(reason, emit));

  const readable = new ReadableStream<StreamEvent>({
    start(controller) {
      readableController = controller;
    },
    // Called when a read waits and no event does.
    pull() {
      isWanted = true;
      release?.();
    },
    cancel(reason) {
      isEnded = true;
      writableController.error(reason);
      release?.();
    },
  }, { highWaterMark: 0 });

  const writable = new WritableStream<Uint8Array>({
    start(controller) {
      writableController = controller;
      // Without it, an abort would wait for a write that waits for a reader.
      controller.signal.addEventListener("abort", () => {
        try {
          fail(controller.signal.reason);
        } catch {
          // The reader has it; what a listener throws, nobody could catch.
        }
      });
    },
    async write(bytes) {
      try {
        checkBytes(bytes);
      } catch (error) {
        fail(new AdapterError("malformed_frame", (error as TypeError).message));
        throw error;
      }
      if (!isWanted && !isEnded) await new Promise<void>((resolve) => release = resolve);
      release = undefined;
      if (isEnded) return;
      isWanted = hasEmitted = false;
      try {
        decoder.push(bytes, emit);
      } catch (error) {
        fail(error);
        throw error;
      }
      if (decoder.isFinished) {
        close();
        writableController.error(new TypeError("The response has ended"));
      } else if (!hasEmitted) {
        // Nothing came of it: whoever waits still does.
        isWanted = true;
      }
    },
    close: () => endWith(() => decoder.end(emit)),
    abort: fail,
  });

  // Those that it had decode nothing. An engine that takes them to transfer the stream says so now,
  // instead of letting bytes pass as they are.
  stream.readable.getReader();
  stream.writable.getWriter();
  Object.defineProperties(stream, { readable: { value: readable }, writable: { value: writable } });
}
