import { isPlainObject } from "../_json.ts";
import {
  createFrameParser,
  type FramePosition,
  type FrameSink,
  type StreamEventFormat,
} from "../wire/_frame_parser.ts";
import { SSE_FIELDS } from "../wire/_sse_fields.ts";
import { StreamDecodeError } from "../wire/stream_decode_error.ts";
import { type Adapter, AdapterError, type AssistantErrorCode, type Emit } from "./_adapter.ts";
import { excerptOf } from "./_excerpt.ts";
import { isRefusedBase, readProviderError } from "./_provider_error.ts";
import { RepeatedFrame } from "./_repeated_frame.ts";
import { StrayError } from "./_stray_error.ts";

/** The longest line, and the longest data of a server-sent event, in UTF-16 code units. */
const MAX_LINE_LENGTH = 67_108_864;

/** How some servers say that nothing follows. It is not JSON. */
const DONE = "[DONE]";

/** Up to where a body without frames may be an error, in UTF-16 code units. */
const UNFRAMED_LENGTH = 65_536;

/** Bytes of a provider's body in, events out. Nothing is thrown but what `emit` throws. */
export class BodyDecoder {
  readonly #adapter: Adapter;
  readonly #parser;
  readonly #repeated: RepeatedFrame;
  #emit!: Emit;
  /** The beginning of a body that has had no frame; some servers put an error there as it is. */
  #unframed: string | undefined = "";
  #decoder: TextDecoder | undefined;
  readonly #stray = new StrayError();
  /** An error between the lines of a frame, which comes first. */
  #strayError: AdapterError | undefined;
  readonly #sink: FrameSink = (data, frame) => {
    if (this.isFinished) return;
    this.#unframed = undefined;
    let payload: unknown;
    try {
      payload = readPayload(data, frame);
    } catch (error) {
      this.fail(error, this.#emit);
      return;
    }
    if (payload !== undefined) {
      this.#adapter.push(payload, this.#emit);
      this.#repeated.expect(frame.raw, payload);
    }
    if (this.#strayError) this.fail(this.#strayError, this.#emit);
  };

  /**
   * Creates the decoder of one body.
   *
   * @param adapter What takes its payloads.
   * @param format How they are written.
   * @throws {TypeError} The adapter was another body's.
   */
  constructor(adapter: Adapter, format: StreamEventFormat) {
    if (adapter.isFinished) {
      throw new TypeError("Expected an adapter for each response, received one that has finished");
    }
    this.#adapter = adapter;
    this.#repeated = new RepeatedFrame(adapter, (payload) => adapter.push(payload, this.#emit));
    this.#parser = createFrameParser(format, MAX_LINE_LENGTH, undefined, this.#repeated);
    this.#parser.onStray = (line, _, isMore) => {
      const error = this.#stray.take(line, isMore);
      if (error && this.#parser.isWithin) this.#strayError ??= error;
      else if (error) this.fail(error, this.#emit);
    };
  }

  /** Whether the terminal event was emitted; nothing follows it. */
  get isFinished(): boolean {
    return this.#adapter.isFinished;
  }

  /** Takes the next bytes. */
  push(bytes: Uint8Array, emit: Emit): void {
    this.#parse(emit, () => this.#parser.push(bytes, this.#sink));
    if (this.#unframed === undefined) return;
    this.#decoder ??= new TextDecoder();
    this.#unframed += this.#decoder.decode(bytes, { stream: true });
    // An error is shorter than that.
    if (this.#unframed.length > UNFRAMED_LENGTH) this.#unframed = undefined;
  }

  /** Takes the end of the body. */
  end(emit: Emit): void {
    // Whatever is wrong with the last frame, it is that something is missing.
    this.#parse(emit, () => this.#parser.end(this.#sink), "truncated");
    const error = this.#strayError ?? readUnframed(this.#unframed);
    if (error) this.fail(error, emit);
    else this.#adapter.end(emit);
    if (!this.isFinished) {
      throw new TypeError("Expected the adapter to end the response where its body ends");
    }
  }

  /** Takes the failure of the body. */
  fail(cause: unknown, emit: Emit): void {
    this.#adapter.fail(cause, emit);
  }

  #parse(emit: Emit, step: () => void, code?: AssistantErrorCode): void {
    if (this.isFinished) return;
    this.#emit = emit;
    try {
      step();
    } catch (error) {
      if (!StreamDecodeError.is(error)) throw error;
      this.fail(code ? new AdapterError(code, error.message) : error, emit);
    }
  }
}

/**
 * Reads the payload of one frame: `undefined` for one that says nothing, `"[DONE]"` as it is. Throws a
 * `StreamDecodeError` where there is none, and an `AdapterError` for an event that is named an error and
 * does not say so itself.
 */
export function readPayload(data: string, frame: FramePosition): unknown {
  // Nearly every frame is an object.
  const text = data.startsWith("{") ? data : data.trim();
  // A heartbeat, or what is left of a frame that says nothing more.
  if (text === "" || (frame.isCut && DONE.startsWith(text) && text !== DONE)) return undefined;
  if (text === DONE) return DONE;
  let payload: unknown;
  try {
    payload = JSON.parse(data);
  } catch {
    // The engine's message quotes the text, so it goes no further.
    if (frame.isCut) {
      throw frame.error("incomplete_frame", "expected JSON, the body ended within it");
    }
    throw frame.event === "error"
      ? new AdapterError("provider_error", excerptOf(text))
      : frame.error("invalid_json", "expected JSON");
  }
  if (frame.event === "error" && !isTold(payload)) throw readProviderError(payload);
  return payload;
}

/** Whether a payload says what it is, which its adapter knows best. */
function isTold(payload: unknown): boolean {
  return isPlainObject(payload) && (typeof payload.type === "string" || "error" in payload);
}

/** Reads what is wrong with a body of server-sent events that has none: the error that it is, or that. */
export function readUnframed(body: string | undefined): AdapterError | undefined {
  if (!body) return undefined;
  if (!/^\s*[{[]/.test(body)) {
    return isOtherText(body)
      ? new AdapterError(
        "malformed_frame",
        `Expected server-sent events, received text: ${excerptOf(body)}`,
      )
      : undefined;
  }
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  const values = Array.isArray(value) ? value : [value];
  const failed = values.find((item) =>
    isPlainObject(item) && ("error" in item || isRefusedBase(item))
  );
  return failed === undefined
    ? new AdapterError("malformed_frame", "Expected server-sent events, received JSON")
    : readProviderError(failed);
}

/** Whether a text has lines, and none that server-sent events have or could go on to be. */
function isOtherText(text: string): boolean {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== "");
  return lines.length > 0 &&
    !lines.some((line) =>
      SSE_FIELDS.some((field) => line.startsWith(field) || field.startsWith(line))
    );
}
