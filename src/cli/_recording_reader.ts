import { readPayload, readUnframed } from "../adapters/_body_decoder.ts";
import { type Adapter, AdapterError } from "../adapters/_adapter.ts";
import { StrayError } from "../adapters/_stray_error.ts";
import { isPlainObject } from "../_json.ts";
import type { StreamSequenceError } from "../stream_sequence_error.ts";
import type {
  AssistantContent,
  FailedAssistantMessage,
  StreamEvent,
  TextDeltaEvent,
  ToolCallDeltaEvent,
} from "../types.ts";
import { EventParser } from "../wire/_event_decoder.ts";
import {
  createFrameParser,
  type FrameParser,
  type FramePosition,
  type ParserStart,
  type Place,
} from "../wire/_frame_parser.ts";
import { StreamDecodeError } from "../wire/stream_decode_error.ts";
import { concat } from "./_concat.ts";
import { DeltaLog, type LoggedDelta } from "./_delta_log.ts";
import {
  type DetectedWire,
  detectWire,
  HEAD_LENGTH,
  wireOfPayload,
  wireOfText,
} from "./_detect_wire.ts";
import { EveryJudge, FirstJudge, type Judge } from "./_judge.ts";
import { WIRE_FAULTS } from "./_wire_faults.ts";
import { hasError, PROVIDER_WIRES, type ProviderWire } from "./_wires.ts";

/** Something that is wrong with a stream. */
export interface Fault extends Place {
  /** Place of the stream among those of its file, from 0. */
  readonly stream: number;
  /** The rule, or what is wrong with the bytes or the wire. */
  readonly code: string;
  /** What was expected, and what came. */
  readonly detail: string;
  /** How many events came before. */
  readonly eventIndex: number;
  /** Whether the last event, payload or broken frame is what is wrong: not so for what is missing. */
  readonly hasCulprit: boolean;
  /** The violation, where a rule is broken. */
  readonly error?: StreamSequenceError;
  /** The block that was open. */
  readonly open?: OpenBlock;
  /** The delta in which the text of the block goes wrong, or the last one where it ends too early. */
  readonly delta?: LoggedDelta;
}

/** A block that is open, and since when. */
export interface OpenBlock {
  readonly kind: AssistantContent["type"];
  readonly contentIndex: number;
  /** The tool's name. */
  readonly name?: string;
  /** The index of the event that opened it, and its line. */
  readonly eventIndex: number;
  readonly line: number;
}

/** What is known of a stream when it has ended. */
export interface StreamSummary {
  /** Place among the streams of its file, from 0. */
  readonly index: number;
  readonly place: Place;
  /** Whether the stream was taken for settled before, and turned out wrong. */
  readonly isCorrection: boolean;
  /** Whether it was told before that it is wrong. */
  readonly wasWrong: boolean;
  /**
   * Whether it is a legal stream of a finished response; a legal one of a response that failed; or
   * not a legal one.
   */
  readonly verdict: "ok" | "failed" | "wrong";
  /** How many events it has. */
  readonly events: number;
  /** How many blocks its message has, where it got one. */
  readonly blocks?: number;
  readonly stopReason?: string;
  readonly errorCode?: string;
  readonly errorMessage?: string;
}

/** Takes what a recording holds, in its order. A stream ends before the next one begins. */
export interface RecordingVisitor {
  /** Takes what the recording is. */
  wire?(found: DetectedWire): void;
  /** Takes the beginning of a stream. */
  streamStart?(index: number): void;
  /** Takes the payload of a provider's frame, before the events that it makes. */
  payload?(payload: unknown, frame: FramePosition): void;
  /** Takes the text of a frame that is no payload. */
  broken?(text: string, place: Place): void;
  /** Takes an event, right or wrong. */
  event?(event: unknown, frame: Place): void;
  /** Takes what is wrong with the event before, or with the stream's end. */
  fault?(fault: Fault): void;
  /**
   * Takes the end of a stream. Again for the same one where it turns out wrong after it was taken for
   * settled, and when it ends where more is wrong with it than was told.
   */
  streamEnd?(summary: StreamSummary): void;
}

/** Options of {@linkcode RecordingReader}. */
export interface RecordingReaderOptions {
  /** What it is: `"auto"`, `"events"` or the name of a provider's wire. */
  readonly from: string;
  /** Whether to go on after the first violation of a stream. */
  readonly isEvery?: boolean;
}

