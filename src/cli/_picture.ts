import { describeValue } from "./_describe.ts";
import { cutToWidth, displayWidth, fitToWidth } from "./_display_width.ts";
import { durationOf, fieldsOf, type Lane, lanesOf, type StreamLanes } from "./_lanes.ts";
import type { RecordedStream } from "./_recording.ts";
import { count, countOf, createStyle, printable, quoteText, type Style } from "./_text.ts";

/** How a stream is drawn. */
export interface PictureOptions {
  /** How many columns the terminal has. */
  readonly width: number;
  readonly color: boolean;
}

/** Fewer columns than this are drawn as if there were so many. */
const MIN_WIDTH = 24;
const MAX_WIDTH = 160;

/** How many lanes are drawn; of more, those in the middle are left out. */
const MAX_LANES = 40;

/** How many blocks of the final message are shown, and how much is read of each. */
const MAX_BLOCKS = 12;
const MAX_EXCERPT = 400;

const LEVELS = "▁▂▃▄▅▆▇█";

/** Marks in a lane, by what they stand for. */
interface Cell {
  readonly mark: string;
  readonly style: keyof Style | undefined;
}

const EMPTY: Cell = { mark: " ", style: undefined };
const QUIET: Cell = { mark: "─", style: "dim" };
const STALLED: Cell = { mark: "·", style: "yellow" };
const WRONG: Cell = { mark: "✗", style: "red" };

/**
 * Draws a stream for a terminal: a lane for each block over time, or over the events where their
 * times are not known; then the violation, the stalls and the final message. Nothing of the stream's
 * content reaches the terminal as anything but text.
 */
export function drawStream(stream: RecordedStream, options: PictureOptions): string {
  const width = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, Math.floor(options.width) || 0));
  const style = createStyle(options.color);
  const picture = lanesOf(stream);
  const lines = [
    ...drawHead(stream, picture, style, width),
    "",
    ...drawLanes(stream, picture, style, width),
    "",
    ...drawMessage(stream, style, width),
  ];
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}

function drawHead(
  { file, index, events, violation }: RecordedStream,
  { lanes, hasTimes, end, stalls }: StreamLanes,
  style: Style,
  width: number,
): string[] {
  const name = `${file === "-" ? "standard input" : printable(file)}, stream ${count(index + 1)}`;
  const size = `${countOf(events.length, "event")}, ${countOf(lanes.length, "block")}` +
    (hasTimes ? `, ${durationOf(end)}` : "");
  const lines = displayWidth(name) + size.length + 2 <= width
    ? [`${style.bold(name)}  ${style.dim(size)}`]
    : [style.bold(cutToWidth(name, width)), style.dim(cutToWidth(size, width))];
  if (violation) {
    const { error, at, place } = violation;
    const event = events[at];
    const where = event
      ? `at event ${count(at)}, line ${count(event.line)}`
      : `at ${place ? `line ${count(place.line)}` : "the end"}, after ${
        countOf(events.length, "event")
      }`;
    lines.push(
      ...wrap(`✗ ${error.code} ${where}`, width).map((text) => style.red(text)),
      ...wrap(printable(error.detail), width - 2).map((text) => `  ${text}`),
    );
  } else lines.push(style.green("✓ well-formed"));
  for (const { at, duration } of stalls) {
    const text = `  ${durationOf(duration)} of silence before event ${count(at)}`;
    lines.push(style.yellow(cutToWidth(text, width)));
  }
  return lines;
}

