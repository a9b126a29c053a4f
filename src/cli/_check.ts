import type { CliArguments } from "./_arguments.ts";
import { readChoice, WIRE_NAMES } from "./_arguments.ts";
import type { CliIo, CliOutput, ExitCode } from "./_cli_io.ts";
import type { Delta } from "./_delta_log.ts";
import { describeEvent, describeValue } from "./_describe.ts";
import type { DetectedWire } from "./_detect_wire.ts";
import { ClosedOutputError, UnreadableError } from "./_errors.ts";
import { findInputs, type Input, nameOf } from "./_inputs.ts";
import { Progress } from "./_progress.ts";
import {
  type Fault,
  RecordingReader,
  type RecordingVisitor,
  type StreamSummary,
} from "./_recording_reader.ts";
import { type ReportGap, type ReportLine, writeReport } from "./_report.ts";
import { count, countOf, createStyle, jsonFor, printable, quoteText, type Style } from "./_text.ts";

/** How many events before and after the one that is wrong a report shows. */
const BEFORE = 4;
const AFTER = 2;

/** How wide a report is where there is no terminal, in columns. */
const COLUMNS = 120;

/** How narrow its inside may become; a terminal can say that it has no width at all. */
const MIN_COLUMNS = 24;

/** How far the inside of a report is moved in. */
const INDENT = "      ";

/** How wire formats are called. */
const FORMATS = { ndjson: "NDJSON", sse: "server-sent events" } as const;

/** What is counted over all files. */
interface Totals {
  streams: number;
  wrong: number;
  failed: number;
}

/** Judges the streams of recordings, and says what is wrong with them. */
export async function check(args: CliArguments, io: CliIo): Promise<ExitCode> {
  const from = readChoice(args, "from", WIRE_NAMES);
  const { json: isJson = false, all: isEvery = false, quiet: isQuiet = false } = args.values;
  const totals: Totals = { streams: 0, wrong: 0, failed: 0 };
  let hasUnreadable = false;
  const tellUnreadable = async (error: UnreadableError): Promise<void> => {
    hasUnreadable = true;
    await io.stderr.write(`stream-validator: ${error.message}\n`);
  };

  try {
    for await (const input of findInputs(args.positionals, io)) {
      if (input instanceof UnreadableError) {
        await tellUnreadable(input);
        continue;
      }
      const visitor = isJson
        ? new JsonCheck(input, totals, io, isEvery === true)
        : new TextCheck(input, totals, io, isQuiet === true);
      try {
        await readInput(input, visitor, { from, isEvery: isEvery === true }, io);
      } catch (error) {
        if (!(error instanceof UnreadableError)) throw error;
        await tellUnreadable(
          error.cause ? error : new UnreadableError(`${nameOf(input)}: ${error.message}`),
        );
      }
    }
    if (!isJson && totals.streams > 0) {
      await io.stdout.write(`${writeTotals(totals, createStyle(io.stdout.hasColor))}\n`);
    }
  } catch (error) {
    // Whoever has seen enough is not told that all is well where it is not.
    if (!(error instanceof ClosedOutputError)) throw error;
  }
  return hasUnreadable ? 2 : totals.wrong > 0 ? 1 : 0;
}

/** Reads an input to its end, and writes what is to say of it as soon as that is known. */
async function readInput(
  input: Input,
  visitor: CheckVisitor,
  options: { readonly from: string; readonly isEvery: boolean },
  io: CliIo,
): Promise<void> {
  const reader = new RecordingReader(visitor, options);
  const progress = new Progress(io, input.name, input.size);
  const flush = async (): Promise<void> => {
    const text = visitor.takeText();
    if (text === "") return;
    await progress.clear();
    await io.stdout.write(text);
  };
  try {
    for await (const chunk of input.chunks()) {
      reader.push(chunk);
      if (input.isLive) {
        reader.settle();
        visitor.settle();
      }
      await flush();
      await progress.add(chunk.length);
    }
    reader.end();
    visitor.settle();
  } finally {
    await flush();
    await progress.clear();
  }
}

interface CheckVisitor extends RecordingVisitor {
  /** Writes what waits for more events. */
  settle(): void;
  /** What there is to write since it was last asked. */
  takeText(): string;
}

/** For machines: one object a stream, with nothing of its content. */
class JsonCheck implements CheckVisitor {
  readonly #file: string;
  readonly #totals: Totals;
  readonly #stdout: CliOutput;
  readonly #isEvery: boolean;
  #found: DetectedWire | undefined;
  #faults: unknown[] = [];
  #text = "";