/** The longest line, and the longest data of a server-sent event, in UTF-16 code units. */
const MAX_LINE_LENGTH = 67_108_864;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** The stream at hand. */
class CurrentStream {
  readonly index: number;
  readonly place: Place;
  readonly judge: Judge;
  readonly adapter: Adapter | undefined;
  events = 0;
  open: OpenBlock | undefined;
  readonly deltas = new DeltaLog();
  /** The last event, if it is a terminal one. */
  terminal: StreamEvent | undefined;
  isWrong = false;
  isSettled = false;
  /** Whether it was told that it is wrong, and whether something was found since. */
  isToldWrong = false;
  hasMore = false;
  /** Whether the last payload of the response was seen. */
  isOver = false;
  /** Whether it may be over: its wire does not say that a response ends. */
  mayBeOver = false;
  /** The other wire, or format, that it is of, where that is not the recording's. */
  foreign: string | undefined;
  /** The response's id on the wire. */
  id = "";

  constructor(index: number, place: Place, judge: Judge, adapter: Adapter | undefined) {
    this.index = index;
    this.place = place;
    this.judge = judge;
    this.adapter = adapter;
  }
}

/**
 * Reads the streams of a recording, bytes in, and judges them. It holds no more than the stream at
 * hand.
 *
 * A stream of events ends with its terminal event, or where a `start` follows something wrong. A
 * stream of a wire ends where that wire says so.
 */
