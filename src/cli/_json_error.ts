/** What a JSON text may have next. */
type Expected = "value" | "value or ]" | "key" | "key or }" | ":" | ", or ]" | ", or }" | "end";

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
// deno-lint-ignore no-control-regex -- they are what JSON strings must not have
const CHARACTERS = /[^"\\\u0000-\u001f]+/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Finds where a text stops being JSON; engines do not say so alike, if they do.
 *
 * @returns The offset of the first code unit that cannot be there, the text's length where more would
 * have to come, `undefined` where it is JSON.
 */
export function findJsonError(text: string): number | undefined {
  const open: Array<"[" | "{"> = [];
  let expected: Expected = "value";
  let at = 0;
  const match = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  /** Goes behind a string that begins here, or to where it goes wrong. */
  const matchString = (): boolean => {
    at++;
    while (match(CHARACTERS) || match(ESCAPE)) { /* There may be more. */ }
    if (text[at] !== '"') return false;
    at++;
    return true;
  };
  const afterValue = (): Expected =>
    open.length === 0 ? "end" : open.at(-1) === "[" ? ", or ]" : ", or }";
  for (;;) {
    while (at < text.length && " \t\n\r".includes(text[at] as string)) at++;
    if (at === text.length) return expected === "end" ? undefined : at;
    const next = text[at] as string;
    switch (expected) {
      case "value or ]":
      case "value":
        if (next === "[" || next === "{") {
          open.push(next);
          at++;
          expected = next === "[" ? "value or ]" : "key or }";
        } else if (next === "]" && expected === "value or ]") {
          open.pop();
          at++;
          expected = afterValue();
        } else if (next === '"') {
          if (!matchString()) return at;
          expected = afterValue();
        } else {
          if (!match(NUMBER) && !match(WORD)) return at;
          expected = afterValue();
        }
        break;
      case "key or }":
      case "key":
        if (next === "}" && expected === "key or }") {
          open.pop();
          at++;
          expected = afterValue();
          break;
        }
        if (next !== '"' || !matchString()) return at;
        expected = ":";
        break;
      case ":":
        if (next !== ":") return at;
        at++;
        expected = "value";
        break;
      case ", or ]":
      case ", or }": {
        const isArray: boolean = expected === ", or ]";
        if (next === ",") expected = isArray ? "value" : "key";
        else if (next === (isArray ? "]" : "}")) {
          open.pop();
          expected = afterValue();
        } else return at;
        at++;
        break;
      }
      case "end":
        return at;
    }
  }
}
