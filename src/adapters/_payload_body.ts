import { isBytes } from "../_check_bytes.ts";
import { isRecord } from "../_is_record.ts";
import { kindOf } from "../_json.ts";
import type { StreamEventFormat } from "../wire/_frame_parser.ts";
import { AdapterError } from "./_adapter.ts";

const encoder = new TextEncoder();

/**
 * Makes a stream of what comes one by one: payloads, as the client of a provider gives them; or pieces
 * of a body, as Node's own streams do.
 *
 * @param payloads Where they come from. Its iterator is taken at once, since what pushes keeps nothing
 * for one that comes later; it is asked for the next one when that is wanted.
 * @returns The stream. To cancel it lets the source go.
 */
export function streamOfPayloads(payloads: AsyncIterable<unknown>): ReadableStream<unknown> {
  let iterator: AsyncIterator<unknown>;
  return new ReadableStream<unknown>({
    // Async, so that what is thrown is the reader's to hear.
    async start() {
      iterator = payloads[Symbol.asyncIterator]();
      await failureOf(payloads);
    },
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (!done) {
        controller.enqueue(value);
        return;
      }
      await failureOf(payloads);
      controller.close();
    },
    async cancel() {
      try {
        abort(payloads);
      } finally {
        await iterator.return?.();
      }
    },
  }, { highWaterMark: 0 });
}

/**
 * Gives the bytes of what came: as they are, or of a payload, which is written as it came.
 *
 * @throws {AdapterError} It is neither.
 */
export function bytesOf(piece: unknown, format: StreamEventFormat): Uint8Array {
  if (isBytes(piece)) return piece;
  if (!isRecord(piece)) {
    const hint = typeof piece === "string" ? "; parse it first" : "";
    throw refusalOf(`${kindOf(piece)}${hint}`);
  }
  let json: string | undefined;
  try {
    json = JSON.stringify(piece);
  } catch {
    // It holds itself, what JSON cannot say, or more levels than can be written.
  }
  if (json === undefined) throw refusalOf(`${kindOf(piece)} that is not JSON`);
  return encoder.encode(format === "sse" ? `data: ${json}\n\n` : `${json}\n`);
}

function refusalOf(received: string): AdapterError {
  return new AdapterError(
    "malformed_frame",
    `Expected a payload to be a JSON object, received ${received}`,
  );
}

/** A client's stream that emits its payloads whether somebody reads them or not. */
interface Emitter {
  readonly on?: unknown;
  /** Settles with the stream. */
  readonly done?: unknown;
  readonly ended?: unknown;
  readonly errored?: unknown;
}

/** Whether a source has nothing to give any more; its iterator might wait for ever. */
export function isSpent(payloads: AsyncIterable<unknown> & Emitter): boolean {
  return hasEnded(payloads) && payloads.errored !== true;
}

/** Throws what a source has failed with: its iterator tells only whoever waited when it did. */
async function failureOf(payloads: AsyncIterable<unknown> & Emitter): Promise<void> {
  if (hasEnded(payloads) && payloads.errored === true) await payloads.done();
}

function hasEnded<T extends Emitter>(payloads: T): payloads is T & { done(): Promise<void> } {
  const { on, done, ended } = payloads;
  return ended === true && typeof on === "function" && typeof done === "function";
}

/** What a source may have to end its request. */
interface Abortable {
  readonly controller?: { abort?: unknown } | null;
  abort?: unknown;
  destroy?: unknown;
}

/**
 * Ends the request of a client's stream, or of a stream of Node's. A generator that waits for the
 * connection would hear of its `return()` only when something comes, and one that has not begun never.
 */
function abort(payloads: AsyncIterable<unknown>): void {
  const source = payloads as Abortable;
  const holder = source.controller ?? source;
  if (typeof holder.abort === "function") holder.abort();
  else if (typeof source.destroy === "function") source.destroy();
}
