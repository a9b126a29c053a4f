/**
 * Validates the event stream of a language model's response: every event is checked against all the
 * events before it, and the first one that cannot follow is rejected.
 *
 * @module
 */

export * from "./src/types.ts";
export {
  StreamSequenceError,
  type StreamSequenceErrorCode,
  type StreamSequenceErrorJson,
  type StreamSequenceErrorOptions,
} from "./src/stream_sequence_error.ts";
export {
  createStreamEventValidator,
  type StreamEventLimits,
  type StreamEventValidator,
  type StreamEventValidatorOptions,
} from "./src/stream_event_validator.ts";
export {
  StreamEventValidatorStream,
  type StreamEventValidatorStreamOptions,
} from "./src/stream_event_validator_stream.ts";
export { toStreamEvents, type ToStreamEventsOptions } from "./src/to_stream_events.ts";
export { EventStream, type EventStreamOptions } from "./src/event_stream.ts";
export {
  type AssistantMessageEventStream,
  createAssistantMessageEventStream,
} from "./src/assistant_message_event_stream.ts";
