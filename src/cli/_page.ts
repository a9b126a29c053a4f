import { createHash } from "node:crypto";
import { isPlainObject, kindOf } from "../_json.ts";
import { StreamSequenceError } from "../stream_sequence_error.ts";
import { describeEvent } from "./_describe.ts";
import { durationOf, fieldsOf, type Lane, lanesOf, type StreamLanes } from "./_lanes.ts";
import { PAGE_SCRIPT, PAGE_STYLE } from "./_page_assets.ts";
import type { RecordedFault, RecordedStream } from "./_recording.ts";
import { RULES } from "./_rules.ts";
import { count, countOf, printable } from "./_text.ts";
import { findOtherFault } from "./_wire_faults.ts";

/** How many rows and lanes a page has in all, and a stream at least and at most. */
const PAGE_ROWS = 3_000;
const MIN_ROWS = 30;
const MAX_ROWS = 400;
const PAGE_LANES = 600;
const MIN_LANES = 12;
const MAX_LANES = 60;

/** How many events around the violation have rows of their own. */
const AROUND = 3;

/** How many columns a timeline is counted in, and how wide it is in units of its own. */
const BINS = 240;
const WIDTH = 1_000;
const HEIGHT = 28;

/** How much of an event, a text and the content of a message is shown, in UTF-16 code units. */
const EVENT_LENGTH = 3_000;
const TEXT_LENGTH = 600;
const BLOCK_LENGTH = 1_500;
const MAX_BLOCKS = 40;
const JSON_DEPTH = 12;

/** A row of the list of events: one event, or the deltas of a block that came in a row. */
interface Row {
  readonly from: number;
  readonly to: number;
  readonly lane: number;
}

/**
 * Writes streams as a page that needs nothing else: for each the verdict, its blocks over time, its
 * events and the final message. Whatever the streams hold is shown as text.
 */
export function renderPage(streams: readonly RecordedStream[]): string {
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(PAGE_STYLE)}'`,
    `script-src '${hashOf(PAGE_SCRIPT)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const files = [...new Set(streams.map(({ file }) => file))];
  const title = files.length === 1 ? nameOf(files[0] as string) : countOf(streams.length, "stream");
  const share = Math.max(1, streams.length);
  const limits = {
    rows: Math.max(MIN_ROWS, Math.min(MAX_ROWS, Math.floor(PAGE_ROWS / share))),
    lanes: Math.max(MIN_LANES, Math.min(MAX_LANES, Math.floor(PAGE_LANES / share))),
  };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escape(printable(title))}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<h1>${escape(printable(title))}</h1>
${streams.length > 1 ? renderNavigation(streams) : ""}${
    streams.map((stream, place) => renderStream(stream, place, streams.length, limits)).join("\n")
  }
</main>
<footer>Lengths are in UTF-16 code units. Made by stream-validator.</footer>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

function nameOf(file: string): string {
  return file === "-" ? "standard input" : file;
}

/** Writes a text so that it is nothing but text, in an element or between quotation marks. */
function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function renderNavigation(streams: readonly RecordedStream[]): string {
  const items = streams.map((stream, place) =>
    `<li><a href="#stream-${place}">${escape(headingOf(stream))}</a> <span class="facts">${
      escape(stream.violation?.error.code ?? "well-formed")
    }</span></li>`
  );
  return `<nav aria-label="Streams"><ol>\n${items.join("\n")}\n</ol></nav>\n`;
}

function headingOf({ file, index }: RecordedStream): string {
  return `${printable(nameOf(file))}, stream ${count(index + 1)}`;
}

function renderStream(
  stream: RecordedStream,
  place: number,
  total: number,
  limits: { readonly rows: number; readonly lanes: number },
): string {
  const picture = lanesOf(stream);
  const { events } = stream;
  const { lanes, hasTimes, end } = picture;
  const facts = [
    ...(total > 1 ? [headingOf(stream)] : stream.index > 0 ? [`stream ${stream.index + 1}`] : []),
    countOf(events.length, "event"),
    countOf(lanes.length, "block"),
    ...(hasTimes ? [durationOf(end)] : []),
  ];
  return `<section id="stream-${place}" aria-labelledby="verdict-${place}">
