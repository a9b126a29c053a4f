import type { RecordedStream } from "./_recording.ts";

/** A block of a stream as it came, whether it was right or wrong. */
export interface Lane {
  readonly kind: "text" | "thinking" | "tool_call";
  readonly contentIndex: number;
  /** Of a tool call. */
  readonly name: string | undefined;
  /** The first and the last of its events. */
  readonly first: number;
  last: number;
  /** Whether its end came. */
  isClosed: boolean;
  /** How long its deltas are together, in UTF-16 code units. */
  size: number;
  deltas: number;
}

/** A wait that is long beside the others of a stream. */
export interface Stall {
  /** The event that ended it. */
  readonly at: number;
  /** In milliseconds. */
  readonly duration: number;
}

/** A stream as lanes over time, one for each block. */
export interface StreamLanes {
  readonly lanes: readonly Lane[];
  /** For each event its lane; -1 where it is about the whole stream. */
  readonly laneOf: Int32Array;
  /** For each event how long its delta is, in UTF-16 code units. */
  readonly sizeOf: Float64Array;
  /** For each event where it is: in milliseconds, or by its place where the times are not known. */
  readonly positions: Float64Array;
  readonly hasTimes: boolean;
  /** The position where the stream ends. */
  readonly end: number;
  /** The longest first. */
  readonly stalls: readonly Stall[];
}

/** What a wait must be to be called a stall: in milliseconds, and beside the usual one. */
const MIN_STALL = 1_000;
const STALL_FACTOR = 10;

const MAX_STALLS = 5;

/** Sorts the events of a stream by the blocks that they are about. Nothing need be right. */
export function lanesOf({ events }: RecordedStream): StreamLanes {
  const lanes: Lane[] = [];
  const current = new Map<string, number>();
  const laneOf = new Int32Array(events.length).fill(-1);
  const sizeOf = new Float64Array(events.length);
  for (const [place, { event }] of events.entries()) {
    const { type, contentIndex, delta, argumentsDelta, name, content } = fieldsOf(event);
    const [, kind, step] = /^(text|thinking|tool_call)_(start|delta|end)$/.exec(String(type)) ?? [];
    if (kind === undefined || typeof contentIndex !== "number") continue;
    const key = `${kind} ${contentIndex}`;
    let index = current.get(key);
    if (index === undefined || step === "start") {
      index = lanes.length;
      lanes.push({
        kind: kind as Lane["kind"],
        contentIndex,
        name: typeof name === "string" ? name : undefined,
        first: place,
        last: place,
        isClosed: false,
        size: 0,
        deltas: 0,
      });
      current.set(key, index);
    }
    const lane = lanes[index] as Lane;
    lane.last = place;
    laneOf[place] = index;
    if (step === "delta") {
      const text = typeof delta === "string" ? delta : argumentsDelta;
      sizeOf[place] = typeof text === "string" ? text.length : 0;
      lane.size += sizeOf[place] ?? 0;
      lane.deltas++;
    } else if (step === "end") {
      lane.isClosed = true;
      if (lane.deltas === 0 && typeof content === "string") lane.size = content.length;
      current.delete(key);
    }
  }
  return { lanes, laneOf, sizeOf, ...positionsOf(events) };
}

function positionsOf(
  events: RecordedStream["events"],
): Pick<StreamLanes, "positions" | "hasTimes" | "end" | "stalls"> {
  const positions = Float64Array.from(events, ({ time }) => time ?? NaN);
  const hasTimes = events.length > 1 && positions.every(Number.isFinite) &&
    (positions.at(-1) as number) > (positions[0] as number);
  if (!hasTimes) {
    const places = Float64Array.from(events, (_, place) => place);
    return { positions: places, hasTimes, end: Math.max(1, events.length - 1), stalls: [] };
  }
  const begin = positions[0] as number;
  let now = 0;
  for (let place = 0; place < positions.length; place++) {
    // A clock that was set back lets no event come before the one before it.
    now = positions[place] = Math.max(now, (positions[place] as number) - begin);
  }
  const waits = positions.subarray(1).map((time, place) => time - (positions[place] as number));
  const usual = waits.toSorted()[Math.floor(waits.length / 2)] ?? 0;
  const least = Math.max(MIN_STALL, STALL_FACTOR * usual);
  const stalls: Stall[] = [];
  waits.forEach((duration, place) => {
    if (duration >= least) stalls.push({ at: place + 1, duration });
  });
  stalls.sort((one, other) => other.duration - one.duration);
  return { positions, hasTimes, end: now, stalls: stalls.slice(0, MAX_STALLS) };
}

/** The fields of an event, whatever it is; what cannot be read has none. */
export function fieldsOf(event: unknown): Readonly<Record<string, unknown>> {
  return typeof event === "object" && event !== null
    ? event as Readonly<Record<string, unknown>>
    : {};
}

/** Writes a duration for people: `840 ms`, `4.2 s`, `3 min 20 s`. */
export function durationOf(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
