/** How long a command may take, in milliseconds. */
const PATIENCE = 300_000;

/** What a command came to. */
export interface Ran {
  readonly success: boolean;
  readonly stdout: string;
  /** What it said, on both. */
  readonly text: string;
}

/** How to run a command. */
export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command to its end. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd, env }: RunOptions = {},
): Promise<Ran> {
  const { success, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
    stdin: "null",
    signal: AbortSignal.timeout(PATIENCE),
  }).output();
  const decoder = new TextDecoder();
  const out = decoder.decode(stdout);
  return { success, stdout: out, text: out + decoder.decode(stderr) };
}

/**
 * Runs a command that has to succeed.
 *
 * @returns Its standard output.
 */
export async function runOrThrow(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { success, stdout, text } = await run(command, args, options);
  if (!success) throw new Error(`${command} ${args.join(" ")} failed: ${text}`);
  return stdout;
}

/** The path of the first of these commands that is there. */
export async function firstThere(commands: readonly string[]): Promise<string | undefined> {
  for (const command of commands) {
    const { success, stdout } = await run("which", [command]);
    if (success) return stdout.trim();
  }
  return undefined;
}