${renderVerdict(stream, place, facts)}
${events.length > 0 ? renderTimeline(stream, picture, limits.lanes) : ""}
${events.length > 0 ? renderEvents(stream, picture, limits.rows) : emptyEvents()}
${renderMessage(stream)}
</section>`;
}

function renderVerdict(
  { events, violation }: RecordedStream,
  place: number,
  facts: readonly string[],
): string {
  const about = `<p class="facts">${escape(facts.join(" · "))}</p>`;
  if (!violation) {
    return `<div class="verdict"><h2 id="verdict-${place}">✓ Well-formed</h2>${about}</div>`;
  }
  const { error, at } = violation;
  const event = events[at];
  const where = event
    ? `event ${count(at)}, line ${count(event.line)}, byte ${count(event.offset)}`
    : `${placeOf(violation)}, after ${countOf(events.length, "event")}`;
  const rows: Array<readonly [string, string]> = [
    ["Found", escape(sentence(printable(error.detail)))],
    ["Where", escape(where)],
  ];
  if (error.path !== undefined && error.path !== "content") {
    rows.push(["In", code(printable(error.path))]);
  }
  if (error.expected !== undefined && error.received !== undefined) {
    rows.push(["Streamed", sideOf(error.expected, error.offset)]);
    rows.push(["Event has", sideOf(error.received, error.offset)]);
  }
  const rule = StreamSequenceError.is(error) ? RULES[error.code] : findOtherFault(error.code);
  if (rule) rows.push(["Rule", escape(rule.summary)], ["Usually", escape(rule.causes[0])]);
  const list = rows.map(([name, html]) => `<dt>${name}</dt><dd>${html}</dd>`).join("");
  return `<div class="verdict wrong"><h2 id="verdict-${place}">✗ ${
    escape(error.code)
  }</h2>${about}<dl>${list}</dl></div>`;
}

/** Where something is wrong that is at no event. */
function placeOf({ place }: RecordedFault): string {
  return place ? `line ${count(place.line)}, byte ${count(place.byteOffset)}` : "the end";
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

function code(text: string): string {
  return `<code>${escape(text)}</code>`;
}

/** One of two texts that differ, from where they do. */
function sideOf(text: string, offset: number | undefined): string {
  if (offset === undefined) return code(printable(text));
  const same = Math.min(offset, 20);
  const begin = `${offset > same ? "…" : ""}${printable(text.slice(0, same))}`;
  const own = printable(text.slice(same)) || "(the end)";
  return `<code>${escape(begin)}<mark>${escape(own)}</mark></code>`;
}

/** The places of `total` things to show: the first and last ones, and some around one of them. */
function placesOf(total: number, most: number, wanted: number): number[] {
  const all = Array.from({ length: total }, (_, place) => place);
  if (total <= most) return all;
  const around = Math.floor(most / 8);
  const side = Math.floor((most - 2 * around) / 2);
  return all.filter((place) =>
    place < side || place >= total - side || (wanted >= 0 && Math.abs(place - wanted) <= around)
  );
}

/** Writes what is shown, with a word about what is left out between. */
function withGaps(
  places: readonly number[],
  total: number,
  write: (place: number) => string,
  writeGap: (count: number, from: number, to: number) => string,
): string {
  const parts: string[] = [];
  let next = 0;
  for (const place of places) {
    if (place > next) parts.push(writeGap(place - next, next, place));
    parts.push(write(place));
    next = place + 1;
  }
  if (next < total) parts.push(writeGap(total - next, next, total));
  return parts.join("\n");
}

function renderTimeline(stream: RecordedStream, picture: StreamLanes, mostLanes: number): string {
  const { lanes, laneOf, positions, end, hasTimes, stalls } = picture;
  const { events, violation } = stream;
  const xOf = (place: number) =>
    round(place >= events.length ? WIDTH : (positions[place] as number) / end * WIDTH);
  const wrongLane = violation ? laneOf[violation.at] ?? -1 : -2;
  const places = placesOf(lanes.length, mostLanes, wrongLane);
  const sums = sumsOf(picture, new Set(places), xOf);
  const most = Math.max(
    1,
    ...[...sums.values()].map((sum) => sum.reduce((a, b) => Math.max(a, b), 0)),
  );
  const behind = stalls.map(({ at }) =>
    `<rect class="stall" x="${xOf(at - 1)}" width="${
      round(xOf(at) - xOf(at - 1))
    }" height="${HEIGHT}"/>`
  ).join("");
  const rule = violation
    ? `<line class="rule" x1="${xOf(violation.at)}" x2="${xOf(violation.at)}" y1="-3" y2="${
      HEIGHT + 3
    }"/>`
    : "";
  const draw = (lane: number, inside: string) => {
    const cross = lane === wrongLane && violation ? crossAt(xOf(violation.at)) : "";
    const cursor = `<line class="cursor" visibility="hidden" y1="-3" y2="${HEIGHT + 3}"/>`;
    return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true" ` +
      `data-lane="${lane}"><rect width="${WIDTH}" height="${HEIGHT}" fill="none" pointer-events="all"/>` +
      `${behind}${inside}${rule}${cursor}${cross}</svg>`;
  };
  const marks = events.flatMap((_, place) => laneOf[place] === -1 ? [xOf(place)] : []);
  const bins = new Set(marks.map((x) => Math.round(x / WIDTH * BINS)));
  const dots = [...bins].map((bin) =>
    `<rect class="mark" x="${
      round(Math.min(WIDTH - 4, Math.max(0, bin / BINS * WIDTH - 2)))
    }" y="9" width="4" height="10"/>`
  ).join("");
  const lane = (place: number) => {
    const { kind, contentIndex, name, first, last, isClosed, size, deltas } = lanes[place] as Lane;
    const label = `${contentIndex} ${printable((name ?? kind).slice(0, 80))}`;
    const from = xOf(first);
    const to = isClosed ? xOf(last) : WIDTH;
    const span = `<rect class="span${isClosed ? "" : " open"}" x="${from}" y="3" width="${
      round(Math.max(2, to - from))
    }" height="22" rx="2"/>`;
    const bars = `<path class="bars" d="${barsOf(sums.get(place) as Float64Array, most)}"/>`;
    const told = deltas === 0 ? "–" : count(size);
    return `<div class="lane ${kind}"><span title="${escape(label)}">${escape(label)}</span>${
      draw(place, span + bars)
    }<span>${told}</span></div>`;
  };
  const [begin, finish] = hasTimes
    ? ["0 s", durationOf(end)]
    : ["event 0", count(events.length - 1)];
  const silence = stalls.map(({ at, duration }) =>
    `${durationOf(duration)} of silence before event ${count(at)}`
  );
  return `<h3>Timeline</h3>
<div class="lanes">
<div class="lane stream"><span>stream</span>${draw(-1, dots)}<span>length</span></div>
${
    withGaps(places, lanes.length, lane, (left) =>
      `<div class="left-out">… ${countOf(left, "block")} left out</div>`)
  }
<div class="lane stream"><span></span>${
    axisOf(begin, finish, violation && xOf(violation.at))
  }<span></span></div>
</div>
${silence.length > 0 ? `<p class="facts">${escape(silence.join(" · "))}</p>` : ""}`;
}

