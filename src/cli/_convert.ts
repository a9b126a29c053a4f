import type { StreamEventFormat } from "../wire/_frame_parser.ts";
import { type CliArguments, readChoice, readNumber, WIRE_NAMES } from "./_arguments.ts";
import type { CliIo, ExitCode } from "./_cli_io.ts";
import { UnreadableError, UsageError } from "./_errors.ts";
import { findInput, nameOf } from "./_inputs.ts";
import { Progress } from "./_progress.ts";
import { type Fault, RecordingReader, type RecordingVisitor } from "./_recording_reader.ts";
import { count, countOf, jsonFor } from "./_text.ts";
import { writeEvent } from "./_write_event.ts";

/** Writes the events of a recording, whatever wire it is of. */
export async function convert(args: CliArguments, io: CliIo): Promise<ExitCode> {
  const from = readChoice(args, "from", WIRE_NAMES);
  const format = readChoice(args, "to", ["ndjson", "sse"]) as StreamEventFormat;
  const stream = readNumber(args, "stream", { min: 1 });
  const hasTimes = args.values.times === true;
  const input = await findInput(args.positionals, io);
  if (hasTimes && !input.isLive) {
    throw new UsageError(`Expected standard input for --times, since a file has no arrival times`);
  }
  const name = nameOf(input);
  const writer = new EventWriter(name, format, stream, hasTimes ? io.now : undefined);
  const reader = new RecordingReader(writer, { from });
  const progress = new Progress(io, input.name, input.size);
  const flush = async (): Promise<void> => {
    const { text, notes } = writer.take();
    if (text !== "" || notes !== "") await progress.clear();
    if (text !== "") await io.stdout.write(jsonFor(io.stdout, text));
    if (notes !== "") await io.stderr.write(notes);
  };
  try {
    for await (const chunk of input.chunks()) {
      reader.push(chunk);
      await flush();
      await progress.add(chunk.length);
    }
    reader.end();
  } catch (error) {
    if (!(error instanceof UnreadableError) || error.cause) throw error;
    throw new UnreadableError(`${name}: ${error.message}`, { cause: error });
  } finally {
    await flush();
    await progress.clear();
  }
  if (stream !== undefined && stream > writer.streams) {
    throw new UnreadableError(
      `${name}: it has ${countOf(writer.streams, "stream")}, none is ${stream}`,
    );
  }
  return writer.isWrong ? 1 : 0;
}

class EventWriter implements RecordingVisitor {
  isWrong = false;
  streams = 0;
  readonly #name: string;
  readonly #format: StreamEventFormat;
  readonly #stream: number | undefined;
  readonly #now: (() => number) | undefined;
  #begin: number | undefined;
  #position = 0;
  #text = "";
  #notes = "";

  constructor(
    name: string,
    format: StreamEventFormat,
    stream: number | undefined,
    now: (() => number) | undefined,
  ) {
    this.#name = name;
    this.#format = format;
    this.#stream = stream;
    this.#now = now;
  }

  streamStart(): void {
    this.streams++;
    this.#position = 0;
    this.#begin = undefined;
  }

  event(event: unknown): void {
    if (!this.#isWanted()) return;
    const timed = this.#now ? this.#withTime(event, this.#now()) : event;
    this.#text += writeEvent(timed, this.#format, this.#position++);
  }

  fault({ stream, code, line, byteOffset }: Fault): void {
    if (!this.#isWanted()) return;
    this.isWrong = true;
    const place = `line ${count(line)}, byte ${count(byteOffset)}`;
    this.#notes += `stream-validator: ${this.#name}: stream ${
      stream + 1
    } is wrong: ${code} at ${place}\n`;
  }

  take(): { readonly text: string; readonly notes: string } {
    const taken = { text: this.#text, notes: this.#notes };
    this.#text = this.#notes = "";
    return taken;
  }

  #isWanted(): boolean {
    return this.#stream === undefined || this.#stream === this.streams;
  }

  #withTime(event: unknown, now: number): unknown {
    if (typeof event !== "object" || event === null || Array.isArray(event)) return event;
    this.#begin ??= now;
    return { ...event, time: Math.round(now - this.#begin) };
  }
}