  constructor(input: Input, totals: Totals, { stdout }: CliIo, isEvery: boolean) {
    this.#file = input.name;
    this.#totals = totals;
    this.#stdout = stdout;
    this.#isEvery = isEvery;
  }

  wire(found: DetectedWire): void {
    this.#found = found;
  }

  streamStart(): void {
    this.#faults = [];
  }

  fault({ code, detail, eventIndex, line, byteOffset, error, delta }: Fault): void {
    const { contentIndex, eventType, path, offset } = error?.toJSON() ?? {};
    this.#faults.push({
      code,
      detail,
      eventIndex,
      eventType,
      contentIndex,
      path,
      offset,
      line,
      byteOffset,
      delta: delta && { eventIndex: delta.eventIndex, line: delta.line },
    });
  }

  streamEnd(summary: StreamSummary): void {
    const { index, place, verdict, events, blocks, stopReason, errorCode } = summary;
    tally(this.#totals, summary);
    const [violation] = this.#faults;
    this.#text += `${
      JSON.stringify({
        file: this.#file,
        stream: index + 1,
        wire: this.#found?.wire,
        format: this.#found?.format,
        verdict,
        events,
        blocks,
        stopReason,
        errorCode,
        line: place.line,
        byteOffset: place.byteOffset,
        violation,
        ...(this.#isEvery && { violations: this.#faults }),
      })
    }\n`;
  }

  settle(): void {}

  takeText(): string {
    const text = this.#text;
    this.#text = "";
    return jsonFor(this.#stdout, text);
  }
}

/** For people. */
class TextCheck implements CheckVisitor {
  readonly #input: Input;
  readonly #totals: Totals;
  readonly #isQuiet: boolean;
  readonly #style: Style;
  readonly #columns: number;
  #found: DetectedWire | undefined;
  #isNamed = false;
  #text = "";
  #events = 0;
  /** The last events, or payloads: a ring, since writing them all down would cost more than to read. */
  readonly #values: unknown[] = new Array(BEFORE + 1);
  readonly #lines: number[] = new Array(BEFORE + 1);
  readonly #indices: Array<number | undefined> = new Array(BEFORE + 1);
  #count = 0;
  #hasPayloads = false;
  /** A report that waits for the events that follow. */
  #waiting:
    | { readonly fault: Fault; readonly around: Array<ReportLine | ReportGap>; left: number }
    | undefined;

  constructor(input: Input, totals: Totals, io: CliIo, isQuiet: boolean) {
    this.#input = input;
    this.#totals = totals;
    this.#isQuiet = isQuiet;
    this.#style = createStyle(io.stdout.hasColor);
    const columns = io.stdout.isTerminal ? io.stdout.columns : COLUMNS;
    this.#columns = Math.max(MIN_COLUMNS, columns - INDENT.length);
  }

  wire(found: DetectedWire): void {
    this.#found = found;
    this.#hasPayloads = found.wire !== "events";
    if (!this.#isQuiet) this.#name();
  }

  streamStart(): void {
    this.#events = 0;
    this.#count = 0;
    this.#values.fill(undefined);
  }

  payload(payload: unknown, { line }: { readonly line: number }): void {
    this.#keep(payload, line, undefined);
  }

  broken(text: string, { line }: { readonly line: number }): void {
    this.#keep(new BrokenFrame(text), line, undefined);
  }

  event(event: unknown, { line }: { readonly line: number }): void {
    const index = this.#events++;
    // What a provider sent says more than what an adapter made of it.
    if (!this.#hasPayloads) this.#keep(event, line, index);
  }

  fault(fault: Fault): void {
    this.settle();
    const first = Math.max(0, this.#count - BEFORE - 1);
    const around = linesOfDelta(fault, this.#indices[first % (BEFORE + 1)] ?? 0);
    for (let i = first; i < this.#count; i++) {
      const isWrong = fault.hasCulprit && i === this.#count - 1;
      const isDelta = fault.delta?.isBefore === false &&
        fault.delta.eventIndex === this.#indices[i % (BEFORE + 1)];
      around.push(this.#lineAt(i, isWrong ? "▶" : isDelta ? "?" : " "));
    }
    // Nobody may wait for what follows on a pipe.
    const left = this.#input.isLive || !fault.hasCulprit ? 0 : AFTER;
    this.#waiting = { fault, around, left };
    if (this.#waiting.left === 0) this.settle();
  }

  streamEnd(summary: StreamSummary): void {
    this.settle();
    tally(this.#totals, summary);
    const { index, verdict } = summary;
    if (verdict === "wrong" || this.#isQuiet) return;
    this.#name();
    const { green, yellow } = this.#style;
    const mark = verdict === "ok" ? green("✓") : yellow("!");
    this.#text += `  ${mark} stream ${index + 1}: ${describeSummary(summary)}\n`;
  }

  settle(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    this.#name();
    const { fault, around } = waiting;
    const { red, bold } = this.#style;
    const event = this.#hasPayloads ? "" : `event ${count(fault.eventIndex)}, `;
    const place = `${event}line ${count(fault.line)}, byte ${count(fault.byteOffset)}`;
    this.#text += `  ${red("✗")} stream ${fault.stream + 1}: ${bold(fault.code)} at ${place}\n`;
    for (const line of writeReport(fault, around, this.#style, this.#columns)) {
      this.#text += line === "" ? "\n" : `${INDENT}${line}\n`;
    }
    this.#text += "\n";
  }

  takeText(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  /** Says once what the file is. */
  #name(): void {
    if (this.#isNamed || !this.#found) return;
    this.#isNamed = true;
    const { wire, format, isBlank } = this.#found;
    const what = isBlank ? "nothing is in it" : `${wire} as ${FORMATS[format]}`;
    this.#text += `${this.#style.bold(nameOf(this.#input))}: ${what}\n`;
  }

  #keep(value: unknown, line: number, index: number | undefined): void {
    const at = this.#count++ % (BEFORE + 1);
    this.#values[at] = value;
    this.#lines[at] = line;
    this.#indices[at] = index;
    const waiting = this.#waiting;
    if (!waiting) return;
    waiting.around.push(this.#lineAt(this.#count - 1, " "));
    if (--waiting.left === 0) this.settle();
  }

  #lineAt(position: number, mark: ReportLine["mark"]): ReportLine {
    const at = position % (BEFORE + 1);
    const value = this.#values[at];
    const eventIndex = this.#indices[at];
    const text = value instanceof BrokenFrame
      ? quoteText(value.text, 64)
      : this.#hasPayloads
      ? describeValue(value, 160)
      : describeEvent(value);
    return {
      line: this.#lines[at] as number,
      ...(eventIndex !== undefined && { eventIndex }),
      text,
      mark,
    };
  }
}

