import type { CliArguments } from "./_arguments.ts";
import type { CliIo, ExitCode } from "./_cli_io.ts";
import { UsageError } from "./_errors.ts";
import { findRule, type Rule, RULES } from "./_rules.ts";
import { createStyle, quoteText, type Style } from "./_text.ts";
import {
  DECODE_FAULTS,
  FAILURES,
  findOtherFault,
  type OtherFault,
  WIRE_FAULTS,
} from "./_wire_faults.ts";

/** Explains a rule, or lists them all. */
export async function explain(args: CliArguments, { stdout }: CliIo): Promise<ExitCode> {
  const { positionals, values } = args;
  if (positionals.length > 1) throw new UsageError("Expected one code, or none for a list");
  const [word] = positionals;
  const style = createStyle(stdout.hasColor);
  if (word === undefined) {
    await stdout.write(
      values.json
        ? `${JSON.stringify({ ...FAILURES, ...WIRE_FAULTS, ...DECODE_FAULTS, ...RULES })}\n`
        : listRules(style),
    );
    return 0;
  }
  const code = findRule(word);
  if (code !== undefined) {
    const rule = RULES[code];
    await stdout.write(
      values.json ? `${JSON.stringify({ code, ...rule })}\n` : writeRule(code, rule, style),
    );
    return 0;
  }
  const fault = findOtherFault(word);
  if (fault === undefined) {
    throw new UsageError(
      `Expected a code that is known, received ${quoteText(word, 64)}; explain alone lists them`,
    );
  }
  await stdout.write(
    values.json ? `${JSON.stringify({ code: word, ...fault })}\n` : writeFault(word, fault, style),
  );
  return 0;
}

function listRules({ bold }: Style): string {
  const list = (faults: Readonly<Record<string, OtherFault>>) =>
    Object.entries(faults).filter(([code]) => faults === RULES || findRule(code) === undefined)
      .map(([code, { summary }]) => `${bold(code.padEnd(25))} ${summary}\n`).join("");
  return `Rules of a stream, in the order in which they are checked:

${list(RULES)}
Of the bytes:

${list(DECODE_FAULTS)}
Of a provider's wire format:

${list(WIRE_FAULTS)}
Of a response that failed, however well it is written:

${list(FAILURES)}`;
}

function writeFault(code: string, { summary, causes }: OtherFault, { bold }: Style): string {
  const lines = [
    bold(code),
    `  ${summary}`,
    "",
    bold("Usual causes"),
    ...causes.map((cause) => `- ${cause}`),
  ];
  return `${lines.join("\n")}\n`;
}

function writeRule(code: string, rule: Rule, { bold, red, green, dim }: Style): string {
  const { summary, causes, broken, fixed, limits } = rule;
  const isEnd = code === "truncated";
  const lines = [
    bold(code),
    `  ${summary}`,
    "",
    `${bold("Broken")}${limits ? ` with the limits ${JSON.stringify(limits)}` : ""}`,
    ...broken.map((event, index) => {
      const isWrong = index === broken.length - 1 && !isEnd;
      return isWrong ? red(`▶ ${writeEvent(event)}`) : `  ${writeEvent(event)}`;
    }),
    ...(isEnd ? [red("▶ (the end)")] : []),
    "",
    bold("Put right"),
    ...fixed.map((event) => `${green("✓")} ${writeEvent(event)}`),
    "",
    bold("Usual causes"),
    ...causes.map((cause) => `- ${cause}`),
    "",
    dim("--json has these streams whole."),
  ];
  return `${lines.join("\n")}\n`;
}

/** Fields of a message that no rule reads. */
const UNREAD = ["role", "provider", "model", "usage", "timestamp"];

/** Writes an event as JSON, its message without what no rule reads. */
function writeEvent(event: unknown): string {
  const text = JSON.stringify(
    event,
    (key, value) => UNREAD.includes(key) ? undefined : value,
  );
  return text.includes('"message":') ? text.replace(/\}\}$/, ",…}}") : text;
}
