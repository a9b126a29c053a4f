import { assertEquals } from "@std/assert";
import { printable } from "../../src/cli/_text.ts";

Deno.test("printable shows what a terminal acts on, and what nobody would see", () => {
  for (
    const [text, shown] of [
      ["\x1b[31m", "\\u001b[31m"],
      ["\u202eabc", "\\u202eabc"],
      ["soft\u00adhyphen", "soft\\u00adhyphen"],
      ["\u206a\ufff9\u3164", "\\u206a\\ufff9\\u3164"],
      ["\u{e0041}", "\\udb40\\udc41"],
      ["half \ud83d", "half \ufffd"],
      ["Łódź 東京 ✈️ 🎈", "Łódź 東京 ✈️ 🎈"],
    ] as const
  ) {
    assertEquals(printable(text), shown);
  }
});
