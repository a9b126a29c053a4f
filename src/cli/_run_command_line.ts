import { readArguments } from "./_arguments.ts";
import type { CliIo, ExitCode } from "./_cli_io.ts";
import { type CliCommand, COMMANDS } from "./_commands.ts";
import { ClosedOutputError, UnreadableError, UnwritableError, UsageError } from "./_errors.ts";
import { quoteText } from "./_text.ts";
import { VERSION } from "./_version.ts";

/**
 * Runs a command line.
 *
 * @param args What follows the program's name.
 * @param io Where it reads and writes.
 * @returns The exit code.
 */
export async function runCommandLine(args: readonly string[], io: CliIo): Promise<ExitCode> {
  const [name, ...rest] = args;
  try {
    return await run(name, rest, io);
  } catch (error) {
    // Whoever reads has seen enough, as `head` does.
    if (error instanceof ClosedOutputError) return 0;
    const isUsage = error instanceof UsageError;
    const isExpected = isUsage || error instanceof UnreadableError ||
      error instanceof UnwritableError;
    const message = isExpected
      ? error.message
      : `an error of its own: ${error instanceof Error ? error.stack : error}`;
    const help = name !== undefined && Object.hasOwn(COMMANDS, name) ? ` ${name}` : "";
    const hint = isUsage ? `; see stream-validator${help} --help` : "";
    try {
      await io.stderr.write(`stream-validator: ${message}${hint}\n`);
    } catch {
      // The exit code says it too.
    }
    return 2;
  }
}

async function run(
  name: string | undefined,
  rest: readonly string[],
  io: CliIo,
): Promise<ExitCode> {
  if (name === "--version") {
    await io.stdout.write(`stream-validator ${VERSION}\n`);
    return 0;
  }
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    const of = name === "help" ? rest[0] : undefined;
    const text = of !== undefined && Object.hasOwn(COMMANDS, of)
      ? writeHelp(of, COMMANDS[of] as CliCommand)
      : writeOverview();
    if (name === undefined) {
      await io.stderr.write(text);
      return 2;
    }
    await io.stdout.write(text);
    return 0;
  }
  if (!Object.hasOwn(COMMANDS, name)) {
    throw new UsageError(
      `Expected a command (${Object.keys(COMMANDS).join(", ")}), received ${quoteText(name, 64)}`,
    );
  }
  const command = COMMANDS[name] as CliCommand;
  const parsed = readArguments(rest, command.options);
  if (parsed.values.help) {
    await io.stdout.write(writeHelp(name, command));
    return 0;
  }
  return await command.run(parsed, io);
}

function writeOverview(): string {
  const commands = Object.entries(COMMANDS)
    .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}\n`).join("");
  return `Usage: stream-validator COMMAND [options] [FILE | -]...

See, check, explain and shrink the event stream of a language model.

Commands:
${commands}
stream-validator COMMAND --help says more of each; --version says which this is.
`;
}

function writeHelp(name: string, { usage, summary, help }: CliCommand): string {
  return `Usage: stream-validator ${name} ${usage}

${summary[0]?.toUpperCase()}${summary.slice(1)}.

${help}
`;
}
