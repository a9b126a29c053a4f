import { readString } from "../wire/_read_string.ts";
import type { Adapter, PayloadText } from "./_adapter.ts";

/** How many frames are remembered in vain before a body is taken for one that does not repeat itself. */
const ATTEMPTS = 4;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

/** What stands between the name of a text and the text. */
const BEFORE_TEXT = /\s*:\s*"/y;

/** What begins a text of any length that says nothing, by which providers hide how long the other is. */
const OBFUSCATION = '"obfuscation":"';

/**
 * Reads a frame that is one before but for its text, as `JSON.parse` would. Providers stream an answer
 * in such frames; to compare what stays takes a tenth of the time that it takes to parse it, which
 * makes an adapter from bytes to events 1.8 times as fast on Messages, 2.3 times on Chat Completions.
 * Any other frame is left to `JSON.parse`.
 */
export class RepeatedFrame {
  readonly #adapter: Adapter;
  /** The payload of the frame that is remembered, and where its text is. */
  #payload: unknown;
  #text: PayloadText | undefined;
  /** The frame: what is before the text, what is behind it up to the filler, what is behind that. */
  #prefix = "";
  #suffix = "";
  #ending = "";
  /** Whether the filler is text; else it is spaces, of which there may be none. */
  #isObfuscated = false;
  #attempts = ATTEMPTS;

  /** Creates a reader of the frames of one body. */
  constructor(adapter: Adapter) {
    this.#adapter = adapter;
    if (!adapter.textIn) this.#attempts = 0;
  }

  /** Reads a frame, or says `undefined` where it is not quite like the one that is remembered. */
  read(data: string): unknown {
    // Engines compare whole strings many times as fast as `startsWith` does.
    const text = this.#text;
    if (!text || data.slice(0, this.#prefix.length) !== this.#prefix) return undefined;
    const start = this.#prefix.length;
    const end = this.#endOf(data);
    const value = end < start ? undefined : readString(data, start, end);
    if (value === undefined) return undefined;
    this.#attempts = ATTEMPTS;
    text.holder[text.key] = value;
    return this.#payload;
  }

  /** Remembers a frame that was parsed. */
  expect(data: string, payload: unknown): void {
    if (this.#attempts === 0) return;
    if (--this.#attempts === 0) this.#text = undefined;
    // Without escapes, each name and each text stands there as it is.
    if (data.includes("\\")) return;
    const text = this.#adapter.textIn?.(payload);
    if (!text) return;
    const value = text.holder[text.key];
    if (typeof value !== "string") return;
    const name = `"${text.key}"`;
    const at = data.indexOf(name);
    if (at === -1 || data.includes(name, at + 1)) return;
    BEFORE_TEXT.lastIndex = at + name.length;
    if (!BEFORE_TEXT.test(data)) return;
    const start = BEFORE_TEXT.lastIndex;
    // A view of the data would keep the whole chunk that it is cut from.
    const copy: string = JSON.parse(JSON.stringify(data));
    const end = start + value.length;
    const filler = copy.indexOf(OBFUSCATION, end);
    this.#isObfuscated = filler !== -1;
    this.#prefix = copy.slice(0, start);
    if (this.#isObfuscated) {
      const fillerStart = filler + OBFUSCATION.length;
      this.#suffix = copy.slice(end, fillerStart);
      this.#ending = copy.slice(copy.indexOf('"', fillerStart));
    } else {
      this.#suffix = copy.slice(end, -1).trimEnd();
      this.#ending = copy.slice(-1);
    }
    this.#payload = payload;
    this.#text = text;
  }

  /** Finds the end of the text, or -1. */
  #endOf(data: string): number {
    if (!data.endsWith(this.#ending)) return -1;
    let end = data.length - this.#ending.length;
    if (this.#isObfuscated) {
      for (let code; (code = data.charCodeAt(end - 1)) !== QUOTE; end--) {
        if (code === BACKSLASH || !(code >= SPACE)) return -1;
      }
    } else {
      while (data.charCodeAt(end - 1) === SPACE) end--;
    }
    const start = end - this.#suffix.length;
    return start >= 0 && data.slice(start, end) === this.#suffix ? start : -1;
  }
}
