/** Recorded streams for the tests of what shows them. */

import { createStreamEventValidator, type StreamEvent, StreamSequenceError } from "../../mod.ts";
import type { RecordedStream } from "../../src/cli/_recording.ts";

/** Records a stream, each event at its time in milliseconds where times are given. */
export function record(
  events: readonly unknown[],
  { timeOf, file = "recording.ndjson", index = 0 }: {
    readonly timeOf?: (place: number) => number;
    readonly file?: string;
    readonly index?: number;
  } = {},
): RecordedStream {
  const validator = createStreamEventValidator();
  let violation: RecordedStream["violation"];
  try {
    for (const event of events) validator.accept(event as StreamEvent);
    validator.end();
  } catch (error) {
    if (!(error instanceof StreamSequenceError)) throw error;
    violation = { error, at: error.eventIndex };
  }
  return {
    file,
    index,
    events: events.map((event, place) => ({
      event,
      offset: place * 80,
      line: place + 1,
      ...(timeOf && { time: timeOf(place) }),
    })),
    ...(violation && { violation }),
  };
}
