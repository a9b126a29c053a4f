#!/usr/bin/env node
/**
 * The command line: sees, checks, explains and shrinks the event streams of language models. To import
 * it is to run it.
 *
 * ```sh
 * curl -N … | deno run --allow-read jsr:@agent-stream/validator/cli check --from anthropic -
 * ```
 *
 * @module
 */

import { fstatSync } from "node:fs";
import process from "node:process";
import type { CliInput, CliOutput } from "./_cli_io.ts";
import { ClosedOutputError, UnreadableError, UnwritableError } from "./_errors.ts";
import { runCommandLine } from "./_run_command_line.ts";

/** What Deno has, and no other runtime. */
interface DenoNamespace {
  readonly noColor: boolean;
  readonly permissions: {
    querySync(of: { readonly name: "env"; readonly variable: string }): { readonly state: string };
  };
}

/** Whether colours are not wanted. */
function isColorless(): boolean {
  const { Deno } = globalThis as { readonly Deno?: DenoNamespace };
  // Deno says the first without leave to read the environment; it would ask for the second.
  const isUnwanted = Deno ? Deno.noColor : (process.env.NO_COLOR ?? "") !== "";
  if (isUnwanted) return true;
  const leave = Deno?.permissions.querySync({ name: "env", variable: "TERM" }).state ?? "granted";
  return leave === "granted" && process.env.TERM === "dumb";
}

/** What it means that something could not be written. */
function failureOf(error: Error & { readonly code?: string }): Error {
  const isClosed = ["EPIPE", "ERR_STREAM_DESTROYED"].includes(error.code ?? "") ||
    error.name === "BrokenPipe";
  return isClosed
    ? new ClosedOutputError(error.message, { cause: error })
    : new UnwritableError(`the output cannot be written: ${error.message}`, { cause: error });
}

function createOutput(stream: typeof process.stdout | typeof process.stderr): CliOutput {
  let failure: Error | undefined;
  // What a write fails with comes here too, and without a listener it would end the process.
  stream.on("error", (error) => failure ??= failureOf(error));
  const isTerminal = stream.isTTY === true;
  return {
    isTerminal,
    hasColor: isTerminal && !isColorless(),
    get columns() {
      return stream.columns ?? 80;
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure);
        try {
          stream.write(text, (error) => error ? reject(failureOf(error)) : resolve());
        } catch (error) {
          // To a file, Deno writes at once.
          reject(failureOf(error as Error));
        }
      }),
  };
}

/** How long standard input is where it is a file, as behind `<`. */
function sizeOfInput(): number | undefined {
  try {
    const stats = fstatSync(0);
    return stats.isFile() ? stats.size : undefined;
  } catch {
    // Closed, or not to be asked.
    return undefined;
  }
}

function createInput(stream: typeof process.stdin): CliInput {
  const size = sizeOfInput();
  return {
    isTerminal: stream.isTTY === true,
    ...(size !== undefined && { size }),
    async *[Symbol.asyncIterator]() {
      try {
        for await (const chunk of stream) yield chunk as Uint8Array;
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        throw new UnreadableError(`standard input: ${message}`, { cause: error });
      }
    },
  };
}

const interruption = new AbortController();
const interrupt = (): void => {
  // Whoever asks twice does not want to wait.
  if (interruption.signal.aborted) process.exit(130);
  interruption.abort();
};
if (["replay", "show"].includes(process.argv[2] ?? "")) {
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
}

// What nobody could catch must not look like a verdict.
process.on("uncaughtException", (error) => {
  // What Deno may not do, it throws from within.
  console.error(`stream-validator: ${error.name === "NotCapable" ? error.message : error.stack}`);
  process.exit(2);
});

const exitCode = await runCommandLine(process.argv.slice(2), {
  stdin: createInput(process.stdin),
  stdout: createOutput(process.stdout),
  stderr: createOutput(process.stderr),
  signal: interruption.signal,
  now: () => performance.now(),
});
// Not left to itself: a pipe that stays open would keep the process.
process.exit(exitCode);
