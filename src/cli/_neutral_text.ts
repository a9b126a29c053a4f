import { isPlainObject } from "../_json.ts";
import { setMember } from "../_set_member.ts";
import { isPlainArray } from "./_shrink.ts";

/** What one character may become, the usual one first. */
type Alphabet = readonly string[];

const LOWER = [..."xyzabcdefghijklmnopqrstuvw"];
const UPPER = [..."XYZABCDEFGHIJKLMNOPQRSTUVW"];
const DIGITS = [..."0123456789"];
const FIRST_DIGITS = [..."123456789"];
const NEXT_DIGITS = [..."1234567890"];
/** Letters by how many bytes they have in UTF-8, and what is written from right to left. */
const TWO_BYTES = [...range(0x00e0, 0x00f6), ...range(0x0430, 0x045f)];
const TWO_BYTES_UPPER = [...range(0x00c0, 0x00d6), ...range(0x0400, 0x042f)];
const RIGHT_TO_LEFT = range(0x05d0, 0x05ea);
const THREE_BYTES = range(0x4e00, 0x5dff);
const FOUR_BYTES = range(0x20000, 0x20fff);
const PICTURES = [...range(0x1f642, 0x1f64f), ...range(0x1f600, 0x1f641)];

/** In how much of the end of a text different ones are told apart, in UTF-16 code units. */
const VARIED_LENGTH = 4096;

/** How many digits of a number every engine gives back as they were. */
const SAFE_DIGITS = 15;

/**
 * Replaces texts by neutral ones of the same length and shape: letters by letters, digits by digits;
 * white space, punctuation and marks stay. Equal texts stay equal and different ones different, for
 * one instance; beyond that nothing is left of what they said: how often a letter stands where is
 * gone.
 */
export class NeutralTexts {
  /** For each shape, which text has become what. */
  readonly #texts = new Map<string, Map<string, string>>();
  readonly #numbers = new Map<string, Map<number, number>>();
  readonly #ids = new Map<string, string>();
  readonly #names = new Map<string, string>();

  /** The neutral text for a text. */
  text(text: string): string {
    const shape = shapeOf(text);
    const known = this.#texts.get(shape) ?? new Map<string, string>();
    this.#texts.set(shape, known);
    let neutral = known.get(text);
    if (neutral === undefined) {
      const end = [...shape.slice(-VARIED_LENGTH)];
      neutral = shape.slice(0, -VARIED_LENGTH) +
        vary(end.map((base) => [base, ALPHABETS.get(base)]), known.size);
      known.set(text, neutral);
    }
    return neutral;
  }

  /** The neutral number for a number, with as many digits as all engines write alike. */
  number(value: number): number {
    if (value === 0 || !Number.isFinite(value)) return value;
    const [, digits = "", exponent = ""] = /^(.*?)(e.*)?$/.exec(String(value)) ?? [];
    let seen = 0;
    const lastPlace = digits.length - 1;
    const places = [...digits].map((character, place): [string, Alphabet | undefined] => {
      if (!/\d/.test(character) || (seen === 0 && character === "0")) return [character, undefined];
      if (++seen > SAFE_DIGITS) return ["0", undefined];
      // A last digit of 0 would not be written behind a point.
      return seen === 1 || (place === lastPlace && digits.includes("."))
        ? ["1", FIRST_DIGITS]
        : ["1", NEXT_DIGITS];
    });
    const shape = places.map(([base]) => base).join("") + exponent;
    const known = this.#numbers.get(shape) ?? new Map<number, number>();
    this.#numbers.set(shape, known);
    let neutral = known.get(value);
    if (neutral === undefined) {
      neutral = Number(vary(places, known.size) + exponent);
      known.set(value, neutral);
    }
    return neutral;
  }