function drawLanes(
  stream: RecordedStream,
  picture: StreamLanes,
  style: Style,
  width: number,
): string[] {
  const { lanes, hasTimes, end } = picture;
  const { violation, events } = stream;
  const wrongLane = violation ? picture.laneOf[violation.at] ?? -1 : -1;
  const shown = shownLanes(lanes.length, wrongLane);
  const labels = new Map(shown.map((index) => [index, labelOf(lanes[index] as Lane)]));
  const sizes = new Map(shown.map((index) => [index, sizeOf(lanes[index] as Lane)]));
  const labelWidth = Math.min(
    Math.floor(width / 3),
    Math.max(6, ...[...labels.values()].map(displayWidth)),
  );
  const sizeWidth = Math.max(4, ...[...sizes.values()].map(({ length }) => length));
  const columns = Math.max(4, width - labelWidth - sizeWidth - 2);
  const scale = (columns - 1) / end;
  const columnOf = (place: number) =>
    place >= events.length
      ? columns - 1
      : Math.min(columns - 1, Math.floor((picture.positions[place] as number) * scale));
  const rows = cellsOf(stream, picture, new Set(shown), columns, columnOf);
  const write = (label: string, cells: readonly Cell[], size: string) =>
    `${fitToWidth(label, labelWidth)} ${paint(cells, style)} ${
      style.dim(size.padStart(sizeWidth))
    }`;

  const lines = [write("stream", rows.get(-1) as Cell[], "size")];
  let before = -1;
  for (const index of shown) {
    if (index > before + 1) lines.push(style.dim(leftOut(index - before - 1, width)));
    lines.push(
      write(labels.get(index) as string, rows.get(index) as Cell[], sizes.get(index) as string),
    );
    before = index;
  }
  if (before < lanes.length - 1) {
    lines.push(style.dim(leftOut(lanes.length - 1 - before, width)));
  }
  if (violation) {
    const column = columnOf(violation.at);
    const text = violation.error.code;
    const room = columns + sizeWidth + 1;
    const isLeft = column + 2 + text.length > room;
    const caret = isLeft && text.length + 1 <= column
      ? `${" ".repeat(column - text.length - 1)}${text} ▲`
      : cutToWidth(`${" ".repeat(column)}▲ ${text}`, room);
    lines.push(`${" ".repeat(labelWidth + 1)}${style.red(caret)}`);
  }
  const [from, to] = hasTimes ? ["0 s", durationOf(end)] : ["event 0", `${count(end)}`];
  const gap = " ".repeat(Math.max(1, columns - from.length - to.length));
  lines.push(style.dim(`${" ".repeat(labelWidth + 1)}${from}${gap}${to}`));
  return lines;
}

/** The lanes to draw: all, or the first and the last ones and what is around the violation. */
function shownLanes(total: number, wrong: number): number[] {
  const all = Array.from({ length: total }, (_, index) => index);
  if (total <= MAX_LANES) return all;
  const side = Math.floor(MAX_LANES / 2) - 2;
  return all.filter((index) =>
    index < side || index >= total - side || (wrong >= 0 && Math.abs(index - wrong) <= 1)
  );
}

function leftOut(blocks: number, width: number): string {
  return cutToWidth(`  … ${countOf(blocks, "block")} left out`, width);
}

/** The cells of each lane that is shown, and of the events about the whole stream under -1. */
function cellsOf(
  { events, violation }: RecordedStream,
  { lanes, laneOf, sizeOf, stalls, positions, hasTimes }: StreamLanes,
  shown: ReadonlySet<number>,
  columns: number,
  columnOf: (place: number) => number,
): ReadonlyMap<number, Cell[]> {
  const rows = new Map<number, Cell[]>([[-1, Array<Cell>(columns).fill(EMPTY)]]);
  const sums = new Map<number, Float64Array>();
  for (const index of shown) {
    const { first, last, isClosed } = lanes[index] as Lane;
    const row = Array<Cell>(columns).fill(EMPTY);
    row.fill(QUIET, columnOf(first), columnOf(isClosed ? last : events.length) + 1);
    rows.set(index, row);
    sums.set(index, new Float64Array(columns));
  }
  if (hasTimes) {
    for (const { at } of stalls) {
      const [from, to] = [columnOf(at - 1) + 1, columnOf(at)];
      for (const row of rows.values()) {
        for (let column = from; column < to; column++) {
          if (row[column] === QUIET) row[column] = STALLED;
        }
      }
    }
  }
  let most = 1;
  for (let place = 0; place < positions.length; place++) {
    const lane = laneOf[place] as number;
    const column = columnOf(place);
    const sum = sums.get(lane);
    if (sum) {
      sum[column] = (sum[column] as number) + Math.max(1, sizeOf[place] as number);
      most = Math.max(most, sum[column] as number);
    } else if (lane < 0) (rows.get(-1) as Cell[])[column] = markOf(events[place]?.event);
  }
  for (const [index, sum] of sums) {
    const row = rows.get(index) as Cell[];
    sum.forEach((size, column) => {
      if (size === 0) return;
      const level = Math.ceil(Math.sqrt(size / most) * LEVELS.length) - 1;
      row[column] = { mark: LEVELS[Math.max(0, level)] as string, style: undefined };
    });
  }
  if (violation) {
    const row = rows.get(laneOf[violation.at] ?? -1) ?? rows.get(-1) as Cell[];
    row[columnOf(violation.at)] = WRONG;
  }
  return rows;
}

