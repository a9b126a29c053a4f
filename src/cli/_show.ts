import { open, stat, writeFile } from "node:fs/promises";
import { type CliArguments, readChoice, readNumber, WIRE_NAMES } from "./_arguments.ts";
import type { CliIo, ExitCode } from "./_cli_io.ts";
import { collectStreams } from "./_collect_streams.ts";
import { UnreadableError, UnwritableError, UsageError } from "./_errors.ts";
import { findInput, nameOf, untilAborted } from "./_inputs.ts";
import { renderPage } from "./_page.ts";
import { drawStream } from "./_picture.ts";
import type { RecordedStream } from "./_recording.ts";
import { count, countOf, printable } from "./_text.ts";

/** How wide a picture is where there is no terminal, in columns. */
const COLUMNS = 100;

/** How many streams a page holds; with more, nobody finds one. */
const PAGE_STREAMS = 100;

/** What every page begins with. */
const PAGE_START = "<!doctype html>";

/** Draws the streams of a recording, in the terminal or as a page. */
export async function show(args: CliArguments, io: CliIo): Promise<ExitCode> {
  const from = readChoice(args, "from", WIRE_NAMES);
  const wanted = readNumber(args, "stream", { min: 1 });
  const { html } = args.values;
  if (html === "") throw new UsageError("Expected the name of a file after --html, received none");
  // Whoever interrupts a stream that hangs wants to see what came of it.
  const input = untilAborted(await findInput(args.positionals, io), io.signal);
  const { stdout, stderr } = io;
  const options = { width: stdout.isTerminal ? stdout.columns : COLUMNS, color: stdout.hasColor };
  const page: RecordedStream[] = [];
  let streams = 0;
  let shown = 0;
  let exitCode: ExitCode = 0;
  for await (const stream of collectStreams(input, from, io)) {
    streams++;
    if (wanted !== undefined && streams !== wanted) continue;
    if (stream.violation) exitCode = 1;
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
  if (html === "-") {
    await stdout.write(renderPage(page));
  } else if (typeof html === "string") {
    if (await isSomethingElse(html)) {
      throw new UnwritableError(
        `${printable(html)}: it is there, and is no page: it stays as it is`,
      );
    }
    await writePage(html, renderPage(page));
    const rest = shown - page.length;
    const left = rest > 0 ? `; ${count(rest)} more are left out` : "";
    await stderr.write(`${printable(html)}: ${countOf(page.length, "stream")}${left}\n`);
  }
  return exitCode;
}

/** Whether a file is there that holds something else than a page, such as the recording itself. */
async function isSomethingElse(path: string): Promise<boolean> {
  try {
    const info = await stat(path);
    if (!info.isFile() || info.size === 0) return false;
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(new Uint8Array(PAGE_START.length));
      return new TextDecoder().decode(buffer.subarray(0, bytesRead)) !== PAGE_START;
    } finally {
      await file.close();
    }
  } catch {
    return false; // It is not there, or cannot be read; to write it will tell.
  }
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
