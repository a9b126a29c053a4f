/** V8 copies a slice that is shorter; a longer one would keep the whole text that it is cut from. */
const VIEW_LENGTH = 13;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

/** What JSON writes as a backslash and a letter. */
const ESCAPES = new Map(Object.entries({
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
}));

/** Reads what stands between two quotes, where that is one JSON string. */
export function readString(text: string, start: number, end: number): string | undefined {
  if (end - start >= VIEW_LENGTH) return parseString(text, start, end);
  let result = "";
  let from = start;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code >= SPACE && code !== QUOTE && code !== BACKSLASH) continue;
    const isEscape = code === BACKSLASH && i + 1 < end;
    const character = isEscape ? ESCAPES.get(text[i + 1] as string) : undefined;
    if (character === undefined) return parseString(text, start, end);
    result += text.slice(from, i) + character;
    i++;
    from = i + 1;
  }
  return result + text.slice(from, end);
}

function parseString(text: string, start: number, end: number): string | undefined {
  try {
    // It begins with a quote, so that it is one string or nothing.
    return JSON.parse(text.slice(start - 1, end + 1));
  } catch {
    return undefined;
  }
}
