import { isPlainObject } from "../_json.ts";

type Fields = Readonly<Record<string, unknown>>;

/** How many lines are looked at for what they hold. */
const MAX_LINES = 200;

/** What writes the data of server-sent events, a line each. */
const TAKE_DATA = "sed -n 's/^data: *//p'";

const ARRAY =
  "it is one JSON array; write each value of it on a line of its own, as by jq -c '.[]'";

const MANY_LINES =
  "its JSON goes over many lines; write each value on a line of its own, as by jq -c .";

/** How a recording begins that holds something else, and what to do about it. */
const BEGINNINGS: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /^\{\s*"log"\s*:\s*\{/,
    "it is a HAR file; take a response's body out of it: response.content.text",
  ],
  [/^<(?:!doctype|html|\?xml)/i, "it is a page, such as a proxy sends in place of a response"],
  [/^(?:[*<>] |% Total )/, "it has what curl says of its work; record its standard output alone"],
  [
    /^[0-9a-f]{1,8}(?:;[^\r\n]*)?\r?\n(?:data|event|id|:|\{)/i,
    "it has the sizes of HTTP chunks in it; record the body as it is decoded",
  ],
  [/^\[\s*\{/, ARRAY],
  [/^\{\s*\n/, MANY_LINES],
];

/**
 * Says what a text is of which nothing is known, and what to do about it.
 *
 * @param text The text, or its beginning.
 * @param isWhole Whether it is all of it.
 * @param isKnown Whether a payload is known, or something in a text is.
 */
export function describeUnknown(
  text: string,
  isWhole: boolean,
  isKnown: (value: string | Fields) => boolean,
): string {
  const advice = "say what it is by --from";
  const value = isWhole ? parse(text) : undefined;
  if (isPlainObject(value) && "error" in value) {
    return `it is the error of a provider, and does not say which; ${advice}`;
  }
  if (Array.isArray(value)) return ARRAY;
  const beginning = BEGINNINGS.find(([pattern]) => pattern.test(text))?.[1];
  if (beginning !== undefined && (beginning !== MANY_LINES || isPart(value, isKnown))) {
    return beginning;
  }
  for (const line of text.split(/\r?\n|\r/, MAX_LINES)) {
    const wrapping = describeWrapping(line, isKnown);
    if (wrapping !== undefined) return wrapping;
  }
  return value === undefined
    ? `nothing in it is known; ${advice}`
    : `it is JSON of no known kind; ${advice}`;
}

/** Whether a value is known, or text that is no single value may have known ones. */
function isPart(value: unknown, isKnown: (value: Fields) => boolean): boolean {
  return value === undefined || (isPlainObject(value) && isKnown(value));
}

/** Says in what a line holds something that is known, and how to get it out. */
function describeWrapping(
  line: string,
  isKnown: (value: string | Fields) => boolean,
): string | undefined {
  const data = line.replace(/^data: */, "");
  const isData = data !== line;
  const value = parse(data);
  if (typeof value === "string") {
    if (!isKnown(value)) return undefined;
    const first = isData ? `${TAKE_DATA} | ` : "";
    return `it has JSON strings; write what is in them, as by ${first}jq -r .`;
  }
  if (isPlainObject(value)) {
    if (isData && isKnown(value)) {
      return `it has no blank lines between its events; take their data, as by ${TAKE_DATA}`;
    }
    for (const [key, member] of Object.entries(value)) {
      const isText = typeof member === "string";
      if (!(isText || isPlainObject(member)) || !isKnown(member)) continue;
      const first = isData ? `${TAKE_DATA} | ` : "";
      const how = /^[A-Za-z_]\w{0,31}$/.test(key)
        ? `, as by ${first}jq ${isText ? "-r" : "-c"} .${key}`
        : "";
      return `what is known in it is within other JSON; take it out${how}`;
    }
    return undefined;
  }
  const begin = line.indexOf("{");
  return begin > 0 && isKnown(line.slice(begin))
    ? "its lines have something before what is known; take that away, as by sed -n 's/^[^{]*{/{/p'"
    : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
