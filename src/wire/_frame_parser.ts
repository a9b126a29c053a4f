import { createParser } from "eventsource-parser";
import { StreamDecodeError, type StreamDecodeErrorCode } from "./stream_decode_error.ts";

/** How events are written to bytes: a JSON text a line, or server-sent events. */
export type StreamEventFormat = "ndjson" | "sse";

/** Takes one frame: a JSON text, and where it is. */
export type FrameSink = (data: string, frame: FramePosition) => void;

/** Where the frame at hand is, and whether the body ended before the frame did. */
export interface FramePosition {
  readonly isCut: boolean;
  /** Makes the error for this frame. */
  error(code: StreamDecodeErrorCode, detail: string): StreamDecodeError;
}

/** Bytes in, frames out. */
export interface FrameParser {
  /** Takes the next bytes. Throws a `StreamDecodeError` after every frame before it was given. */
  push(bytes: Uint8Array, sink: FrameSink): void;
  /** Takes what is left when the body has ended. */
  end(sink: FrameSink): void;
}

const encoder = new TextEncoder();

const CARRIAGE_RETURN = 0x0d;
const OPENING_BRACE = 0x7b;

/** Looks for either end at once: two searches would each run to the end of the text for every line. */
const LINE_END = /[\r\n]/g;

/**
 * Creates a parser that splits a body into frames. However the body is cut into chunks, frames and
 * errors are the same, and the work is linear in its length.
 */
export function createFrameParser(format: StreamEventFormat, maxLength: number): FrameParser {
  return format === "sse" ? new SseParser(maxLength) : new NdjsonParser(maxLength);
}

/** A place in the body: `start` in a text that ends where `decoded` bytes do, after so many lines. */
interface Mark {
  readonly text: string;
  readonly start: number;
  readonly decoded: number;
  readonly lines: number;
}

/** Decodes the bytes once a chunk, splits them into lines, and knows where each line begins. */
abstract class LineParser implements FrameParser, FramePosition {
  isCut = false;
  protected readonly maxLength: number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  /** The bytes of a character that the last chunk cut. */
  #held: Uint8Array = new Uint8Array(0);
  /** How many bytes were decoded: all but those held. */
  #decoded = 0;
  /** The pieces of a line that has not ended. */
  #pending: string[] = [];
  #pendingLength = 0;
  /** The text at hand, and where in it the line at hand begins. */
  #text = "";
  #start = 0;
  /** How many lines came before the line at hand. */
  #lines = 0;

  constructor(maxLength: number) {
    this.maxLength = maxLength;
  }

