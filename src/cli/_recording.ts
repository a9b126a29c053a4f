import type { StreamSequenceError } from "../stream_sequence_error.ts";

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

/** One stream of a recording. */
export interface RecordedStream {
  /** File the stream was read from, "-" for standard input. */
  readonly file: string;
  /** Place among the streams of its file, from 0. */
  readonly index: number;
  /** Its events, in the order in which they came. */
  readonly events: readonly RecordedEvent[];
  /** What broke the first rule, and at which event (`events.length` for `truncated`), if any did. */
  readonly violation?: { readonly error: StreamSequenceError; readonly at: number };
}
