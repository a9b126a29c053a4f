import { isPlainObject } from "../_json.ts";
import type { CliIo } from "./_cli_io.ts";
import type { DetectedWire } from "./_detect_wire.ts";
import { UnreadableError } from "./_errors.ts";
import { type Input, nameOf } from "./_inputs.ts";
import type { RecordedEvent, RecordedStream } from "./_recording.ts";
import {
  type Fault,
  RecordingReader,
  type RecordingVisitor,
  type StreamSummary,
} from "./_recording_reader.ts";
import type { Place } from "../wire/_frame_parser.ts";
import { PROVIDER_WIRES, type ProviderWire } from "./_wires.ts";

/**
 * Reads the streams of a recording, one after the other.
 *
 * An event has a time where it says so itself, as milliseconds in a field `time`; where the payload
 * says so that it is of; or where it comes from a pipe as it is made.
 *
 * @throws {UnreadableError} It is no recording.
 */
export async function* collectStreams(
  input: Input,
  from: string,
  io: CliIo,
): AsyncGenerator<RecordedStream> {
  const collector = new Collector(input.name);
  const reader = new RecordingReader(collector, { from });
  try {
    for await (const chunk of input.chunks()) {
      if (input.isLive) collector.now = io.now();
      reader.push(chunk);
      yield* collector.take();
    }
    reader.end();
  } catch (error) {
    if (!(error instanceof UnreadableError) || error.cause) throw error;
    throw new UnreadableError(`${nameOf(input)}: ${error.message}`, { cause: error });
  }
  yield* collector.take();
}

/** Gathers events until their stream has ended. */
class Collector implements RecordingVisitor {
  /** When the bytes at hand arrived, where they come as they are made. */
  now: number | undefined;
  readonly #file: string;
  #streams: RecordedStream[] = [];
  #events: RecordedEvent[] = [];
  #violation: RecordedStream["violation"];
  #begin: number | undefined;
  #isBroken = false;
  #wire: ProviderWire | undefined;
  /** When the payload at hand was sent, where it says so. */
  #sent: number | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  wire({ wire }: DetectedWire): void {
    this.#wire = PROVIDER_WIRES[wire];
  }

  payload(payload: unknown): void {
    this.#sent = isPlainObject(payload) ? this.#wire?.timeOf?.(payload) : undefined;
  }

  streamStart(): void {
    this.#events = [];
    this.#violation = undefined;
    this.#begin = undefined;
    this.#isBroken = false;
  }

  event(event: unknown, { line, byteOffset }: Place): void {
    // Behind bytes that cannot be read, nobody knows what was there.
    if (this.#isBroken) return;
    const at = [timeOf(event), this.#sent, this.now].find(Number.isFinite);
    if (at !== undefined) this.#begin ??= at;
    const time = at === undefined ? undefined : Math.max(0, at - (this.#begin as number));
    this.#events.push({ event, offset: byteOffset, line, ...(time !== undefined && { time }) });
  }

  fault({ code, detail, error, eventIndex, line, byteOffset }: Fault): void {
    if (this.#violation) return;
    if (error || this.#wire) {
      // What is wrong with a wire, its adapter made an event of.
      this.#violation = { error: error ?? { code, detail }, at: eventIndex };
      return;
    }
    this.#isBroken = true;
    const at = this.#events.length;
    this.#violation = { error: { code, detail }, at, place: { line, byteOffset } };
  }

  streamEnd({ index }: StreamSummary): void {
    this.#streams.push({
      file: this.#file,
      index,
      events: this.#events,
      ...(this.#violation && { violation: this.#violation }),
    });
  }

  /** The streams that have ended since it was last asked. */
  take(): RecordedStream[] {
    const streams = this.#streams;
    this.#streams = [];
    return streams;
  }
}

/** When an event says that it arrived, in milliseconds since some moment. */
export function timeOf(event: unknown): number | undefined {
  const time = (event as { readonly time?: unknown } | null | undefined)?.time;
  return typeof time === "number" && Number.isFinite(time) ? time : undefined;
}
