import { clip } from "../_quote.ts";
import type { LoggedDelta } from "./_delta_log.ts";
import { cutToWidth } from "./_display_width.ts";
import type { Fault } from "./_recording_reader.ts";
import { RULES } from "./_rules.ts";
import { count, countOf, printable, quoteText, type Style } from "./_text.ts";
import { findOtherFault } from "./_wire_faults.ts";

/** One line of what came around a fault: an event, or a provider's payload. */
export interface ReportLine {
  readonly line: number;
  /** Its place among the events of its stream; a payload has none. */
  readonly eventIndex?: number;
  readonly text: string;
  /** Whether it is what is refused, or where that probably went wrong, or neither. */
  readonly mark: "▶" | "?" | " ";
}

/** A line for events that are left out. */
export type ReportGap = "…";

/** What came, where it can be neither shown nor described. */
const CAME: Readonly<Record<string, string>> = {
  invalid_utf8: "bytes that are not",
  line_too_long: "more",
};

/** How far the texts of two sides are compared when they are shown, in UTF-16 code units. */
const SIDE_LENGTH = 40;

/** Writes what is wrong with a stream so that a person understands it at once. */
export function writeReport(
  fault: Fault,
  around: ReadonlyArray<ReportLine | ReportGap>,
  style: Style,
  columns: number,
): string[] {
  const { expected, came } = splitDetail(fault, around);
  const { open } = fault;
  const rows: Array<readonly [string, string]> = [];
  const rule = fault.error ? RULES[fault.error.code] : findOtherFault(fault.code);
  if (rule) rows.push(["rule", rule.summary]);
  rows.push(["expected", expected], ["came", came], ...writeSides(fault, style));
  if (fault.delta) rows.push(["deltas", describeDelta(fault.delta, fault.code)]);
  if (open) {
    const name = open.name === undefined ? "" : ` ${quoteText(open.name, 64)}`;
    rows.push([
      "open",
      `${open.kind}${name} at contentIndex ${open.contentIndex}, since event ` +
      `${count(open.eventIndex)} (line ${count(open.line)})`,
    ]);
  }
  const lines = rows.map(([name, text]) => `${style.dim(name.padEnd(9))} ${text}`);
  if (around.length > 0) lines.push("", ...writeAround(around, style, columns), "");
  if (rule) {
    lines.push(`${style.dim("usually".padEnd(9))} ${rule.causes[0]}`);
    lines.push(`${style.dim("more".padEnd(9))} stream-validator explain ${fault.code}`);
  }
  return lines;
}

/** Takes a detail apart: what was expected, and what came. */
function splitDetail(
  { code, detail, eventIndex, error }: Fault,
  around: ReadonlyArray<ReportLine | ReportGap>,
): { readonly expected: string; readonly came: string } {
  const [, expected = detail, came] = /^expected (.*?)(?:, received (.*))?$/is.exec(detail) ?? [];
  if (error?.code === "truncated") {
    return {
      expected: printable(expected),
      came: `the end, after ${countOf(eventIndex, "event")}`,
    };
  }
  const received = code === "content_mismatch"
    ? came?.replace(/^\d+/, "$& UTF-16 code units")
    : came;
  const wrong = around.find((line) => line !== "…" && line.mark === "▶") as ReportLine | undefined;
  const what = error?.eventType === undefined ? undefined : printable(clip(error.eventType));
  return {
    expected: printable(expected),
    came: [what, received === undefined ? undefined : printable(received)].filter((part) => part)
      .join(": ") || wrong?.text || CAME[code] || "the end",
  };
}

/** Says in which delta a block goes wrong: often what is missing belongs before it. */
function describeDelta({ eventIndex, line, text, isBefore }: LoggedDelta, code: string): string {
  const where = `event ${count(eventIndex)} (line ${count(line)})`;
  if (isBefore) return `end too early, with ${where}`;
  const what = code === "arguments_not_json" ? "stop being JSON" : "part from it";
  return `${what} in ${where}: ${quoteText(text, SIDE_LENGTH)}`;
}

/** Shows where two texts part, one above the other. */
function writeSides({ error }: Fault, { red, green }: Style): Array<readonly [string, string]> {
  if (error?.expected === undefined || error.received === undefined) return [];
  const { path = "content", offset, expected, received } = error;
  if (offset === undefined) {
    return [[
      "",
      `${printable(path)}: ${quoteText(expected, SIDE_LENGTH)} was streamed, ` +
      `${quoteText(received, SIDE_LENGTH)} came`,
    ]];
  }
  const same = Math.min(offset, SIDE_LENGTH / 2);
  const begin = `${offset > same ? "…" : ""}${inner(expected.slice(0, same))}`;
  return [
    ["streamed", `${begin}${green(`│${inner(expected.slice(same)) || "the end"}`)}`],
    ["event has", `${begin}${red(`│${inner(received.slice(same)) || "the end"}`)}`],
  ];
}

/** Writes a text as JSON does, without the quotation marks. */
function inner(text: string): string {
  return quoteText(text, SIDE_LENGTH + 1).slice(1, -1);
}

function writeAround(
  around: ReadonlyArray<ReportLine | ReportGap>,
  style: Style,
  columns: number,
): string[] {
  const lines = around.filter((line) => line !== "…");
  const hasIndex = lines.some(({ eventIndex }) => eventIndex !== undefined);
  const widest = (values: readonly number[]) =>
    Math.max(...values.map((value) => count(value).length));
  const lineWidth = widest(lines.map(({ line }) => line));
  const indexWidth = widest(lines.map(({ eventIndex = 0 }) => eventIndex));
  return around.map((entry) => {
    if (entry === "…") return style.dim("  …");
    const { line, eventIndex, text, mark } = entry;
    const index = eventIndex === undefined ? "" : count(eventIndex);
    const places = `line ${count(line).padStart(lineWidth)}  ` +
      (hasIndex ? `event ${index.padStart(indexWidth)}  ` : "");
    const whole = `${mark} ${places}${text}`;
    const shown = cutToWidth(whole, columns);
    return mark === "▶" ? style.red(shown) : mark === "?" ? style.yellow(shown) : shown;
  });
}