export class RecordingReader {
  readonly #visitor: RecordingVisitor;
  readonly #options: RecordingReaderOptions;
  /** The first bytes, as long as they do not say what it is. */
  #head: Uint8Array[] = [];
  #headLength = 0;
  #found: DetectedWire | undefined;
  #parser!: FrameParser;
  #wire: ProviderWire | undefined;
  #current: CurrentStream | undefined;
  #streams = 0;
  #bytes = 0;
  /** The line at hand, where it could not be read and has not ended. */
  #brokenLine: number | undefined;
  /** The beginning of a provider's body that has had no payload: it may be an error, on many lines. */
  #unframed: string | undefined = "";
  readonly #unframedDecoder = new TextDecoder();
  /** The first frame that could not be read, where that may be because the body is such an error. */
  #unframedError: unknown;
  readonly #stray = new StrayError();
  /** An error between the lines of a frame, which comes first. */
  #strayError: { readonly error: AdapterError; readonly place: Place } | undefined;
  readonly #events = new EventParser();
  readonly #takeEvent = (data: string, frame: FramePosition): void => {
    let event: unknown;
    try {
      event = this.#events.parse(data, frame);
    } catch (error) {
      return this.#takeBroken(data, error, frame.place);
    }
    const { type } = (event ?? {}) as { readonly type?: unknown };
    let current = this.#current;
    if (!current || (type === "start" && (current.terminal || current.isWrong))) {
      current = this.#begin(frame.place);
    }
    this.#judgeEvent(current, event, type, frame);
  };
  readonly #takePayload = (data: string, frame: FramePosition): void => {
    let payload: unknown;
    try {
      payload = readPayload(data, frame);
    } catch (error) {
      if (this.#takeStray(data, frame.place)) return;
      return this.#takeBroken(data, error, frame.place);
    }
    if (payload === undefined) return this.#flushStrayError();
    const current = this.#streamOf(payload, frame);
    const adapter = current.adapter as Adapter;
    if (adapter.isFinished) return;
    this.#visitor.payload?.(payload, frame);
    const take = (event: StreamEvent) => this.#takeAdapted(current, event, frame);
    this.#unframed = undefined;
    if (current.foreign !== undefined) {
      const { wire } = this.#found as DetectedWire;
      const detail = `Expected a payload of ${wire}, received one of ${current.foreign}`;
      adapter.fail(new AdapterError("malformed_frame", detail), take);
    } else if (this.#unframedError === undefined) {
      adapter.push(payload, take);
    } else {
      adapter.fail(this.#unframedError, take);
      this.#unframedError = undefined;
    }
    this.#flushStrayError();
  };

  /**
   * Creates the reader of one recording.
   *
   * @param visitor What takes what it holds.
   * @param options How to read it.
   */
  constructor(visitor: RecordingVisitor, options: RecordingReaderOptions) {
    this.#visitor = visitor;
    this.#options = options;
  }

  /**
   * Takes the next bytes, and makes no claim on them afterwards.
   *
   * @throws {UnreadableError} They are no recording.
   */
  push(bytes: Uint8Array): void {
    if (this.#found) {
      this.#parse(bytes);
    } else {
      this.#head.push(bytes.slice());
      this.#headLength += bytes.length;
      // Only a whole line says something new.
      const hasLine = bytes.includes(LINE_FEED) || bytes.includes(CARRIAGE_RETURN);
      if (hasLine || this.#headLength >= HEAD_LENGTH) this.#detect(false);
    }
  }

  /**
   * Takes the end of the recording.
   *
   * @throws {UnreadableError} It is none.
   */
  end(): void {
    if (!this.#found) this.#detect(true);
    const line = this.#brokenLine ?? this.#parser.line;
    try {
      if (this.#brokenLine === undefined) this.#parser.end(this.#sink);
    } catch (error) {
      if (!StreamDecodeError.is(error)) throw error;
      // Whatever is wrong with the last frame, it is that something is missing.
      const cause = this.#wire ? new AdapterError("truncated", error.message) : error;
      this.#takeBroken(undefined, cause, error);
    }
    this.#flushStrayError();
    if (!this.#current) this.#begin({ line: 1, byteOffset: 0 });
    this.#endCurrent({ line, byteOffset: this.#bytes });
  }

  /** Tells the verdict that is known so far: nobody may wait for bytes that do not come. */
  settle(): void {
    const current = this.#current;
    if (!current || current.isSettled) return;
    const isKnown = current.terminal || (current.isWrong && !this.#options.isEvery);
    if (isKnown) this.#summarise(current);
  }

  get #sink(): (data: string, frame: FramePosition) => void {
    return this.#wire ? this.#takePayload : this.#takeEvent;
  }

  #detect(isWhole: boolean): void {
    const { from } = this.#options;
    const head = concat(this.#head);
    const found = detectWire(head, isWhole, from === "auto" ? undefined : from);
    if (!found) {
      this.#head = [head];
      return;
    }
    this.#head = [];
    this.#found = found;
    this.#wire = PROVIDER_WIRES[found.wire];
    this.#parser = this.#createParser();
    this.#visitor.wire?.(found);
    this.#parse(head);
  }

  #parse(bytes: Uint8Array): void {
    if (this.#wire) this.#keepUnframed(bytes);
    const begin = this.#bytes;
    this.#bytes += bytes.length;
    let start = 0;
    if (this.#brokenLine !== undefined) {
      start = bytes.indexOf(LINE_FEED) + 1;
      if (start === 0) return;
      this.#goOn(this.#brokenLine, begin + start);
    }
    // After something that no parser can go on from, a line at a time: to give each the whole rest
    // would be quadratic.
    for (let end = bytes.length, isHurt = false; start < bytes.length; start = end) {
      if (isHurt) end = bytes.indexOf(LINE_FEED, start) + 1 || bytes.length;
      try {
        this.#parser.push(bytes.subarray(start, end), this.#sink);
      } catch (error) {
        if (!StreamDecodeError.is(error)) throw error;
        this.#takeBroken(undefined, error, error);
        end = bytes.indexOf(LINE_FEED, Math.max(start, error.byteOffset - begin)) + 1;
        if (end === 0) {
          this.#brokenLine = error.line;
          return;
        }
        this.#goOn(error.line, begin + end);
        isHurt = true;
      }
    }
  }

  /** Goes on behind a line that could not be read. */
  #goOn(lines: number, bytes: number): void {
    this.#brokenLine = undefined;
    this.#parser = this.#createParser({ lines, bytes });
  }

  #createParser(start?: ParserStart): FrameParser {
    const { format } = this.#found as DetectedWire;
    const parser = createFrameParser(format, MAX_LINE_LENGTH, start);
    parser.onStray = (line, place, isMore) => {
      const error = this.#wire && this.#stray.take(line, isMore);
      if (error && parser.isWithin) this.#strayError ??= { error, place };
      else if (error && this.#takeStrayError(error, place)) return;
      else if (line.startsWith("{")) this.#takeStray(line, place);
    };
    return parser;
  }

  #flushStrayError(): void {
    if (this.#strayError) this.#takeStrayError(this.#strayError.error, this.#strayError.place);
    this.#strayError = undefined;
  }

  /** Takes an error that is in no frame, if there is a response that it breaks off. */
  #takeStrayError(error: AdapterError, place: Place): boolean {
    const current = this.#current;
    const adapter = current?.adapter;
    if (!current || !adapter || adapter.isFinished) return false;
    adapter.fail(error, (event) => this.#takeAdapted(current, event, place));
    return true;
  }

  /**
   * Takes what is behind a stream and written as the other format, where somebody joined recordings of
   * both: it is one wrong stream. Elsewhere such a line is what it is to every reader.
   */
  #takeStray(line: string, place: Place): boolean {
    const { format } = this.#found as DetectedWire;
    const last = this.#current;
    if (last && !isOver(last)) return false;
    if (last?.foreign !== undefined) return true;
    const text = format === "sse" ? line : line.replace(/^data:/, "");
    if (wireOfText(text) === undefined) return false;
    const [expected, received] = format === "sse"
      ? ["server-sent events", "a line of JSON"]
      : ["a line of JSON", "a server-sent event"];
    const code = "malformed_frame";
    const detail = `Expected ${expected}, received ${received}`;
    const current = this.#begin(place);
    current.foreign = received;
    const { adapter } = current;
    this.#visitor.broken?.(line, place);
    if (adapter) {
      const take = (event: StreamEvent) => this.#takeAdapted(current, event, place);
      adapter.fail(new AdapterError(code, detail), take);
    } else {
      current.judge.lose();
      this.#fault(current, place, { code, detail }, current.events, true);
    }
    return true;
  }

  /** Takes a frame, or bytes, that cannot be read. */
  #takeBroken(data: string | undefined, error: unknown, place: Place): void {
    if (!(error instanceof Error)) throw error;
    if (this.#wire && /^\s*[{[]/.test(this.#unframed ?? "")) {
      this.#unframedError ??= error;
      return;
    }
    let current = this.#current;
    if (!current || (current.terminal && !current.adapter)) current = this.#begin(place);
    const { adapter } = current;
    if (adapter) {
      if (adapter.isFinished) return;
      if (data !== undefined) this.#visitor.broken?.(data, place);
      const hasCulprit = data !== undefined;
      adapter.fail(error, (event) => this.#takeAdapted(current, event, place, hasCulprit));
      return;
    }
    if (!current.judge.lose()) return;
    if (data !== undefined) this.#visitor.broken?.(data, place);
    const code = StreamDecodeError.is(error) ? error.code : "invalid_json";
    const cause = { code, detail: withoutPlace(error.message) };
    this.#fault(current, place, cause, current.events, data !== undefined);
  }

  /** Finds the stream to which a payload belongs. */
  #streamOf(payload: unknown, frame: FramePosition): CurrentStream {
    const wire = this.#wire as ProviderWire;
    let current = this.#current;
    const fields = isPlainObject(payload) ? payload : {};
    const id = wire.idOf?.(fields) ?? "";
    const isOwn = wire.recognises(fields);
    // Somebody joined recordings of two wires: what is behind the first one is one wrong stream.
    const foreign = !isOwn && current && isOver(current) && current.foreign === undefined &&
        !hasError(fields)
      ? wireOfPayload(fields)
      : undefined;
    if (
      !current ||
      // Another response has begun, whether or not the one at hand ended.
      (id !== "" && current.id !== "" && id !== current.id) ||
      (current.adapter?.isFinished && wire.isFirst?.(fields)) ||
      foreign !== undefined ||
      (isOwn && current.foreign !== undefined) ||
      (current.isOver && payload !== "[DONE]")
    ) {
      current = this.#begin(frame.place);
      current.foreign = foreign;
    }
    if (id !== "") current.id = id;
    if (wire.isLast?.(payload)) current.isOver = true;
    if (wire.mayEndWith?.(fields)) current.mayBeOver = true;
    return current;
  }

  #begin(place: Place): CurrentStream {
    if (this.#current) this.#endCurrent(place);
    const judge = this.#options.isEvery ? new EveryJudge() : new FirstJudge();
    const current = new CurrentStream(this.#streams++, place, judge, this.#wire?.create());
    this.#current = current;
    this.#visitor.streamStart?.(current.index);
    return current;
  }

  /** Takes an event that an adapter made. */
  #takeAdapted(
    current: CurrentStream,
    event: StreamEvent,
    frame: Place,
    hasCulprit: boolean = true,
  ): void {
    this.#judgeEvent(current, event, event.type, frame);
    if (event.type !== "error") return;
    const { errorCode, errorMessage, errorDetails } = event.message;
    // Everything else says that the response failed, and it was the provider who said so.
    const isSaid = errorDetails?.providerErrorType !== undefined;
    if (errorCode !== undefined && Object.hasOwn(WIRE_FAULTS, errorCode) && !isSaid) {
      const cause = { code: errorCode, detail: withoutPlace(errorMessage) };
      this.#fault(current, frame, cause, current.events - 1, hasCulprit);
    }
  }

  #judgeEvent(current: CurrentStream, event: unknown, type: unknown, frame: Place): void {
    const eventIndex = current.events++;
    this.#visitor.event?.(event, frame);
    const error = current.judge.accept(event);
    if (error) {
      this.#fault(current, frame, error, eventIndex, true);
      if (!(type === "done" || type === "error")) return;
    }
    switch (type) {
      case "text_start":
      case "thinking_start":
      case "tool_call_start": {
        const { contentIndex, name } = event as {
          readonly contentIndex: number;
          readonly name?: string;
        };
        current.open = {
          kind: type.slice(0, -"_start".length) as OpenBlock["kind"],
          contentIndex,
          ...(type === "tool_call_start" && { name: name as string }),
          eventIndex,
          line: frame.line,
        };
        current.deltas.begin(eventIndex + 1);
        return;
      }
      case "text_delta":
      case "thinking_delta":
        // A judge that has lost its way says nothing of what it is.
        if (typeof (event as TextDeltaEvent).delta !== "string") return;
        current.deltas.append((event as TextDeltaEvent).delta, frame.line);
        return;
      case "tool_call_delta":
        if (typeof (event as ToolCallDeltaEvent).argumentsDelta !== "string") return;
        current.deltas.append((event as ToolCallDeltaEvent).argumentsDelta, frame.line);
        return;
      case "text_end":
      case "thinking_end":
      case "tool_call_end":
        current.open = undefined;
        return;
      case "done":
      case "error":
        current.terminal ??= event as StreamEvent;
        return;
    }
  }

  #fault(
    current: CurrentStream,
    { line, byteOffset }: Place,
    cause: { readonly code: string; readonly detail: string } | StreamSequenceError,
    eventIndex: number,
    hasCulprit: boolean,
  ): void {
    const { code, detail } = cause;
    current.isWrong = true;
    const delta = deltaOf(current.deltas, cause);
    this.#visitor.fault?.({
      stream: current.index,
      code,
      detail,
      eventIndex,
      line,
      byteOffset,
      hasCulprit,
      ...(cause instanceof Error && { error: cause }),
      ...(current.open && { open: current.open }),
      ...(delta && { delta }),
    });
    // Of what comes after, nothing is known of what is open.
    current.open = undefined;
    if (!current.isSettled) return;
    if (current.isToldWrong) current.hasMore = true;
    else this.#summarise(current, true);
  }

  #endCurrent(place: Place): void {
    const current = this.#current as CurrentStream;
    this.#current = undefined;
    const { adapter } = current;
    if (adapter) {
      const error = readUnframed(this.#unframed) ?? this.#unframedError;
      const take = (event: StreamEvent) => this.#takeAdapted(current, event, place, false);
      if (error) adapter.fail(error, take);
      else adapter.end(take);
    } else if (!current.isWrong || this.#options.isEvery) {
      const error = current.judge.end();
      if (error) this.#fault(current, place, error, current.events, false);
    }
    if (!current.isSettled || current.hasMore) this.#summarise(current, current.isSettled);
  }

  #summarise(current: CurrentStream, isCorrection: boolean = false): void {
    current.isSettled = true;
    const { index, place, events, terminal, isWrong, isToldWrong: wasWrong } = current;
    current.isToldWrong = isWrong;
    const message = (terminal as { readonly message?: Partial<FailedAssistantMessage> } | undefined)
      ?.message;
    this.#visitor.streamEnd?.({
      index,
      place,
      isCorrection,
      wasWrong,
      verdict: isWrong ? "wrong" : terminal?.type === "error" ? "failed" : "ok",
      events,
      ...(Array.isArray(message?.content) && { blocks: message.content.length }),
      ...(typeof message?.stopReason === "string" && { stopReason: message.stopReason }),
      ...(typeof message?.errorCode === "string" && { errorCode: message.errorCode }),
      ...(typeof message?.errorMessage === "string" && { errorMessage: message.errorMessage }),
    });
  }

  #keepUnframed(bytes: Uint8Array): void {
    if (this.#unframed === undefined) return;
    this.#unframed += this.#unframedDecoder.decode(bytes, { stream: true });
    if (this.#unframed.length > 65_536) this.#unframed = undefined;
  }
}

/** Whether a stream has ended, or may have. */
function isOver({ adapter, terminal, mayBeOver, foreign }: CurrentStream): boolean {
  return (adapter ? adapter.isFinished : terminal !== undefined) || mayBeOver ||
    foreign !== undefined;
}

/** Finds the delta in which a block goes wrong, where the rule that is broken says where. */
function deltaOf(
  deltas: DeltaLog,
  { code, offset }: { readonly code: string; readonly offset?: number },
): LoggedDelta | undefined {
  if (code === "arguments_not_json") return deltas.atJsonError();
  return code === "content_mismatch" && offset !== undefined ? deltas.at(offset) : undefined;
}

/** What the message of a `StreamDecodeError` says without the beginning that says where. */
function withoutPlace(message: string): string {
  return message.replace(/^Invalid event stream(?: at line \d+, byte \d+)?: /, "");
}