/** Writes what is where below the lanes: the begin and the end, and the violation between them. */
function axisOf(begin: string, finish: string, wrong: number | undefined): string {
  const text = (x: number, anchor: string, name: string, told: string) =>
    `<text class="${name}" x="${
      round(x / WIDTH * 100)
    }%" y="13" text-anchor="${anchor}">${told}</text>`;
  const isNear = (x: number) => wrong !== undefined && Math.abs(x - wrong) < WIDTH / 5;
  const anchor = wrong === undefined || wrong < WIDTH / 3
    ? "start"
    : wrong > WIDTH * 2 / 3
    ? "end"
    : "middle";
  return `<svg class="axis" aria-hidden="true">${isNear(0) ? "" : text(0, "start", "tick", begin)}${
    isNear(WIDTH) ? "" : text(WIDTH, "end", "tick", finish)
  }${wrong === undefined ? "" : text(wrong, anchor, "fault", "✗ here")}</svg>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function crossAt(x: number): string {
  const middle = HEIGHT / 2;
  // The picture is stretched to the page's width: a cross of lines would become flat.
  return `<line class="cross" x1="${x}" x2="${x}" y1="${middle - 11}" y2="${middle + 11}"/>`;
}

/** How much came in each column of the lanes that are shown. */
function sumsOf(
  { laneOf, sizeOf }: StreamLanes,
  shown: ReadonlySet<number>,
  xOf: (place: number) => number,
): ReadonlyMap<number, Float64Array> {
  const sums = new Map([...shown].map((lane) => [lane, new Float64Array(BINS)]));
  laneOf.forEach((lane, place) => {
    const sum = sums.get(lane);
    const size = sizeOf[place] as number;
    if (!sum || size === 0) return;
    const bin = Math.min(BINS - 1, Math.floor(xOf(place) / WIDTH * BINS));
    sum[bin] = (sum[bin] as number) + size;
  });
  return sums;
}

function barsOf(sum: Float64Array, most: number): string {
  const width = WIDTH / BINS;
  let path = "";
  sum.forEach((size, bin) => {
    if (size === 0) return;
    const height = Math.max(3, Math.sqrt(size / most) * 22);
    path += `M${round(bin * width)} 25v-${round(height)}h${round(width)}v${round(height)}z`;
  });
  return path;
}

/** Puts deltas of a block that came in a row together, but around the violation. */
function rowsOf({ events, violation }: RecordedStream, { laneOf }: StreamLanes): Row[] {
  const rows: Row[] = [];
  const wrong = violation ? violation.at : -AROUND - 1;
  for (let place = 0; place < events.length; place++) {
    const lane = laneOf[place] as number;
    const isAlone = Math.abs(place - wrong) <= AROUND || !isDelta(events[place]?.event);
    const before = rows.at(-1);
    const joins = before && !isAlone && before.lane === lane && lane >= 0 &&
      before.to < place && isDelta(events[before.from]?.event) &&
      Math.abs(before.to - wrong) > AROUND;
    if (joins) rows[rows.length - 1] = { ...before, to: place };
    else rows.push({ from: place, to: place, lane });
  }
  return rows;
}

function isDelta(event: unknown): boolean {
  return /^(text|thinking|tool_call)_delta$/.test(String(fieldsOf(event).type));
}

function renderEvents(stream: RecordedStream, picture: StreamLanes, most: number): string {
  const { events, violation } = stream;
  const rows = rowsOf(stream, picture);
  const wrong = violation ? rows.findIndex(({ from }) => from === violation.at) : -1;
  const places = placesOf(rows.length, most, wrong);
  const xOf = (place: number) => round((picture.positions[place] as number) / picture.end * WIDTH);
  const data = places.map((place) => {
    const { from, to, lane } = rows[place] as Row;
    return {
      lane,
      from: xOf(from),
      to: xOf(to),
      title: titleOf(stream, rows[place] as Row),
      json: jsonOf(events[from]?.event),
    };
  });
  const items = withGaps(
    places,
    rows.length,
    (place) => renderRow(stream, picture, rows[place] as Row),
    (_, from, to) => {
      const left = (rows[to - 1] as Row).to - (rows[from] as Row).from + 1;
      return `<li class="left-out">… ${countOf(left, "event")} left out</li>`;
    },
  );
  return `<h3>Events</h3>
<div class="events">
<ol>
${items}${violation && violation.at >= events.length ? renderEnd(violation) : ""}
</ol>
<div class="inspector idle" role="status" aria-live="polite"><p>Point at an event or move to it with the keyboard to see its JSON.</p><pre></pre></div>
</div>
${dataOf(data)}`;
}

/** The row of an end that came too early, or of something that is no event. */
function renderEnd(violation: RecordedFault): string {
  const what = violation.place ? `line ${count(violation.place.line)}` : "the end";
  return `\n<li><div class="event wrong"><span class="place"></span><span class="type">✗ ${what}</span>` +
    `<span class="what">${escape(sentence(printable(violation.error.detail)))}</span></div></li>`;
}

function emptyEvents(): string {
  return `<div class="inspector idle" hidden><p></p><pre></pre></div>${dataOf([])}`;
}

/** Writes data that nothing in it can end early. */
function dataOf(data: unknown): string {
  const written = JSON.stringify(data).replace(
    /[<>&]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
  return `<script type="application/json">${written}</script>`;
}

function titleOf({ events }: RecordedStream, { from, to }: Row): string {
  const { line, offset, time } = events[from] as RecordedStream["events"][number];
  const when = time === undefined ? "" : `, ${durationOf(time)}`;
  const more = to > from ? `; ${count(to - from)} more like it follow` : "";
  return `Event ${count(from)}, line ${count(line)}, byte ${count(offset)}${when}${more}`;
}

function renderRow(
  { events, violation }: RecordedStream,
  { sizeOf, lanes }: StreamLanes,
  { from, to, lane }: Row,
): string {
  const { event } = events[from] as RecordedStream["events"][number];
  const isWrong = violation?.at === from;
  const [type = "", ...rest] = describeEvent(event).split("  ");
  const isEvent = typeof fieldsOf(event).type === "string";
  let what = isEvent ? rest.join(" · ") : type;
  if (to > from) {
    let size = 0;
    let text = "";
    for (let place = from; place <= to; place++) {
      size += sizeOf[place] as number;
      const { delta, argumentsDelta } = fieldsOf(events[place]?.event);
      const piece = typeof delta === "string" ? delta : argumentsDelta;
      if (text.length < 120 && typeof piece === "string") text += piece.slice(0, 120);
    }
    what = `${countOf(to - from + 1, "delta")}, length ${count(size)} · ${
      printable(text.slice(0, 120))
    }`;
  }
  const kind = lane >= 0 ? (lanes[lane] as Lane).kind : "stream";
  const place = to > from ? `${count(from)}–${count(to)}` : count(from);
  const why = isWrong
    ? `${what === "" ? "" : "<br>"}${escape(sentence(printable(violation.error.detail)))}`
    : "";
  return `<li><button type="button" class="event${isWrong ? " wrong" : ""}">` +
    `<span class="place">${place}</span><span class="type ${kind}">${isWrong ? "✗ " : ""}${
      escape(isEvent ? type : "no event")
    }</span><span class="what">${escape(what)}${why}</span>` +
    `</button></li>`;
}

function renderMessage({ events }: RecordedStream): string {
  const event = events.map(({ event }) => fieldsOf(event)).findLast(({ type }) =>
    type === "done" || type === "error"
  );
  if (!event) return `<h3>Final message</h3>\n<p class="facts">None came.</p>`;
  const message = fieldsOf(event.message);
  const usage = fieldsOf(message.usage);
  const tokens = [["input", "in"], ["output", "out"], ["cacheRead", "from the cache"]].flatMap(
    ([field, name]) => {
      const value = usage[field as string];
      return typeof value === "number" && value > 0 ? [`${count(value)} ${name}`] : [];
    },
  );
  const facts = [
    event.reason,
    message.model,
    message.provider,
    tokens.length > 0 ? `tokens: ${tokens.join(", ")}` : undefined,
  ].filter((fact): fact is string => typeof fact === "string" && fact !== "");
  const parts = [`<p class="facts">${escape(facts.map((fact) => cut(fact, 80)).join(" · "))}</p>`];
  if (typeof message.errorMessage === "string") {
    parts.push(`<p><mark>${escape(cut(message.errorMessage, BLOCK_LENGTH))}</mark></p>`);
  }
  const content = Array.isArray(message.content) ? message.content : [];
  const blocks = content.slice(0, MAX_BLOCKS).map((block, place) => renderBlock(block, place));
  if (content.length > MAX_BLOCKS) {
    const left = countOf(content.length - MAX_BLOCKS, "block");
    blocks.push(`<p class="left-out">… ${left} left out</p>`);
  }
  return `<h3>Final message</h3>\n${parts.join("\n")}
${blocks.length > 0 ? `<div class="message">\n${blocks.join("\n")}\n</div>` : ""}`;
}

function renderBlock(block: unknown, place: number): string {
  const { type, text, thinking, name, id, arguments: args } = fieldsOf(block);
  const said = type === "text" ? text : type === "thinking" ? thinking : undefined;
  const kind = ["text", "thinking", "tool_call"].find((kind) => kind === type) ?? "stream";
  const heading = [type, name, id].filter((part) => typeof part === "string").map((part) =>
    cut(String(part), 80)
  );
  const body = typeof said === "string"
    ? `<div class="said">${escape(cutLines(said, BLOCK_LENGTH))}</div>`
    : `<pre>${escape(jsonOf(type === "tool_call" ? args : block))}</pre>`;
  return `<div class="block ${kind}"><h4>${place} ${escape(heading.join(" · "))}</h4>${body}</div>`;
}

function cut(text: string, length: number): string {
  return printable(text.length > length ? `${text.slice(0, length - 1)}…` : text);
}

/** Cuts a text that keeps its lines. */
function cutLines(text: string, length: number): string {
  const shown = text.slice(0, length).split("\n").map(printable).join("\n");
  const left = text.length - length;
  return left > 0 ? `${shown}… ${count(left)} more` : shown;
}

/** Writes a value as JSON on lines of its own; what is deep, long or no JSON is cut short. */
function jsonOf(value: unknown): string {
  let room = EVENT_LENGTH;
  const write = (value: unknown, depth: number): string => {
    const written = writeLeaf(value);
    if (written !== undefined) {
      room -= written.length;
      return written;
    }
    if (depth > JSON_DEPTH || room <= 0) return Array.isArray(value) ? "[…]" : "{…}";
    const indent = "  ".repeat(depth + 1);
    const parts: string[] = [];
    const isList = Array.isArray(value);
    const keys = isList ? undefined : Object.keys(value as object);
    const length = isList ? value.length : (keys as string[]).length;
    for (let place = 0; place < length; place++) {
      if (room <= 0) {
        parts.push(`${indent}… ${count(length - place)} more`);
        break;
      }
      const key = keys?.[place];
      const name = key === undefined ? "" : `${writeLeaf(key)}: `;
      room -= name.length + indent.length + 1;
      const member = (value as Record<string | number, unknown>)[key ?? place];
      parts.push(`${indent}${name}${write(member, depth + 1)}`);
    }
    const [open, close] = isList ? ["[", "]"] : ["{", "}"];
    return parts.length === 0
      ? `${open}${close}`
      : `${open}\n${parts.join(",\n")}\n${"  ".repeat(depth)}${close}`;
  };
  try {
    return write(value, 0);
  } catch {
    return kindOf(value);
  }
}

/** Writes what holds no other values. */
function writeLeaf(value: unknown): string | undefined {
  if (typeof value === "string") {
    const left = value.length - TEXT_LENGTH;
    const written = printable(JSON.stringify(value.slice(0, TEXT_LENGTH)));
    return left > 0 ? `${written.slice(0, -1)}… ${count(left)} more"` : written;
  }
  if (Array.isArray(value) || isPlainObject(value)) return undefined;
  return value === null || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : kindOf(value);
}
