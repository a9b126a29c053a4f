import { Buffer } from "node:buffer";
import type { Dirent } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { CliIo } from "./_cli_io.ts";
import { UnreadableError, UsageError } from "./_errors.ts";
import { printable } from "./_text.ts";

/** A file to read, or standard input. */
export interface Input {
  /** Its name; "-" for standard input. */
  readonly name: string;
  /** How long it is, in bytes, where that is known. */
  readonly size?: number;
  /** Whether its bytes come as they are made, so that nobody may wait for the end. */
  readonly isLive: boolean;
  /** Its bytes. A chunk holds only until the next one is asked for. */
  chunks(): AsyncIterable<Uint8Array>;
}

/** How recordings are named, where a directory is searched for them. */
const RECORDING_NAMES = /\.(?:ndjson|jsonl|sse|txt|log)$/i;

/** How much of a file is read at a time, in bytes. */
const CHUNK_LENGTH = 65_536;

/**
 * Finds what is to be read: files, the recordings in directories, and standard input for "-", or
 * where nothing is named and something is piped in.
 *
 * @throws {UsageError} There is nothing to read.
 */
export async function* findInputs(
  paths: readonly string[],
  { stdin }: CliIo,
): AsyncGenerator<Input | UnreadableError> {
  if (paths.length === 0) {
    if (stdin.isTerminal) {
      throw new UsageError(`Expected a file, a directory, or "-" for standard input`);
    }
    paths = ["-"];
  }
  if (paths.filter((path) => path === "-").length > 1) {
    throw new UsageError(`Expected "-" only once`);
  }
  if (paths.includes("")) {
    throw new UsageError("Expected the name of a file, received an empty one");
  }
  for (const path of paths) {
    if (path === "-") {
      const { size } = stdin;
      yield {
        name: "-",
        isLive: size === undefined,
        ...(size !== undefined && { size }),
        chunks: () => stdin,
      };
      continue;
    }
    try {
      const stats = await stat(path);
      if (stats.isDirectory()) yield* findRecordings(path);
      else yield fileInput(path, stats.isFile() ? stats.size : undefined);
    } catch (error) {
      yield unreadable(path, error);
    }
  }
}

/** How an input is called in what is written of it. */
export function nameOf({ name }: Input): string {
  return name === "-" ? "standard input" : printable(name);
}

/**
 * Finds the one file that a command reads, or standard input.
 *
 * @throws {UsageError} There is none, or more than one.
 * @throws {UnreadableError} It cannot be read.
 */
export async function findInput(paths: readonly string[], io: CliIo): Promise<Input> {
  if (paths.length > 1) throw new UsageError(`Expected one file, received ${paths.length}`);
  const inputs: Array<Input | UnreadableError> = [];
  for await (const input of findInputs(paths, io)) inputs.push(input);
  const [input] = inputs;
  if (input === undefined || input instanceof UnreadableError) throw input;
  if (input.name !== (paths[0] ?? "-")) {
    throw new UsageError(
      `Expected a file, received the directory ${printable(paths[0] as string)}`,
    );
  }
  return input;
}

/** An input that ends when somebody asks to end, where its own end may never come. */
export function untilAborted(input: Input, signal: AbortSignal): Input {
  if (!input.isLive) return input;
  return {
    ...input,
    async *chunks() {
      const chunks = input.chunks()[Symbol.asyncIterator]();
      const aborted = whenAborted(signal);
      while (!signal.aborted) {
        const next = await Promise.race([chunks.next(), aborted]);
        if (!next || next.done) return;
        yield next.value;
      }
    },
  };
}

/** Settles when a signal fires. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });
}

async function* findRecordings(folder: string): AsyncGenerator<Input | UnreadableError> {
  let isEmpty = true;
  for await (const path of listFiles(folder)) {
    if (path instanceof UnreadableError) {
      isEmpty = false;
      yield path;
      continue;
    }
    if (!RECORDING_NAMES.test(path)) continue;
    isEmpty = false;
    try {
      yield fileInput(path, (await stat(path)).size);
    } catch (error) {
      yield unreadable(path, error);
    }
  }
  if (isEmpty) {
    yield new UnreadableError(
      `${printable(folder)}: no file in it is named .ndjson, .jsonl, .sse, .txt or .log`,
    );
  }
}

/** Lists the files of a folder and of those in it, by name; links are not followed. */
async function* listFiles(folder: string): AsyncGenerator<string | UnreadableError> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    // What is beside it is read all the same.
    yield unreadable(folder, error);
    return;
  }
  entries.sort((a, b) => a.name < b.name ? -1 : 1);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* listFiles(path);
    else if (entry.isFile()) yield path;
  }
}

function fileInput(name: string, size?: number): Input {
  return {
    name,
    // What is no file, such as a named pipe, may stay open.
    isLive: size === undefined,
    ...(size !== undefined && { size }),
    chunks: () => readFile(name),
  };
}

async function* readFile(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path).catch((error) => {
    throw unreadable(path, error);
  });
  try {
    const read = (buffer: Buffer) => file.read(buffer, 0, CHUNK_LENGTH, null);
    // One is read into while the other is looked at.
    let [buffer, other] = [Buffer.alloc(CHUNK_LENGTH), Buffer.alloc(CHUNK_LENGTH)];
    for (let pending = read(buffer);;) {
      const { bytesRead } = await pending.catch((error) => {
        throw unreadable(path, error);
      });
      if (bytesRead === 0) return;
      const chunk = new Uint8Array(buffer.buffer, buffer.byteOffset, bytesRead);
      [buffer, other] = [other, buffer];
      pending = read(buffer);
      // Whoever leaves early does not ask what became of it.
      pending.catch(() => {});
      yield chunk;
    }
  } finally {
    await file.close();
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "it may not be read",
  EPERM: "it may not be read",
  EISDIR: "it is a directory",
};

/** Says why a file cannot be read. */
function unreadable(path: string, error: unknown): UnreadableError {
  if (error instanceof UnreadableError) return error;
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return new UnreadableError(
    `${printable(path)}: ${REASONS[code ?? ""] ?? printable(String(message))}`,
    { cause: error },
  );
}
