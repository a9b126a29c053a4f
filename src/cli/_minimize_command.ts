import { StreamSequenceError } from "../stream_sequence_error.ts";
import type { StreamEventFormat } from "../wire/_frame_parser.ts";
import { type CliArguments, readChoice, readNumber, WIRE_NAMES } from "./_arguments.ts";
import type { CliIo, ExitCode } from "./_cli_io.ts";
import { collectStreams } from "./_collect_streams.ts";
import { UnreadableError } from "./_errors.ts";
import { findInput, nameOf } from "./_inputs.ts";
import { minimizeStream } from "./_minimize.ts";
import type { RecordedStream } from "./_recording.ts";
import { RecordingReader } from "./_recording_reader.ts";
import { count, countOf, jsonFor } from "./_text.ts";
import { writeEvent } from "./_write_event.ts";

/** Writes the smallest stream that still breaks the same rule as one of a recording. */
export async function minimize(args: CliArguments, io: CliIo): Promise<ExitCode> {
  const from = readChoice(args, "from", WIRE_NAMES);
  const format = readChoice(args, "to", ["ndjson", "sse"]) as StreamEventFormat;
  const wanted = readNumber(args, "stream", { min: 1 });
  const input = await findInput(args.positionals, io);
  const { events, error: violation } = await findWrong(
    collectStreams(input, from, io),
    wanted,
    nameOf(input),
  );
  const { events: fewest, error } = minimizeStream(events.map(({ event }) => event), {
    keepText: args.values["keep-text"] === true,
  });
  const text = fewest.map((event, position) => writeEvent(event, format, position)).join("");
  // Whoever gets it will check it, so that is what has to come of it.
  const code = codeOf(text);
  if (code !== violation.code) {
    throw new Error(`Expected the smallest stream to break ${violation.code}, not ${code}`);
  }
  await io.stdout.write(jsonFor(io.stdout, text));
  await io.stderr.write(
    `stream-validator: ${countOf(events.length, "event")} to ${count(fewest.length)}, still ` +
      `${error.code} at event ${count(error.eventIndex)}\n`,
  );
  return 0;
}

/** Finds the stream that is asked for, or the first that breaks a rule. */
async function findWrong(
  streams: ReturnType<typeof collectStreams>,
  wanted: number | undefined,
  name: string,
): Promise<{ readonly events: RecordedStream["events"]; readonly error: StreamSequenceError }> {
  let length = 0;
  let isWireWrong = false;
  for await (const { events, violation } of streams) {
    length++;
    if (wanted !== undefined && length !== wanted) continue;
    if (StreamSequenceError.is(violation?.error)) return { events, error: violation.error };
    isWireWrong ||= violation !== undefined;
    if (length === wanted) break;
  }
  const which = wanted === undefined
    ? "no stream in it breaks a rule"
    : length < wanted
    ? `it has ${countOf(length, "stream")}, none is ${wanted}`
    : `stream ${wanted} breaks no rule`;
  throw new UnreadableError(
    `${name}: ${which}${
      isWireWrong ? "; its frames are wrong, and only events can be shrunk" : ""
    }`,
  );
}

/** What check says first of the one stream of a text. */
function codeOf(text: string): string | undefined {
  let code: string | undefined;
  const reader = new RecordingReader({ fault: (fault) => code ??= fault.code }, { from: "events" });
  reader.push(new TextEncoder().encode(text));
  reader.end();
  return code;
}
