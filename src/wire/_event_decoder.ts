import { checkBytes } from "../_check_bytes.ts";
import { kindOf } from "../_json.ts";
import { findMissing } from "../_find_missing.ts";
import type { StreamEvent } from "../types.ts";
import { DeltaLine } from "./_delta_line.ts";
import {
  createFrameParser,
  type FramePosition,
  type FrameSink,
  type StreamEventFormat,
} from "./_frame_parser.ts";

/** The longest line, in UTF-16 code units, unless said otherwise. */
export const DEFAULT_MAX_LINE_LENGTH = 67_108_864;

/** Bytes in, events out. Throws a `StreamDecodeError` after every event before it was given. */
export interface EventDecoder {
  push(bytes: Uint8Array, emit: (event: StreamEvent) => void): void;
  end(emit: (event: StreamEvent) => void): void;
}

/**
 * Creates a decoder of a body. The order of events, and all but what a terminal message must have,
 * is for the validator to check.
 */
export function createEventDecoder(
  format: StreamEventFormat,
  maxLineLength: number = DEFAULT_MAX_LINE_LENGTH,
): EventDecoder {
  if (typeof maxLineLength !== "number") {
    throw new TypeError(
      `Expected maxLineLength to be a number, received ${kindOf(maxLineLength)}`,
    );
  }
  if (Number.isNaN(maxLineLength) || maxLineLength < 1) {
    throw new RangeError(`Expected maxLineLength to be from 1 on, received ${maxLineLength}`);
  }
  const parser = createFrameParser(format, maxLineLength);
  const events = new EventParser();
  let emit: (event: StreamEvent) => void;
  const sink: FrameSink = (data, frame) => emit(events.parse(data, frame));
  return {
    push(bytes, newEmit) {
      checkBytes(bytes);
      emit = newEmit;
      parser.push(bytes, sink);
    },
    end(newEmit) {
      emit = newEmit;
      parser.end(sink);
    },
  };
}

/** Reads the events of one body, each from a frame of its own. */
export class EventParser {
  readonly #deltaLine = new DeltaLine();

  /** Reads the event of one frame, or throws a `StreamDecodeError`. */
  parse(data: string, frame: FramePosition): StreamEvent {
    const delta = this.#deltaLine.read(data);
    if (delta) return delta;
    let event;
    try {
      event = JSON.parse(data);
    } catch {
      // The engine's message quotes the text, so it goes no further.
      throw frame.isCut
        ? frame.error("incomplete_frame", "expected JSON, the body ended within it")
        : frame.error("invalid_json", "expected JSON");
    }
    // Read once: events have too many shapes for the engine to read a field of theirs quickly.
    const type = event?.type;
    if (type === "done" || type === "error") {
      const missing = findMissing(event.message, type === "error");
      if (missing) throw frame.error("invalid_message", `expected message with ${missing}`);
    }
    if (typeof type === "string") this.#deltaLine.expect(event);
    return event;
  }
}