  push(bytes: Uint8Array, sink: FrameSink): void {
    let text: string;
    try {
      text = this.#decoder.decode(bytes, { stream: true });
    } catch {
      this.#rejectBytes(bytes, sink);
      return;
    }
    const held = cutCharacter(this.#held, bytes);
    this.#decoded += this.#held.length + bytes.length - held.length;
    this.#held = held;
    this.#split(text, sink);
  }

  end(sink: FrameSink): void {
    if (this.#held.length > 0) this.#failAt(this.#decoded);
    this.#text = this.#pending.join("");
    this.#start = 0;
    this.isCut = true;
    if (this.#text !== "") this.line(this.#text, sink);
    this.finish(sink);
  }

  error(code: StreamDecodeErrorCode, detail: string): StreamDecodeError {
    const { text, start, decoded, lines } = this.place();
    // Counted only now: counting for every line would take longer than to read it.
    const byteOffset = decoded - encoder.encode(text.slice(start)).length;
    return new StreamDecodeError(detail, { code, line: lines + 1, byteOffset });
  }

  /** Marks the beginning of the line at hand. */
  protected mark(): Mark {
    return {
      text: this.#text,
      start: this.#start,
      decoded: this.#decoded,
      lines: this.#lines,
    };
  }

  /** Where an error is: at the line at hand, if the format does not know better. */
  protected place(): Mark {
    return this.mark();
  }

  /** Takes a whole line, without its end. */
  protected abstract line(line: string, sink: FrameSink): void;
  /** Takes the end of the body. */
  protected abstract finish(sink: FrameSink): void;
  /** Finds the first end of a line from `start` on, or -1. */
  protected abstract findEnd(text: string, start: number): number;
  /** How long the end of a line is that begins at `end`. */
  protected abstract endLength(text: string, end: number): number;
  /** Drops what belongs to the end of the line before the text. */
  protected abstract trimStart(text: string): string;

  #split(decoded: string, sink: FrameSink): void {
    let text = this.#pendingLength === 0 ? this.trimStart(decoded) : decoded;
    if (text === "") return;
    let end = this.findEnd(text, 0);
    if (this.#pendingLength > 0 && end !== -1) {
      end += this.#pendingLength;
      this.#pending.push(text);
      text = this.#pending.join("");
      this.#pending = [];
      this.#pendingLength = 0;
    }
    this.#text = text;
    this.#start = 0;
    while (end !== -1) {
      if (end - this.#start > this.maxLength + 1) this.#failLength();
      this.line(text.slice(this.#start, end), sink);
      this.#lines++;
      this.#start = end + this.endLength(text, end);
      end = this.findEnd(text, this.#start);
    }
    if (this.#start < text.length) {
      const rest = text.slice(this.#start);
      this.#pending.push(rest);
      this.#pendingLength += rest.length;
      // One more than the limit, since the last may be half of a line's end.
      if (this.#pendingLength > this.maxLength + 1) {
        this.#text = this.#pending.join("");
        this.#start = 0;
        this.#failLength();
      }
    }
  }

  #failLength(): never {
    throw this.error(
      "line_too_long",
      `expected at most ${this.maxLength} UTF-16 code units in a line`,
    );
  }

  /** Gives every frame before the first bytes that are not UTF-8, then the error. */
  #rejectBytes(bytes: Uint8Array, sink: FrameSink): void {
    const all = new Uint8Array(this.#held.length + bytes.length);
    all.set(this.#held);
    all.set(bytes, this.#held.length);
    const valid = validLength(all);
    const ignoreBOM = this.#decoded > 0;
    const text = new TextDecoder("utf-8", { ignoreBOM }).decode(all.subarray(0, valid));
    this.#decoded += valid;
    this.#split(text, sink);
    this.#failAt(this.#decoded);
  }

  #failAt(byteOffset: number): never {
    throw new StreamDecodeError("expected UTF-8", {
      code: "invalid_utf8",
      line: this.#lines + 1,
      byteOffset,
    });
  }
}

class NdjsonParser extends LineParser {
  protected line(line: string, sink: FrameSink): void {
    const text = line.charCodeAt(line.length - 1) === CARRIAGE_RETURN ? line.slice(0, -1) : line;
    if (text.length > this.maxLength) {
      throw this.error(
        "line_too_long",
        `expected at most ${this.maxLength} UTF-16 code units in a line`,
      );
    }
    // Nearly every line is an object, which is not blank.
    if (text.charCodeAt(0) === OPENING_BRACE || /\S/.test(text)) sink(text, this);
  }

  protected finish(): void {}

  protected findEnd(text: string, start: number): number {
    return text.indexOf("\n", start);
  }

  protected endLength(): number {
    return 1;
  }

  protected trimStart(text: string): string {
    return text;
  }
}

class SseParser extends LineParser {
  #sink: FrameSink | undefined;
  #dataLength = 0;
  /** Where the data of the event at hand begins. */
  #dataMark: Mark | undefined;
  /** Whether the last line ended with a carriage return that ended the text. */
  #skipLineFeed = false;
  readonly #parser = createParser({
    onEvent: ({ data }) => this.#sink?.(data, this),
  });

  protected line(line: string, sink: FrameSink): void {
    if (line.length > this.maxLength) {
      throw this.error(
        "line_too_long",
        `expected at most ${this.maxLength} UTF-16 code units in a line`,
      );
    }
    if (line.startsWith("data")) {
      this.#dataMark ??= this.mark();
      this.#dataLength += line.length;
      if (this.#dataLength > this.maxLength) {
        throw this.error(
          "line_too_long",
          `expected at most ${this.maxLength} UTF-16 code units in the data of an event`,
        );
      }
    }
    this.#sink = sink;
    this.#parser.feed(`${line}\n`);
    if (line === "") {
      this.#dataMark = undefined;
      this.#dataLength = 0;
    }
  }

  protected override place(): Mark {
    return this.#dataMark ?? this.mark();
  }

  protected finish(sink: FrameSink): void {
    // An event that the body ended before its blank line.
    this.line("", sink);
  }

  protected findEnd(text: string, start: number): number {
    LINE_END.lastIndex = start;
    return LINE_END.test(text) ? LINE_END.lastIndex - 1 : -1;
  }

  protected endLength(text: string, end: number): number {
    if (text[end] === "\n") return 1;
    if (end + 1 < text.length) return text[end + 1] === "\n" ? 2 : 1;
    this.#skipLineFeed = true;
    return 1;
  }

  protected trimStart(text: string): string {
    if (!this.#skipLineFeed || text === "") return text;
    this.#skipLineFeed = false;
    return text[0] === "\n" ? text.slice(1) : text;
  }
}

/** The bytes of a character that the end of the bytes cuts; they are known to be UTF-8 so far. */
function cutCharacter(held: Uint8Array, bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return held;
  const last = bytes[bytes.length - 1] as number;
  if (last < 0x80) return bytes.subarray(0, 0);
  const tail = new Uint8Array([...held, ...bytes.subarray(-3)]).slice(-3);
  for (let i = tail.length - 1; i >= 0; i--) {
    const byte = tail[i] as number;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return tail.length - i < length ? tail.slice(i) : bytes.subarray(0, 0);
    }
  }
  return bytes.subarray(0, 0);
}

/**
 * How many bytes from the beginning are UTF-8.
 *
 * @see {@link https://www.unicode.org/versions/Unicode16.0.0/core-spec/chapter-3/#G27506} Table 3-7
 */
function validLength(bytes: Uint8Array): number {
  let i = 0;
  while (i < bytes.length) {
    const lead = bytes[i] as number;
    const length = lead < 0x80
      ? 1
      : lead >= 0xc2 && lead < 0xe0
      ? 2
      : lead >= 0xe0 && lead < 0xf0
      ? 3
      : lead >= 0xf0 && lead < 0xf5
      ? 4
      : 0;
    if (length === 0 || i + length > bytes.length) return i;
    const second = bytes[i + 1] ?? 0;
    const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    if (length > 1 && (second < low || second > high)) return i;
    for (let k = 2; k < length; k++) {
      if (((bytes[i + k] as number) & 0xc0) !== 0x80) return i;
    }
    i += length;
  }
  return i;
}