/** The mark of an event that is about no block. */
function markOf(event: unknown): Cell {
  switch (fieldsOf(event).type) {
    case "start":
      return { mark: "▸", style: "dim" };
    case "done":
      return { mark: "■", style: "green" };
    case "error":
      return { mark: "■", style: "red" };
    default:
      return { mark: "?", style: "yellow" };
  }
}

/** Writes cells, the marks of one style together. */
function paint(cells: readonly Cell[], style: Style): string {
  let painted = "";
  for (let from = 0; from < cells.length;) {
    const name = cells[from]?.style;
    let to = from;
    let marks = "";
    while (to < cells.length && cells[to]?.style === name) marks += cells[to++]?.mark;
    painted += name ? style[name](marks) : marks;
    from = to;
  }
  return painted;
}

function labelOf({ kind, contentIndex, name }: Lane): string {
  const what = kind === "tool_call" ? name ?? "tool_call" : kind;
  return `${contentIndex} ${printable(what.slice(0, 64))}`;
}

function sizeOf({ size, deltas }: Lane): string {
  return deltas === 0 && size === 0 ? "–" : compact(size);
}

/** Writes a number in at most five characters: `999`, `12.3k`, `4.5M`. */
function compact(value: number): string {
  if (value < 1_000) return String(value);
  const [unit, letter] = value < 999_950 ? [1_000, "k"] : [1_000_000, "M"];
  return `${(value / Number(unit)).toFixed(1)}${letter}`;
}

function drawMessage({ events, violation }: RecordedStream, style: Style, width: number): string[] {
  const event = events.map(({ event }) => fieldsOf(event)).findLast(({ type }) =>
    type === "done" || type === "error"
  );
  if (!event) return [style.dim(cutToWidth("no final message came", width))];
  const message = fieldsOf(event.message);
  const usage = fieldsOf(message.usage);
  const tokens = [[usage.input, "in"], [usage.output, "out"]]
    .flatMap(([value, name]) => typeof value === "number" ? [`${count(value)} ${name}`] : []);
  const facts = [
    typeof event.reason === "string" ? quoteless(event.reason) : undefined,
    ...[message.model, message.provider].map((name) =>
      typeof name === "string" ? quoteless(name) : undefined
    ),
    tokens.length > 0 ? `tokens ${tokens.join(", ")}` : undefined,
  ].filter((fact) => fact !== undefined && fact !== "");
  const mark = event.type === "done" && !violation ? style.green("■") : style.red("■");
  const lines = wrap(`${event.type}: ${facts.join(" · ")}`, width - 2).map((text, index) =>
    `${index === 0 ? mark : " "} ${text}`
  );
  if (typeof message.errorMessage === "string") {
    const text = quoteText(message.errorMessage, MAX_EXCERPT);
    lines.push(`  ${style.red(cutToWidth(text, width - 2))}`);
  }
  const content = Array.isArray(message.content) ? message.content : [];
  const labelWidth = Math.min(20, Math.floor(width / 3));
  for (const [index, block] of content.slice(0, MAX_BLOCKS).entries()) {
    const { type, name, text, thinking, arguments: args } = fieldsOf(block);
    const kind = type === "tool_call" && typeof name === "string" ? name : String(type ?? "?");
    const label = fitToWidth(`${index} ${printable(kind.slice(0, 64))}`, labelWidth);
    const said = [text, thinking].find((value) => typeof value === "string") as string | undefined;
    const shown = said === undefined
      ? describeValue(type === "tool_call" ? args : block, MAX_EXCERPT)
      : quoteText(said, MAX_EXCERPT);
    lines.push(`  ${style.dim(label)} ${cutToWidth(shown, width - labelWidth - 3)}`);
  }
  if (content.length > MAX_BLOCKS) {
    lines.push(style.dim(leftOut(content.length - MAX_BLOCKS, width)));
  }
  return lines;
}

function quoteless(text: string): string {
  return printable(text.length > 64 ? `${text.slice(0, 63)}…` : text);
}

/** Breaks a text into lines at its spaces, and where it has none where it must. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (displayWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = cutToWidth(word, width);
  }
  return [...lines, line];
}
