import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { StreamEvent } from "../../mod.ts";
import { DeltaLine } from "../../src/wire/_delta_line.ts";

const KINDS = ["text", "thinking", "tool_call"] as const;

function deltaOf(kind: string, contentIndex: unknown, delta: string): StreamEvent {
  const field = kind === "tool_call" ? "argumentsDelta" : "delta";
  return { type: `${kind}_delta`, contentIndex, [field]: delta } as unknown as StreamEvent;
}

function expecting(kind: string, contentIndex: unknown): DeltaLine {
  const line = new DeltaLine();
  line.expect({ type: `${kind}_start`, contentIndex } as unknown as StreamEvent);
  return line;
}

/** What `JSON.parse` makes of a line; nothing, where it throws. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** A line may be left to `JSON.parse`; where it is not, the value is the same, and so are its keys. */
function assertSame(reader: DeltaLine, line: string): void {
  const event = reader.read(line);
  if (event === undefined) return;
  const expected = parsed(line);
  assertEquals(event, expected as StreamEvent);
  assertEquals(Object.keys(event), Object.keys(expected as StreamEvent));
}

const arbitraryKind = fc.constantFrom(...KINDS);
const arbitraryIndex = fc.nat(20);
const arbitraryText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 24 }),
  fc.string({ unit: fc.constantFrom('"', "\\", "/", "\b", "\f", "\n", "\r", "\t", "\ud83d", "a") }),
);

Deno.test("DeltaLine reads every delta of the open block that JSON.stringify writes", () => {
  fc.assert(fc.property(arbitraryKind, arbitraryIndex, arbitraryText, (kind, index, text) => {
    const event = deltaOf(kind, index, text);
    assertEquals(expecting(kind, index).read(JSON.stringify(event)), event);
  }));
});

Deno.test("DeltaLine is right or silent about a line that is damaged", () => {
  const arbitraryDamage = fc.tuple(
    fc.nat(80),
    fc.nat(2),
    fc.constantFrom("", '"', "\\", "}", "{", ",", ":", "0", "\n", "\u0000", '","a":"', "\\u00e"),
  );
  fc.assert(
    fc.property(
      arbitraryKind,
      arbitraryIndex,
      arbitraryText,
      fc.array(arbitraryDamage, { maxLength: 3 }),
      (kind, index, text, damages) => {
        let line = JSON.stringify(deltaOf(kind, index, text));
        for (const [at, removed, inserted] of damages) {
          line = line.slice(0, at) + inserted + line.slice(at + removed);
        }
        assertSame(expecting(kind, index), line);
      },
    ),
    { numRuns: 2000 },
  );
});

Deno.test("DeltaLine is right or silent about whatever stands between the quotes", () => {
  const arbitraryRaw = fc.array(
    fc.constantFrom('"', "\\", "\\\\", '\\"', "\\/", "\\n", "\\u0041", "\\u", "a", "\n", '","b":"'),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(arbitraryKind, arbitraryRaw, (kind, raw) => {
      const line = JSON.stringify(deltaOf(kind, 3, "")).slice(0, -2) + raw.join("") + '"}';
      assertSame(expecting(kind, 3), line);
    }),
    { numRuns: 2000 },
  );
});

Deno.test("DeltaLine leaves a block alone whose index may be written in two ways", () => {
  for (const index of [-0, -1, 1.5, 1e21, Infinity, NaN, "0", null, undefined, [0], {}]) {
    for (const written of [index, 0, 1]) {
      assertSame(expecting("text", index), JSON.stringify(deltaOf("text", written, "a")));
    }
  }
  const event = expecting("text", -0).read('{"type":"text_delta","contentIndex":0,"delta":"a"}');
  assert(event === undefined || Object.is((event as { contentIndex?: unknown }).contentIndex, 0));
});

Deno.test("DeltaLine expects nothing of a block whose index is no number", () => {
  const nested = "[".repeat(100_000) + "]".repeat(100_000);
  for (
    const index of ['{"toString":0}', '{"toString":null,"valueOf":null}', nested, "[0]", '"0"']
  ) {
    const line = new DeltaLine();
    line.expect(JSON.parse(`{"type":"text_start","contentIndex":${index}}`));
    assertEquals(line.read('{"type":"text_delta","contentIndex":0,"delta":"a"}'), undefined);
  }
});

Deno.test("DeltaLine leaves a line alone that ends before its string does", () => {
  const line = '{"type":"text_delta","contentIndex":0,"delta":""}';
  for (let end = 0; end < line.length; end++) {
    assertEquals(expecting("text", 0).read(line.slice(0, end)), undefined);
    assertSame(expecting("text", 0), `${line.slice(0, end)}}`);
  }
});

Deno.test("DeltaLine expects nothing before a block was started", () => {
  const line = new DeltaLine();
  for (const type of ["start", "text_end", "text_delta", "x_start", "text_started", ""]) {
    line.expect({ type, contentIndex: 0 } as unknown as StreamEvent);
  }
  for (const text of ["", '"}', '{"type":"text_delta","contentIndex":0,"delta":"a"}']) {
    assertEquals(line.read(text), undefined);
  }
});
