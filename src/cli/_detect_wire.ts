import { isPlainObject } from "../_json.ts";
import { createFrameParser, type StreamEventFormat } from "../wire/_frame_parser.ts";
import { SSE_FIELDS } from "../wire/_sse_fields.ts";
import { describeUnknown } from "./_describe_unknown.ts";
import { EVENT_TYPES } from "./_event_types.ts";
import { UnreadableError } from "./_errors.ts";
import { PROVIDER_WIRES } from "./_wires.ts";

/** What a recording is: `"events"` or the name of a provider's wire, and how it is written. */
export interface DetectedWire {
  readonly wire: string;
  readonly format: StreamEventFormat;
  /** Whether there is nothing in it: then the rest is a guess. */
  readonly isBlank?: boolean;
}

/** How many bytes are looked at for something known. */
export const HEAD_LENGTH = 1_048_576;

/**
 * Says what a recording is, by its beginning.
 *
 * @param head Its first bytes.
 * @param isWhole Whether nothing follows them.
 * @param wire What it is, where that is known.
 * @returns `undefined` where it takes more bytes to say.
 * @throws {UnreadableError} It is nothing known.
 */
export function detectWire(
  head: Uint8Array,
  isWhole: boolean,
  wire?: string,
): DetectedWire | undefined {
  const isEnough = isWhole || head.length >= HEAD_LENGTH;
  refuseOther(head);
  const decoded = new TextDecoder().decode(head, { stream: true });
  const text = decoded.trimStart();
  if (text === "") {
    return isEnough ? { wire: wire ?? "events", format: "ndjson", isBlank: isWhole } : undefined;
  }
  if (/^HTTP\/\d/.test(text)) {
    throw new UnreadableError("it begins with the headers of a response; record its body alone");
  }
  const isSse = isSseText(text);
  if (!isSse && !isEnough && SSE_FIELDS.some((field) => field.startsWith(text))) return undefined;
  const format = isSse ? "sse" : "ndjson";
  // What is no text may be a damaged character: it is told with its place where there is more.
  const isText = !text.includes("\ufffd") || isUtf8(head);
  if (wire !== undefined) {
    // However it is cut: before the end of a line, or of a value, damage may still come.
    const sound = isText ? text : text.slice(0, text.indexOf("\ufffd"));
    if (/[\n}]/.test(sound) || (isText && isEnough)) return { wire, format };
  } else {
    const found = recognise(decoded, format, isWhole);
    if (found !== undefined) return { wire: found, format };
  }
  if (!isEnough) return undefined;
  const isKnown = (value: string | Readonly<Record<string, unknown>>) =>
    (typeof value === "string"
      ? recognise(value, isSseText(value) ? "sse" : "ndjson", true)
      : wireOfPayload(value)) !== undefined;
  throw new UnreadableError(
    isText ? describeUnknown(text, isWhole, isKnown) : "it is not UTF-8 text",
  );
}

function isSseText(text: string): boolean {
  return SSE_FIELDS.some((field) => text.startsWith(field));
}

/** Refuses what a recording is often kept in. */
function refuseOther(head: Uint8Array): void {
  if (head[0] === 0x1f && head[1] === 0x8b) {
    throw new UnreadableError("it is compressed; decompress it first, as by gunzip -c");
  }
  if (head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f && head[3] === 0xfd) {
    throw new UnreadableError("it is compressed; decompress it first, as by zstd -dc");
  }
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) {
    throw new UnreadableError("it is UTF-16; convert it to UTF-8 first");
  }
}

function isUtf8(head: Uint8Array): boolean {
  try {
    // A character that the end cuts may go on.
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Looks for the first payload that only one wire can have. */
function recognise(
  text: string,
  format: StreamEventFormat,
  isWhole: boolean,
): string | undefined {
  let found: string | undefined;
  const parser = createFrameParser(format, Infinity);
  const take = (data: string) => found ??= wireOf(data);
  try {
    parser.push(new TextEncoder().encode(text), take);
    if (isWhole && found === undefined) parser.end(take);
  } catch {
    // Whatever it is, it is told of when the recording is read.
  }
  return found;
}

function wireOf(data: string): string | undefined {
  return data.trim() === "[DONE]" ? "openai-chat" : wireOfText(data);
}

/** Says of which wire a payload is that is a text of JSON, where it can be of one only. */
export function wireOfText(data: string): string | undefined {
  let payload: unknown;
  try {
    payload = JSON.parse(data);
  } catch {
    return undefined;
  }
  return isPlainObject(payload) ? wireOfPayload(payload) : undefined;
}

/** Says of which wire a payload is, where it can be of one only. */
export function wireOfPayload(fields: Readonly<Record<string, unknown>>): string | undefined {
  if (isEvent(fields)) return "events";
  return Object.keys(PROVIDER_WIRES).find((name) => PROVIDER_WIRES[name]?.recognises(fields));
}

/** Providers have events of the type `error` too, but no message with content in them. */
function isEvent({ type, message }: Readonly<Record<string, unknown>>): boolean {
  return EVENT_TYPES.has(type) && (type !== "error" || isPlainObject(message));
}
