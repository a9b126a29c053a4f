import { assertEquals } from "@std/assert";
import { jsonSize } from "../../src/adapters/_json_size.ts";

Deno.test("jsonSize is about the length of the JSON text", () => {
  const values = [null, true, 12.5, "", "text", [], {}, [1, ["a"]], { a: { b: [] }, "": "c" }];
  for (const value of values) {
    const { length } = JSON.stringify(value);
    const size = jsonSize(value);
    assertEquals(size >= length && size <= length + 3, true, JSON.stringify(value));
  }
});

Deno.test("jsonSize ends where a value contains itself, or nests without end", () => {
  const list: unknown[] = [];
  list.push(list, { list });
  assertEquals(jsonSize(list), 14);
  assertEquals(jsonSize(JSON.parse("[".repeat(100_000) + "]".repeat(100_000))), 299_999);
});
