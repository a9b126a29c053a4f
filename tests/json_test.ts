import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { copyJson, firstDifference, sameJson } from "../src/_json.ts";

const proto = JSON.parse('{"__proto__":{}}');

/** What is expected, what came, and where they part; `undefined` where they are the same JSON. */
const PAIRS: ReadonlyArray<readonly [expected: unknown, received: unknown, path?: string]> = [
  [{}, {}],
  [{ a: 1, b: [true, null, "x"] }, { b: [true, null, "x"], a: 1 }],
  [{ a: 0 }, { a: -0 }],
  [{ a: 1 }, Object.assign(Object.create(null), { a: 1 })],
  [proto, JSON.parse('{"__proto__":{}}')],
  [proto, {}, "v.__proto__"],
  [proto, { x: 1 }, "v.__proto__"],
  [{ x: 1 }, proto, "v.x"],
  [{}, proto, "v.__proto__"],
  [{ x: 1 }, { y: undefined }, "v.x"],
  [{ x: 1 }, { x: 1, y: undefined }, "v.y"],
  [{ x: 1 }, { toString: Object.prototype.toString }, "v.x"],
  [{ x: 1 }, Object.create({ x: 1 }), "v"],
  [{ x: 1 }, Object.defineProperty({ y: 1 }, "x", { value: 1 }), "v.x"],
  [{ a: { b: [{ c: 1 }] } }, { a: { b: [{ c: 2 }] } }, "v.a.b[0].c"],
  [{ a: 1 }, { a: "1" }, "v.a"],
  [{ a: 1 }, { a: Number.NaN }, "v.a"],
  [{ a: null }, { a: undefined }, "v.a"],
  [{ a: null }, {}, "v.a"],
  [{ "not a name": 1 }, { "not a name": 2 }, 'v["not a name"]'],
  [[1, 2], [1, 2, 3], "v"],
  [[], {}, "v"],
  [{}, [], "v"],
  [[1], Object.assign(Object.create(Array.prototype), { 0: 1, length: 1 }), "v"],
  [[null], new Array(1), "v[0]"],
  [[1], new (class extends Array {})(1).fill(1), "v"],
  [{}, new Date(0), "v"],
  [{}, new Map(), "v"],
  [{}, null, "v"],
  ["same", "same"],
  ["abc", "abd", "v"],
];

Deno.test("sameJson and firstDifference tell when two values are the same JSON", () => {
  for (const [expected, received, path] of PAIRS) {
    assertEquals(firstDifference("v", expected, received)?.path, path);
    // The quick answer may be no for a yes, never the other way.
    if (path !== undefined) assert(!sameJson(expected, received, 64), path);
  }
  assert(sameJson({ a: 1, b: [true, null, "x"] }, { b: [true, null, "x"], a: 1 }, 2));
  assert(!sameJson({ a: [] }, { a: [] }, 1));
});

Deno.test("firstDifference does not take what every object has for a key that is there", () => {
  for (const key of ["constructor", "toString"]) {
    const object = { [key]: 1 };
    const [more, less] = [firstDifference("v", {}, object), firstDifference("v", object, {})];
    assertEquals(more, { path: `v.${key}`, expected: "undefined", received: "1" });
    assertEquals(less, { path: `v.${key}`, expected: "1", received: "undefined" });
  }
});

Deno.test("sameJson is not sure of anything when the built-in prototypes have enumerable keys", () => {
  const expected = JSON.parse('{"foo":1}');
  try {
    Object.assign(Object.prototype, { foo: 1 });
    assert(!sameJson(expected, {}, 64));
    assertEquals(firstDifference("v", expected, {})?.path, "v.foo");
    assertEquals(firstDifference("v", expected, { foo: 1 }), undefined);
  } finally {
    delete (Object.prototype as Record<string, unknown>).foo;
  }
  assert(sameJson({}, {}, 64));
});

Deno.test("firstDifference shows at most 40 code units around the first difference", () => {
  const text = "0123456789".repeat(10);
  assertEquals(firstDifference("v", text, text.slice(0, 50) + "x"), {
    path: "v",
    offset: 50,
    expected: "0123456789".repeat(4),
    received: "0123456789".repeat(2) + "x",
  });
});

Deno.test("firstDifference cuts a path that is too long", () => {
  let expected: unknown = 1;
  let received: unknown = 2;
  for (let i = 0; i < 1_000; i++) {
    expected = { key: expected };
    received = { key: received };
  }
  const path = firstDifference("v", expected, received)?.path;
  assertEquals(path?.length, 201);
  assert(path?.endsWith("…"));
});

Deno.test("copyJson and firstDifference are linear in what is there, not in what it spells", () => {
  let value: unknown[] = ["leaf"];
  for (let i = 0; i < 900; i++) value = [value, value];
  const { value: copy, shared, tooDeep } = copyJson("v", value, 1_000);
  assert(shared);
  assert(!tooDeep);
  assertEquals(firstDifference("v", copy, value), undefined);
  assert(copyJson("v", value, 900).tooDeep);
});

Deno.test("copyJson copies down to the last leaf", () => {
  const value = JSON.parse('{"a":[{"b":1},2],"__proto__":{"c":[null,true,"x"]}}');
  const { value: copy, shared, notJson } = copyJson("v", value, 3);
  assertEquals(JSON.stringify(copy), JSON.stringify(value));
  assertStrictEquals(Object.getPrototypeOf(copy), Object.prototype);
  assert(!shared);
  assertEquals(notJson, undefined);
  (value.a as unknown[]).push("later");
  assertEquals((copy as { a: unknown[] }).a.length, 2);
});

Deno.test("copyJson counts levels, and finds a value that contains itself", () => {
  const deep = { a: [{}] };
  assert(!copyJson("v", deep, 3).tooDeep);
  assert(copyJson("v", deep, 2).tooDeep);
  assert(copyJson("v", {}, 0).tooDeep);
  assert(!copyJson("v", "leaf", 0).tooDeep);
  const cycle: unknown[] = [];
  cycle.push([cycle]);
  assert(copyJson("v", cycle, Infinity).tooDeep);
});

Deno.test("copyJson says where the first value is that JSON cannot express", () => {
  for (
    const [value, path] of [
      [{ a: [1, undefined] }, "v.a[1]"],
      [{ a: () => {} }, "v.a"],
      [{ a: 1n }, "v.a"],
      [{ a: Symbol() }, "v.a"],
      [{ a: Infinity }, "v.a"],
      [{ a: new Date(0) }, "v.a"],
      [new Map(), "v"],
      [[, 1], "v[0]"],
      [{ a: new Array(2 ** 32 - 1) }, "v.a[0]"],
    ] as ReadonlyArray<readonly [unknown, string]>
  ) {
    assertEquals(copyJson("v", value, 1_000).notJson, path);
  }
  // JSON does not see what an array has beside its elements.
  const array: unknown[] & { own?: unknown } = [, 1];
  array.own = array;
  const { tooDeep, notJson } = copyJson("v", array, 1_000);
  assertEquals([tooDeep, notJson], [false, "v[0]"]);
  // Too deep counts, even after what is not JSON.
  assert(copyJson("v", [undefined, [[]]], 2).tooDeep);
  const sparse = new Array(2 ** 32 - 1);
  sparse[2 ** 31] = [[]];
  assert(copyJson("v", sparse, 2).tooDeep);
});