  /** The neutral id for an id of a tool call: `call_1`, `call_2` and so on. */
  id(id: string): string {
    return numbered(this.#ids, "call", id);
  }

  /** The neutral name for a name of a tool: `tool_1`, `tool_2` and so on. */
  name(name: string): string {
    return numbered(this.#names, "tool", name);
  }

  /** The same value with neutral texts, keys and numbers; what JSON cannot express stays. */
  value(value: unknown): unknown {
    const copies = new Map<object, object>();
    const open: Array<readonly [object, object]> = [];
    const convert = (value: unknown): unknown => {
      if (typeof value === "string") return this.text(value);
      if (typeof value === "number") return this.number(value);
      if (!isPlainObject(value) && !isPlainArray(value)) return value;
      let copy = copies.get(value);
      if (!copy) {
        // An array may have holes.
        copy = Array.isArray(value) ? new Array(value.length) : {};
        copies.set(value, copy);
        open.push([value, copy]);
      }
      return copy;
    };
    const copy = convert(value);
    for (let next = 0; next < open.length; next++) {
      const [source, target] = open[next] as readonly [object, object];
      for (const [key, member] of Object.entries(source)) {
        setMember(target, Array.isArray(source) ? key : this.text(key), convert(member));
      }
    }
    return copy;
  }

  /**
   * The neutral text for JSON, or for what was meant to be: it spells the neutral value of the value
   * that it spelled, or is wrong at the same place.
   */
  json(text: string): string {
    let neutral = "";
    for (let at = 0; at < text.length;) {
      const character = text[at] as string;
      let end = at + 1;
      if (character === '"') {
        while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
        end = Math.min(end, text.length);
        neutral += `"${this.#jsonString(text.slice(at + 1, end))}`;
      } else if (/[\d+.-]/.test(character)) {
        while (end < text.length && /[\d+.eE-]/.test(text[end] as string)) end++;
        neutral += this.#jsonNumber(text.slice(at, end));
      } else if (/[\s{}[\]:,]/.test(character)) {
        neutral += character;
      } else {
        while (end < text.length && !/[\s{}[\]:,"\d+.-]/.test(text[end] as string)) end++;
        const word = text.slice(at, end);
        neutral += /^(true|false|null)$/.test(word) ? word : this.text(word);
      }
      at = end;
      if (character === '"' && at < text.length) {
        neutral += '"';
        at++;
      }
    }
    return neutral;
  }

  /** Writes the inside of a string with the same escapes. */
  #jsonString(inside: string): string {
    let value: string;
    try {
      value = JSON.parse(`"${inside}"`);
    } catch {
      return this.text(inside);
    }
    const neutral = this.text(value);
    let written = "";
    for (let at = 0, place = 0; at < inside.length; place++) {
      const isEscape = inside[at] === "\\";
      const length = !isEscape ? 1 : inside[at + 1] === "u" ? 6 : 2;
      const hex = neutral.charCodeAt(place).toString(16).padStart(4, "0");
      written += !isEscape
        ? neutral[place]
        : neutral[place] === value[place]
        ? inside.slice(at, at + length)
        : `\\u${hex}`;
      at += length;
    }
    return written;
  }

  #jsonNumber(written: string): string {
    if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(written)) {
      return written.replace(/[1-9]/g, "1");
    }
    const value = Number(written);
    return Number.isFinite(value) && value !== 0 ? String(this.number(value)) : written;
  }
}

/** A text of the first letters of the alphabets that its characters are of. */
function shapeOf(text: string): string {
  return text
    .replace(/[a-z]+/g, ({ length }) => "x".repeat(length))
    .replace(/[A-Z]+/g, ({ length }) => "X".repeat(length))
    .replace(/[0-9]+/g, ({ length }) => "0".repeat(length))
    // deno-lint-ignore no-control-regex -- all that is not ASCII
    .replace(/[^\x00-\x7f]/gu, baseOf);
}

const ALPHABETS: ReadonlyMap<string, Alphabet> = new Map(
  [
    LOWER,
    UPPER,
    DIGITS,
    TWO_BYTES,
    TWO_BYTES_UPPER,
    RIGHT_TO_LEFT,
    THREE_BYTES,
    FOUR_BYTES,
    PICTURES,
  ].map(
    (alphabet) => [alphabet[0] as string, alphabet],
  ),
);

/** What stands for all characters like one that is not ASCII. */
function baseOf(character: string): string {
  const code = character.codePointAt(0) as number;
  if (code > 0xffff) {
    if (/\p{Extended_Pictographic}/u.test(character)) return PICTURES[0] as string;
    return /[\p{L}\p{N}]/u.test(character) ? FOUR_BYTES[0] as string : character;
  }
  if (!/[\p{L}\p{N}]/u.test(character)) return character;
  if (code >= 0x590 && code <= 0x7ff) return RIGHT_TO_LEFT[0] as string;
  if (code >= 0x800) return THREE_BYTES[0] as string;
  return (/\p{Lu}/u.test(character) ? TWO_BYTES_UPPER : TWO_BYTES)[0] as string;
}

/** Counts on in the last places of a text, each of which has its own alphabet. */
function vary(places: ReadonlyArray<readonly [string, Alphabet | undefined]>, nth: number): string {
  if (nth === 0) return places.map(([base]) => base).join("");
  const characters = places.map(([base]) => base);
  for (let place = places.length - 1, rest = nth; place >= 0 && rest > 0; place--) {
    const alphabet = places[place]?.[1];
    if (!alphabet) continue;
    characters[place] = alphabet[rest % alphabet.length] as string;
    rest = Math.floor(rest / alphabet.length);
  }
  return characters.join("");
}

function numbered(known: Map<string, string>, word: string, text: string): string {
  if (text === "") return text;
  const neutral = known.get(text) ?? `${word}_${known.size + 1}`;
  known.set(text, neutral);
  return neutral;
}

function range(first: number, last: number): string[] {
  return Array.from(
    { length: last - first + 1 },
    (_, index) => String.fromCodePoint(first + index),
  );
}
