import type { CliArguments } from "./_arguments.ts";
import type { CliIo, ExitCode } from "./_cli_io.ts";
import { UsageError } from "./_errors.ts";
import { findRule, type Rule, RULES } from "./_rules.ts";
import { createStyle, quoteText, type Style } from "./_text.ts";

/** Explains a rule, or lists them all. */
export async function explain(args: CliArguments, { stdout }: CliIo): Promise<ExitCode> {
  const { positionals, values } = args;
  if (positionals.length > 1) throw new UsageError("Expected one code, or none for a list");
  const [word] = positionals;
  const style = createStyle(stdout.hasColor);
  if (word === undefined) {
    await stdout.write(values.json ? `${JSON.stringify(RULES)}\n` : listRules(style));
    return 0;
  }
  const code = findRule(word);
  if (code === undefined) {
    throw new UsageError(
      `Expected the code of a rule, received ${quoteText(word, 64)}; explain alone lists them`,
    );
  }
  const rule = RULES[code];
  await stdout.write(
    values.json ? `${JSON.stringify({ code, ...rule })}\n` : writeRule(code, rule, style),
  );
  return 0;
}

function listRules({ bold }: Style): string {
  return Object.entries(RULES)
    .map(([code, { summary }]) => `${bold(code.padEnd(20))} ${summary}\n`).join("");
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
