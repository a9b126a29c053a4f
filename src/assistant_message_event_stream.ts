import { EventStream } from "./event_stream.ts";
import {
  createStreamEventValidator,
  type StreamEventValidatorOptions,
} from "./stream_event_validator.ts";
import type { AssistantMessage, DoneEvent, ErrorEvent, StreamEvent } from "./types.ts";

/** The push side of one response. */
export type AssistantMessageEventStream = EventStream<StreamEvent, AssistantMessage>;

/**
 * Creates the push side of one response, with a validator of its own: an event that cannot be throws
 * at the producer, and ends the stream for the consumer.
 *
 * @param options How much the response may hold.
 * @returns A stream to push events into.
 * @throws {TypeError} A limit is not a number.
 * @throws {RangeError} A limit is neither a whole number from 0 on nor `Infinity`.
 *
 * @example A producer's mistake
 * ```ts
 * import { createAssistantMessageEventStream, StreamSequenceError } from "@agent-stream/validator";
 * import { assertRejects, assertThrows } from "@std/assert";
 *
 * const stream = createAssistantMessageEventStream();
 * stream.push({ type: "start" });
 * assertThrows(() => stream.push({ type: "start" }), StreamSequenceError);
 * await assertRejects(() => stream.result(), StreamSequenceError);
 * ```
 */
export function createAssistantMessageEventStream(
  options: StreamEventValidatorOptions = {},
): AssistantMessageEventStream {
  const validator = createStreamEventValidator(options);
  return new EventStream({
    validate: (event) => validator.accept(event),
    isTerminal: () => validator.phase === "terminal",
    getResult: (event) => (event as DoneEvent | ErrorEvent).message,
    end: () => validator.end(),
  });
}
