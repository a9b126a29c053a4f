import type { CliArguments, CliOptions } from "./_arguments.ts";
import { check } from "./_check.ts";
import type { CliIo, ExitCode } from "./_cli_io.ts";
import { convert } from "./_convert.ts";
import { explain } from "./_explain.ts";
import { minimize } from "./_minimize_command.ts";
import { replay } from "./_replay.ts";
import { show } from "./_show.ts";
import { PROVIDER_WIRES } from "./_wires.ts";

/** A command of the command line. */
export interface CliCommand {
  /** What it does, in one line. */
  readonly summary: string;
  /** How it is called, without its name. */
  readonly usage: string;
  readonly options: CliOptions;
  /** What it says of itself, and of its options. */
  readonly help: string;
  run(args: CliArguments, io: CliIo): Promise<ExitCode>;
}

const FROM = `  --from WIRE     what it is: auto (by its bytes), events,
                  ${Object.keys(PROVIDER_WIRES).join(", ")}`;

const INPUTS =
  `Reads files, directories (what in them is named .ndjson, .jsonl, .sse, .txt or .log), and
standard input for "-".`;

/** The commands, by their names. */
export const COMMANDS: Readonly<Record<string, CliCommand>> = {
  check: {
    summary: "judge the streams of recordings, and say what is wrong with them",
    usage: "[options] [FILE | DIRECTORY | -]...",
    options: {
      from: { type: "string" },
      all: { type: "boolean", short: "a" },
      json: { type: "boolean" },
      quiet: { type: "boolean", short: "q" },
    },
    help: `${INPUTS} On standard input every verdict comes as soon as it is known.

A file may hold many streams: a start after a terminal event begins the next one, and so does a
start after something wrong.

Options:
${FROM}
  -a, --all       go on past the first violation of a stream
  --json          one object a stream, without content, for machines
  -q, --quiet     only what is wrong

--all says only what does not follow from something that was said before. An end event that was
refused for what it says closes its block, and all goes on. After any other refused event, judging
goes on at the next block that opens; until then, only what an event says by itself can be wrong. Of
the terminal event's message, those blocks are compared that were streamed whole.

--json has of each stream: file, stream (from 1), wire, format, verdict ("ok", "failed" or "wrong"),
events and blocks (how many), stopReason and errorCode of its message, line and byteOffset (where it
begins), violation (code, detail, eventIndex, eventType, contentIndex, path, offset, line,
byteOffset, and delta: the one in which the text goes wrong), violations with --all.

Exit code: 0 if all streams are well-formed, 1 if one is wrong, 2 if something could not be read.
A response that failed, and says so in a well-formed stream, is not wrong.`,
    run: check,
  },
  explain: {
    summary: "explain a rule: what it says, a stream that breaks it, the same put right",
    usage: "[--json] [CODE]",
    options: { json: { type: "boolean" } },
    help: `Without a code it lists them all.

Options:
  --json          the same for machines, with the streams whole`,
    run: explain,
  },
  show: {
    summary: "draw a stream: a lane a block over time, in the terminal or as a page",
    usage: "[options] [FILE | -]",
    options: {
      from: { type: "string" },
      stream: { type: "string" },
      html: { type: "string" },
    },
    help:
      `Time is that of the recording, where its events have one (see convert --times) or its wire says
when it was sent; on a pipe, it is when an event came. Interrupted, it draws what has come.

Options:
${FROM}
  --stream N      only the Nth stream, from 1
  --html FILE     write a page of it all instead, which needs nothing but a browser; over another
                  page, but over no other file; to standard output for "-"

Exit code: 0, 1 if a stream is wrong, 2 if it could not be read.`,
    run: show,
  },
  minimize: {
    summary: "shrink a stream to the smallest that still breaks the same rule",
    usage: "[options] [FILE | -]",
    options: {
      from: { type: "string" },
      to: { type: "string" },
      stream: { type: "string" },
      "keep-text": { type: "boolean" },
    },
    help:
      `What comes out can be attached to a public report: every text is replaced by a neutral one of the
same length and shape; the types of events stay. It is checked on the way out to fail as the whole
stream did. Of a provider's response it is the events that are shrunk: what is wrong with its
frames, and ends in an error event, is not in them.

Options:
${FROM}
  --stream N      the Nth stream, from 1; without it, the first that breaks a rule
  --to FORMAT     ndjson (one event a line) or sse (server-sent events)
  --keep-text     leave the texts as they are

Exit code: 0 if a stream was shrunk, 2 if there is none that breaks a rule.`,
    run: minimize,
  },
  convert: {
    summary: "write the events of a recording, whatever wire it is of",
    usage: "[options] [FILE | -]",
    options: {
      from: { type: "string" },
      to: { type: "string" },
      stream: { type: "string" },
      times: { type: "boolean" },
    },
    help:
      `Every stream goes out as it came, right or wrong; what is wrong is told on standard error.

Options:
${FROM}
  --to FORMAT     ndjson (one event a line) or sse (server-sent events)
  --stream N      only the Nth stream, from 1
  --times         give each event the time at which it arrives, in milliseconds since the first one
                  of its stream: show and replay use it. For standard input only.

Exit code: 0, 1 if a stream is wrong, 2 if it could not be read.`,
    run: convert,
  },
  replay: {
    summary: "serve a recording over HTTP on loopback, with its timing",
    usage: "[options] [FILE | -]",
    options: {
      port: { type: "string" },
      chunk: { type: "string" },
      interval: { type: "string" },
      speed: { type: "string" },
      once: { type: "boolean" },
    },
    help:
      `Answers every request with the bytes of the recording as they are, and prints its address. An event
with a field time (see convert --times) goes out when it came.

Options:
  --port N        the port; without it, one that is free
  --chunk N       at most N bytes at a time, wherever that cuts
  --interval MS   wait before each frame that has no time, or before each piece of --chunk
  --speed X       X times as quick as it was
  --once          end after the first answer`,
    run: replay,
  },
};
