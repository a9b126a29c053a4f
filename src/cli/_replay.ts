import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import { MAX_DELAY } from "../_max_delay.ts";
import { createFrameParser, type StreamEventFormat } from "../wire/_frame_parser.ts";
import { isPlainObject } from "../_json.ts";
import { type CliArguments, readNumber } from "./_arguments.ts";
import type { CliIo, ExitCode } from "./_cli_io.ts";
import { timeOf } from "./_collect_streams.ts";
import { concat } from "./_concat.ts";
import { detectWire } from "./_detect_wire.ts";
import { UnreadableError, UsageError } from "./_errors.ts";
import { findInput, type Input, nameOf, whenAborted } from "./_inputs.ts";
import { count, countOf, printable } from "./_text.ts";
import { PROVIDER_WIRES } from "./_wires.ts";

/** A piece of a recording, and how long to wait before it, in milliseconds. */
export interface ReplayPiece {
  readonly bytes: Uint8Array;
  readonly delay: number;
}

/** The pieces of a recording, made as they are asked for: there may be one for each byte. */
export interface ReplayPieces extends Iterable<ReplayPiece> {
  readonly length: number;
  /** How long to wait in all, in milliseconds. */
  readonly duration: number;
}

/** How to replay a recording. */
export interface ReplayOptions {
  /** How many bytes a piece has at most. */
  readonly chunk: number | undefined;
  /** How much quicker than it was. */
  readonly speed: number;
  /** How long to wait before a frame that does not say, or before a piece, in milliseconds. */
  readonly interval: number;
}

const CONTENT_TYPES: Readonly<Record<StreamEventFormat, string>> = {
  sse: "text/event-stream; charset=utf-8",
  ndjson: "application/x-ndjson; charset=utf-8",
};

/** Names of this machine. A page that found another name for it is not to read the recording. */
const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Serves a recording over HTTP on loopback, until it is told to end. */
export async function replay(args: CliArguments, io: CliIo): Promise<ExitCode> {
  const port = readNumber(args, "port", { min: 0, max: 65_535 }) ?? 0;
  const chunk = readNumber(args, "chunk", { min: 1 });
  const speed = readNumber(args, "speed", { min: Number.MIN_VALUE, isWhole: false }) ?? 1;
  const interval = readNumber(args, "interval", { min: 0, max: MAX_DELAY, isWhole: false }) ?? 0;
  const input = await findInput(args.positionals, io);
  // A pipe may stay open, and whoever interrupts does not wait for its end.
  const body = await Promise.race([readWhole(input), whenAborted(io.signal)]);
  if (body === undefined || io.signal.aborted) return 0;
  const name = nameOf(input);
  const format = formatOf(body, name);
  const pieces = cutForReplay(body, format, { chunk, speed, interval });
  await serve(pieces, format, { name, port, isOnce: args.values.once === true }, io);
  return 0;
}

async function readWhole(input: Input): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const bytes of input.chunks()) chunks.push(bytes.slice());
  return concat(chunks);
}

function formatOf(body: Uint8Array, name: string): StreamEventFormat {
  try {
    // What it holds does not matter here, but for how its frames are told apart.
    return detectWire(body, true, "any")?.format ?? "ndjson";
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    throw new UnreadableError(`${name}: ${error.message}`, { cause: error });
  }
}

/**
 * Cuts a recording into the pieces that are sent one after the other.
 *
 * @param body The whole recording.
 * @param format How its frames are told apart.
 * @param options How to replay it.
 * @returns Pieces that together are the recording.
 */
export function cutForReplay(
  body: Uint8Array,
  format: StreamEventFormat,
  { chunk, speed, interval }: ReplayOptions,
): ReplayPieces {
  /** Where what is sent together ends, and what waits before it. */
  const ends: number[] = [];
  const delays: number[] = [];
  let begin = 0;
  let delay = 0;
  let length = 0;
  let duration = 0;
  const add = (end: number): void => {
    if (end === begin) return;
    ends.push(end);
    delays.push(delay);
    const pieces = chunk === undefined ? 1 : Math.ceil((end - begin) / chunk);
    length += pieces;
    duration += delay + (pieces - 1) * interval;
    begin = end;
  };
  findFrames(body, format, (offset, wait) => {
    const pause = wait === undefined ? chunk === undefined ? interval : 0 : wait / speed;
    if (pause === 0) return;
    const start = beginningOf(body, offset, begin, format);
    if (start > 0) add(start);
    // A recording begins at once.
    if (start > 0) delay = pause;
  });
  add(body.length);
  return {
    length,
    duration,
    *[Symbol.iterator]() {
      let start = 0;
      for (const [frame, end] of ends.entries()) {
        for (let delay = delays[frame] as number; start < end; delay = interval) {
          const next = Math.min(end, start + (chunk ?? Infinity));
          yield { bytes: body.subarray(start, next), delay };
          start = next;
        }
      }
    },
  };
}

