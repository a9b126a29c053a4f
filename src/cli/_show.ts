import { writeFile } from "node:fs/promises";
import { type CliArguments, readChoice, readNumber, WIRE_NAMES } from "./_arguments.ts";
import type { CliIo, ExitCode } from "./_cli_io.ts";
import { collectStreams } from "./_collect_streams.ts";
import { UnreadableError, UnwritableError } from "./_errors.ts";
import { findInput, nameOf } from "./_inputs.ts";
import { renderPage } from "./_page.ts";
import { drawStream } from "./_picture.ts";
import type { RecordedStream } from "./_recording.ts";
import { count, countOf, printable } from "./_text.ts";

/** How wide a picture is where there is no terminal, in columns. */
const COLUMNS = 100;

/** How many streams a page holds; with more, nobody finds one. */
const PAGE_STREAMS = 100;

/** Draws the streams of a recording, in the terminal or as a page. */
export async function show(args: CliArguments, io: CliIo): Promise<ExitCode> {
  const from = readChoice(args, "from", WIRE_NAMES);
  const wanted = readNumber(args, "stream", { min: 1 });
  const { html } = args.values;
  const input = await findInput(args.positionals, io);
  const { stdout, stderr } = io;
  const options = { width: stdout.isTerminal ? stdout.columns : COLUMNS, color: stdout.hasColor };
  const page: RecordedStream[] = [];
  let streams = 0;
  let shown = 0;
  let exitCode: ExitCode = 0;
  for await (const { stream, isWrong } of collectStreams(input, from, io)) {
    streams++;
    if (wanted !== undefined && streams !== wanted) continue;
    if (isWrong) exitCode = 1;
    if (html === undefined) {
      await stdout.write(`${shown > 0 ? "\n" : ""}${drawStream(stream, options)}`);
    } else if (shown < PAGE_STREAMS) {
      page.push(stream);
    }
    shown++;
    if (streams === wanted) break;
  }
  if (shown === 0) {
    throw new UnreadableError(
      `${nameOf(input)}: it has ${countOf(streams, "stream")}, none is ${wanted}`,
    );
  }
  if (typeof html === "string") {
    await writePage(html, renderPage(page));
    const rest = shown - page.length;
    const left = rest > 0 ? `; ${count(rest)} more are left out` : "";
    await stderr.write(`${printable(html)}: ${countOf(page.length, "stream")}${left}\n`);
  }
  return exitCode;
}

async function writePage(path: string, page: string): Promise<void> {
  try {
    await writeFile(path, page);
  } catch (error) {
    throw new UnwritableError(
      `${printable(path)}: it cannot be written: ${printable((error as Error).message)}`,
      { cause: error },
    );
  }
}
