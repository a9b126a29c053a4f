/** Runs the command line: within the process with everything of the outside made up, or for real. */

import type { CliIo, CliOutput, ExitCode } from "../../src/cli/_cli_io.ts";
import { ClosedOutputError } from "../../src/cli/_errors.ts";
import { runCommandLine } from "../../src/cli/_run_command_line.ts";

/** What a command did. */
export interface CliRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the outside is like. */
export interface CliSurroundings {
  readonly stdin?: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>;
  readonly isTerminal?: boolean;
  readonly hasColor?: boolean;
  readonly columns?: number;
  readonly now?: () => number;
  readonly signal?: AbortSignal;
  /** After how many writes nobody reads the output any more. */
  readonly writes?: number;
  /** Takes what is written as it is written. */
  readonly onOutput?: (text: string) => void;
}

const encoder = new TextEncoder();

/** Runs a command line within this process. */
export async function runCli(
  args: readonly string[],
  surroundings: CliSurroundings = {},
): Promise<CliRun> {
  const { stdin, isTerminal = false, hasColor = false, columns = 80 } = surroundings;
  const written = { stdout: "", stderr: "" };
  let writes = surroundings.writes ?? Infinity;
  const output = (name: "stdout" | "stderr"): CliOutput => ({
    isTerminal,
    hasColor,
    columns,
    write(data) {
      if (name === "stdout" && writes-- <= 0) {
        return Promise.reject(new ClosedOutputError("write EPIPE"));
      }
      const text = typeof data === "string" ? data : new TextDecoder().decode(data);
      written[name] += text;
      surroundings.onOutput?.(text);
      return Promise.resolve();
    },
  });
  const io: CliIo = {
    stdin: {
      isTerminal: stdin === undefined,
      async *[Symbol.asyncIterator]() {
        for await (const chunk of stdin ?? []) {
          yield typeof chunk === "string" ? encoder.encode(chunk) : chunk;
        }
      },
    },
    stdout: output("stdout"),
    stderr: output("stderr"),
    signal: surroundings.signal ?? new AbortController().signal,
    now: surroundings.now ?? (() => performance.now()),
  };
  const code: ExitCode = await runCommandLine(args, io);
  return { code, ...written };
}

/** What Deno is given to run the command line. */
export function cliArgs(args: readonly string[]): string[] {
  return [
    "run",
    "--no-check",
    "--allow-read",
    "--allow-write",
    "--allow-net=127.0.0.1",
    "--import-map=tests/_std/import_map.json",
    "src/cli/main.ts",
    ...args,
  ];
}

/** Starts the command line as a process, as a user does. */
export function startCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: cliArgs(args),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    env: { ...env },
    signal: AbortSignal.timeout(60_000),
  }).spawn();
}

/** Runs the command line as a process. */
export async function runProcess(
  args: readonly string[],
  stdin: Uint8Array | string = "",
  env: Readonly<Record<string, string>> = {},
): Promise<CliRun> {
  const process = startCli(args, env);
  const writer = process.stdin.getWriter();
  await writer.write(typeof stdin === "string" ? encoder.encode(stdin) : stdin).catch(() => {});
  await writer.close().catch(() => {});
  const { code, stdout, stderr } = await process.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** Writes files into a folder of their own while something runs. */
export async function withFiles<T>(
  files: Readonly<Record<string, string | Uint8Array>>,
  run: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, data] of Object.entries(files)) {
      const path = `${folder}/${name}`;
      await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      if (typeof data === "string") await Deno.writeTextFile(path, data);
      else await Deno.writeFile(path, data);
    }
    return await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
