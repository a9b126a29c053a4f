/** Colours and marks of a terminal, or nothing of them. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
}

/** Creates the marks for an output. */
export function createStyle(hasColor: boolean): Style {
  const mark = (open: number, close: number) => (text: string) =>
    hasColor ? `\x1b[${open}m${text}\x1b[${close}m` : text;
  return {
    bold: mark(1, 22),
    dim: mark(2, 22),
    red: mark(31, 39),
    green: mark(32, 39),
    yellow: mark(33, 39),
  };
}

/**
 * Characters that a terminal acts on, that change the order of what is around them, or that nobody
 * sees: controls, formats, separators of lines, and the letters that are blank.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** Makes a text from a file safe to print: no terminal acts on it. */
export function printable(text: string): string {
  return text.toWellFormed().replace(UNPRINTABLE, escape);
}

/** Makes lines of JSON safe to print where they go to a terminal; they say the same. */
export function jsonFor({ isTerminal }: { readonly isTerminal: boolean }, lines: string): string {
  if (!isTerminal) return lines;
  return lines.replace(UNPRINTABLE, (character) => character === "\n" ? "\n" : escape(character));
}

function escape(character: string): string {
  return character.split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}

/** Quotes a text from a file, cut to at most `length` UTF-16 code units. */
export function quoteText(text: string, length: number): string {
  const cut = text.length > length ? `${text.slice(0, length - 1)}…` : text;
  return printable(JSON.stringify(cut));
}

/** Writes a number for people: `1,234`. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Writes a number of things: `1 event`, `2 events`. */
export function countOf(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}
