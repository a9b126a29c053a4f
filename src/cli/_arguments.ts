import { parseArgs, type ParseArgsConfig } from "node:util";
import { UsageError } from "./_errors.ts";
import { printable } from "./_text.ts";
import { PROVIDER_WIRES } from "./_wires.ts";

/** The options that a command takes, as `parseArgs` of `node:util` wants them. */
export type CliOptions = NonNullable<ParseArgsConfig["options"]>;

/** What came on the command line. */
export interface CliArguments {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

/**
 * Reads the arguments of a command.
 *
 * @throws {UsageError} There is one that it does not take.
 */
export function readArguments(args: readonly string[], options: CliOptions): CliArguments {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...options, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
    });
    return { values: values as CliArguments["values"], positionals };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // What follows the first sentence is advice for whoever calls parseArgs.
    const [said = ""] = error.message.split(/\.(?: (?=To )|\n)/);
    throw new UsageError(printable(
      said.replace(/is ambiguous$/, "begins with a dash; where it is meant, write it behind a ="),
    ));
  }
}

/** What `--from` takes. */
export const WIRE_NAMES: readonly string[] = ["auto", "events", ...Object.keys(PROVIDER_WIRES)];

/** Reads an option that is one of a few words. */
export function readChoice(
  { values }: CliArguments,
  name: string,
  choices: readonly string[],
): string {
  const value = values[name] ?? choices[0] as string;
  if (typeof value !== "string" || !choices.includes(value)) {
    throw new UsageError(
      `Expected --${name} to be one of ${choices.join(", ")}, received ${JSON.stringify(value)}`,
    );
  }
  return value;
}

/** Reads an option that is a number. */
export function readNumber(
  { values }: CliArguments,
  name: string,
  { min, max = Infinity, isWhole = true }: {
    readonly min: number;
    readonly max?: number;
    readonly isWhole?: boolean;
  },
): number | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  const value = typeof text === "string" && text.trim() !== "" ? Number(text) : NaN;
  if (!(value >= min && value <= max) || (isWhole && !Number.isInteger(value))) {
    const range = min === Number.MIN_VALUE
      ? "above 0"
      : `from ${min} ${max === Infinity ? "on" : `to ${max}`}`;
    throw new UsageError(
      `Expected --${name} to be a ${isWhole ? "whole " : ""}number ${range}, received ${
        JSON.stringify(text)
      }`,
    );
  }
  return value;
}
