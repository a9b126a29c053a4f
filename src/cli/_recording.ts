import type { StreamSequenceError } from "../stream_sequence_error.ts";
import type { Place } from "../wire/_frame_parser.ts";

/** One event of a recorded stream, and where it was found. */
export interface RecordedEvent {
  /** The event, as it was decoded. */
  readonly event: unknown;
  /** Byte offset of its frame in the input. */
  readonly offset: number;
  /** Line of its frame in the input, from 1. */
  readonly line: number;
  /** When it arrived, in milliseconds since the stream's first event, where the recording says. */
  readonly time?: number;
}

/** What is wrong with a stream: a broken rule, or something that is wrong with its wire format. */
export interface RecordedFault {
  /** The rule's error, or what else is known of such a fault. */
  readonly error:
    | StreamSequenceError
    | {
      readonly code: string;
      readonly detail: string;
      readonly path?: string;
      readonly offset?: number;
      readonly expected?: string;
      readonly received?: string;
    };
  /** At which event it is: `events.length` where there is none, as for `truncated`. */
  readonly at: number;
  /** Where it is, where something came that is no event. */
  readonly place?: Place;
}

/** One stream of a recording. */
export interface RecordedStream {
  /** File the stream was read from, "-" for standard input. */
  readonly file: string;
  /** Place among the streams of its file, from 0. */
  readonly index: number;
  /** Its events, in the order in which they came. */
  readonly events: readonly RecordedEvent[];
  /** What is wrong with it first, if anything is. */
  readonly violation?: RecordedFault;
}