/** The lines of the delta in which a block goes wrong, where it came before all that is shown. */
function linesOfDelta({ delta, open }: Fault, first: number): Array<ReportLine | ReportGap> {
  if (!delta || !open || delta.isBefore || delta.eventIndex >= first) return [];
  const { kind, contentIndex } = open;
  const lineOf = ({ eventIndex, line, text }: Delta, mark: ReportLine["mark"]): ReportLine => {
    const field = kind === "tool_call" ? "argumentsDelta" : "delta";
    const event = { type: `${kind}_delta`, contentIndex, [field]: text };
    return { eventIndex, line, text: describeEvent(event), mark };
  };
  const lines: Array<ReportLine | ReportGap> = [lineOf(delta, "?")];
  if (delta.before) lines.unshift(lineOf(delta.before, " "));
  if (delta.eventIndex < first - 1) lines.push("…");
  return lines;
}

/** The text of a frame that could not be read. */
class BrokenFrame {
  readonly text: string;

  constructor(text: string) {
    this.text = text.slice(0, 256);
  }
}

function tally(totals: Totals, { verdict, isCorrection, wasWrong }: StreamSummary): void {
  if (!isCorrection) totals.streams++;
  if (verdict === "wrong" && !wasWrong) totals.wrong++;
  if (verdict === "failed") totals.failed++;
}

function describeSummary(
  { events, blocks, stopReason, errorCode, errorMessage }: StreamSummary,
): string {
  const parts = [countOf(events, "event")];
  if (blocks !== undefined) parts.push(countOf(blocks, "block"));
  if (stopReason !== undefined) parts.push(printable(stopReason.slice(0, 32)));
  const failure = [errorCode, errorMessage].filter((part) => part !== undefined)
    .map((part) => printable(part.slice(0, 160))).join(": ");
  return parts.join(", ") + (failure ? `: ${failure}` : "");
}

function writeTotals({ streams, wrong, failed }: Totals, { red, green }: Style): string {
  const verdict = wrong === 0
    ? green(streams === 1 ? "it is well-formed" : "all are well-formed")
    : red(streams === 1 ? "it is wrong" : wrong === 1 ? "1 is wrong" : `${count(wrong)} are wrong`);
  const failures = failed === 0 ? "" : `, ${failed === 1 ? "1 ends" : `${failed} end`} in an error`;
  return `${countOf(streams, "stream")}: ${verdict}${failures}`;
}
