/**
 * Converts the bytes of a response to events, and events to bytes: NDJSON and server-sent events.
 *
 * @module
 */

export type { StreamEventFormat } from "./_frame_parser.ts";
export {
  StreamDecodeError,
  type StreamDecodeErrorCode,
  type StreamDecodeErrorJson,
  type StreamDecodeErrorOptions,
} from "./stream_decode_error.ts";
export {
  StreamEventDecoderStream,
  type StreamEventDecoderStreamOptions,
} from "./stream_event_decoder_stream.ts";
export {
  StreamEventEncoderStream,
  type StreamEventEncoderStreamOptions,
} from "./stream_event_encoder_stream.ts";
export type { StreamEventReader } from "./_event_reader.ts";
export {
  readStreamEvents,
  type ReadStreamEventsOptions,
  type StreamEventSource,
} from "./read_stream_events.ts";
export { toResponse, type ToResponseOptions } from "./to_response.ts";
