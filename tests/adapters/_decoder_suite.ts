/** What holds for the decoder stream of every wire format. */

import { assert, assertEquals } from "@std/assert";
import { type StreamEvent, StreamEventValidatorStream } from "../../mod.ts";
import type { Adapter, AdapterOptions } from "../../src/adapters/_adapter.ts";
import type { StreamEventFormat } from "../../src/wire/_frame_parser.ts";
import { assertPart, cutAt, decode } from "./_bodies.ts";
import { readRecordings } from "./_recordings.ts";

type DecoderStream = TransformStream<Uint8Array, StreamEvent>;

/** What makes two messages of one body the same. */
export const OPTIONS = { now: () => 0, createId: () => "made_up" };

/** What the suite has to know of a decoder stream. */
export interface DecoderSuite {
  /** The name of the class. */
  readonly name: string;
  /** The wire format, as the recordings are named. */
  readonly wire: string;
  readonly create: (options: AdapterOptions) => DecoderStream;
  readonly createAdapter: (options: AdapterOptions) => Adapter;
  /** @default {"sse"} */
  readonly format?: StreamEventFormat;
}

/** A body that comes in these chunks, and then ends or breaks. */
function bodyOf(chunks: Iterable<Uint8Array>, error?: Error): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]();
  return new ReadableStream({
    pull(controller) {
      const { done, value } = iterator.next();
      if (!done) controller.enqueue(value);
      else if (error) controller.error(error);
      else controller.close();
    },
  });
}

/** Reads a stream to its end. */
export async function readAll(events: ReadableStream<StreamEvent>): Promise<StreamEvent[]> {
  const all: StreamEvent[] = [];
  const reader = events.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) all.push(next.value);
  return all;
}

/** Holds a decoder stream to its adapter: the same events, and a message where the body breaks. */
export function testDecoderStream(
  { name, wire, create, createAdapter, format = "sse" }: DecoderSuite,
): void {
  const read = (body: ReadableStream<Uint8Array>) =>
    readAll(body.pipeThrough(create(OPTIONS)).pipeThrough(new StreamEventValidatorStream()));

  for (const { name: title, body } of readRecordings(wire)) {
    const whole = decode(createAdapter(OPTIONS), [body], format);

    Deno.test(`${name} makes the adapter's events of ${title}`, async () => {
      const chunks = cutAt(body, [1, 50, 51, 600, 1_000].filter((at) => at < body.length));

      assertEquals(await read(bodyOf(chunks)), whole);
    });

    Deno.test(`${name} ends in an event when the body of ${title} breaks`, async () => {
      const done = whole.at(-1);
      assert(done?.type === "done");
      const half = body.subarray(0, body.length / 2);

      const last = (await read(bodyOf([half], new Error("reset")))).at(-1);

      assert(last?.type === "error");
      assertEquals(last.message.errorMessage, "The connection broke: reset");
      assertEquals(last.message.errorCode, "network_error");
      assertPart(last.message.content, done.message.content);
    });
  }
}
