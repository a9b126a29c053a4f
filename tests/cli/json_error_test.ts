import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { findJsonError } from "../../src/cli/_json_error.ts";

const TEXTS: ReadonlyArray<readonly [string, number | undefined]> = [
  ["", 0],
  [" \n", 2],
  ["{}", undefined],
  [' { "a" : [ 1 , -2.5e+3 , "\\u00e9\\n" , true , null ] } ', undefined],
  ['{"to":"Oslo,om":"Ł"', 15],
  ['{"a":1}{', 7],
  ['{"a":1,}', 7],
  ["[1,]", 3],
  ["[,1]", 1],
  ["{,}", 1],
  ['{"a"}', 4],
  ["{a:1}", 1],
  ["01", 1],
  ["-", 0],
  ["1.", 1],
  ["tru", 0],
  ["NaN", 0],
  ['"\\x"', 1],
  ['"a\nb"', 2],
  ['"abc', 4],
  ['{"a":{"b":[', 11],
  ["[1}", 2],
  ['{"a":1]', 6],
];

Deno.test("findJsonError finds where a text stops being JSON", () => {
  for (const [text, expected] of TEXTS) assertEquals(findJsonError(text), expected, text);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

Deno.test("findJsonError knows JSON as the engine does", () => {
  fc.assert(fc.property(fc.json(), (text) => findJsonError(text) === undefined));
  const pieces = fc.constantFrom(
    ...'{}[],:"\\0-1.eEtf '.split(""),
    "true",
    "null",
    '"a"',
    "\\u00e9",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      const text = parts.join("");
      const at = findJsonError(text);
      assertEquals(at === undefined, isJson(text), text);
    }),
    { numRuns: 5_000 },
  );
});

Deno.test("findJsonError takes texts that nest deep or are long", () => {
  assertEquals(findJsonError("[".repeat(1e6)), 1e6);
  assertEquals(findJsonError(`"${"x".repeat(5e6)}`), 5e6 + 1);
  const begin = performance.now();
  findJsonError(`[${'"x",'.repeat(1e6)}`);
  assert(performance.now() - begin < 3_000);
});