/** Tells where each frame's data begins, and how long after the frame before it came, if it says. */
function findFrames(
  body: Uint8Array,
  format: StreamEventFormat,
  take: (offset: number, wait: number | undefined) => void,
): void {
  let last: number | undefined;
  const sink = (data: string, frame: { readonly byteOffset: number }): void => {
    let time: number | undefined;
    try {
      const value = JSON.parse(data);
      time = timeOf(value) ?? sentAt(value);
    } catch {
      // It is replayed as it is.
    }
    take(
      frame.byteOffset,
      time === undefined ? undefined : last === undefined ? 0 : Math.max(0, time - last),
    );
    last = time ?? last;
  };
  const parser = createFrameParser(format, Infinity);
  try {
    parser.push(body, sink);
    parser.end(sink);
  } catch {
    // What follows is no text, and goes out with the last frame.
  }
}

/** When a payload was sent, of the wires that say so. */
function sentAt(value: unknown): number | undefined {
  if (!isPlainObject(value)) return undefined;
  return Object.values(PROVIDER_WIRES)
    .map(({ recognises, timeOf }) => recognises(value) ? timeOf?.(value) : undefined)
    .find(Number.isFinite);
}

/** Finds where a frame begins whose data begins at an offset: behind the blank line before it. */
function beginningOf(
  body: Uint8Array,
  offset: number,
  least: number,
  format: StreamEventFormat,
): number {
  if (format === "ndjson") return offset;
  for (let i = offset; i > least; i--) {
    const last = body[i - 1];
    const before = body[i - 2];
    const isBlank = last === LINE_FEED
      ? before === LINE_FEED || (before === CARRIAGE_RETURN && body[i - 3] === LINE_FEED)
      : last === CARRIAGE_RETURN && before === CARRIAGE_RETURN;
    if (isBlank) return i;
  }
  return least;
}

async function serve(
  pieces: ReplayPieces,
  format: StreamEventFormat,
  { name, port, isOnce }: {
    readonly name: string;
    readonly port: number;
    readonly isOnce: boolean;
  },
  { stdout, stderr, signal, now }: CliIo,
): Promise<void> {
  const ended = new AbortController();
  signal.addEventListener("abort", () => ended.abort());
  let failure: unknown;
  const note = (text: string): void => {
    stderr.write(`${text}\n`).catch((error) => {
      failure ??= error;
      ended.abort();
    });
  };
  const server = createServer((request, response) => {
    // What a client sends is of no interest, but has to be taken.
    request.resume();
    respond(pieces, format, request, response).then((what) => {
      const begin = begins.get(response) ?? now();
      note(`${printable(request.method ?? "")} ${what} after ${Math.round(now() - begin)} ms`);
      if (isOnce && request.method !== "HEAD" && response.statusCode === 200) ended.abort();
    });
  });
  const begins = new WeakMap<ServerResponse, number>();
  server.on("request", (_, response) => begins.set(response, now()));
  await new Promise<void>((resolve, reject) => {
    server.on("error", (error: Error & { readonly code?: string }) =>
      reject(
        new UsageError(
          `Expected a port that can be used, received ${port}: ${error.code ?? error}`,
        ),
      ));
    server.listen(port, "127.0.0.1", resolve);
  });
  try {
    const address = server.address() as AddressInfo;
    await stdout.write(`http://127.0.0.1:${address.port}/\n`);
    note(
      `Serving ${name} as ${CONTENT_TYPES[format].split(";")[0]}, ${
        countOf(pieces.length, "piece")
      } over ${count(Math.round(pieces.duration))} ms`,
    );
    if (!ended.signal.aborted) {
      await new Promise((resolve) => ended.signal.addEventListener("abort", resolve));
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
  if (failure) throw failure;
}

/** Sends the recording, and says what became of it. */
async function respond(
  pieces: ReplayPieces,
  format: StreamEventFormat,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<string> {
  if (!LOOPBACK.test(request.headers.host ?? "127.0.0.1")) {
    response.writeHead(403).end();
    return "refused: the host is not this machine";
  }
  response.writeHead(200, {
    "content-type": CONTENT_TYPES[format],
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  if (request.method === "HEAD") {
    response.end();
    return "answered";
  }
  let isGone = false;
  let wake = (): void => {};
  response.on("close", () => {
    isGone = true;
    wake();
  });
  /** Waits until something calls back, or the client has gone. */
  const wait = (start: (resolve: () => void) => void): Promise<void> =>
    isGone ? Promise.resolve() : new Promise((resolve) => start(wake = resolve));
  // Each piece is to leave by itself.
  response.socket?.setNoDelay(true);
  response.flushHeaders();
  let sent = 0;
  for (const { bytes, delay } of pieces) {
    if (delay > 0) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      await wait((resolve) => timer = setTimeout(resolve, Math.min(delay, MAX_DELAY)));
      clearTimeout(timer);
    } else {
      await wait((resolve) => setImmediate(resolve));
    }
    if (isGone) break;
    sent += bytes.length;
    if (!response.write(bytes)) await wait((resolve) => response.once("drain", resolve));
    if (isGone) break;
  }
  if (!isGone) await wait((resolve) => response.end(resolve));
  return response.writableFinished
    ? `answered with ${countOf(sent, "byte")}`
    : `left after ${countOf(sent, "byte")}`;
}
