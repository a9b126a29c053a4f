import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  RecordingReader,
  type RecordingReaderOptions,
  type RecordingVisitor,
} from "../../src/cli/_recording_reader.ts";
import { UnreadableError } from "../../src/cli/_errors.ts";
import { PROVIDER_WIRES } from "../../src/cli/_wires.ts";
import { readRecordings } from "../adapters/_recordings.ts";
import { HEALTHY, ndjson } from "./_streams.ts";

const encoder = new TextEncoder();

/** All that a visitor is told, but for what depends on the time. */
function read(
  chunks: readonly Uint8Array[],
  options: RecordingReaderOptions,
): unknown[] {
  const told: unknown[] = [];
  const visitor: RecordingVisitor = {
    wire: ({ wire, format }) => told.push(["wire", wire, format]),
    streamStart: (index) => told.push(["start", index]),
    event: (event, { line, byteOffset }) =>
      told.push(["event", (event as { type?: unknown } | null)?.type, line, byteOffset]),
    fault: ({ stream, code, eventIndex, line, byteOffset, delta }) =>
      told.push(["fault", stream, code, eventIndex, line, byteOffset, delta?.eventIndex]),
    streamEnd: ({ index, verdict, events, place }) =>
      told.push(["end", index, verdict, events, place.line, place.byteOffset]),
  };
  const reader = new RecordingReader(visitor, options);
  try {
    for (const chunk of chunks) reader.push(chunk);
    reader.end();
  } catch (error) {
    assert(error instanceof UnreadableError, String(error));
    told.push(["unreadable", error.message]);
  }
  return told;
}

function cut(bytes: Uint8Array, length: number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let i = 0; i < bytes.length; i += length) chunks.push(bytes.slice(i, i + length));
  return chunks;
}

const BODIES: readonly Uint8Array[] = [
  encoder.encode(ndjson([...HEALTHY, ...HEALTHY])),
  encoder.encode(HEALTHY.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join("")),
  ...Object.keys(PROVIDER_WIRES).flatMap((wire) =>
    readRecordings(wire).slice(0, 2).map(({ body }) => body)
  ),
];

/** A body with some of its bytes changed, left out, doubled, or put elsewhere. */
const damaged = fc.tuple(
  fc.constantFrom(...BODIES),
  fc.array(
    fc.record({
      what: fc.constantFrom("change", "drop", "double", "line"),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      length: fc.integer({ min: 1, max: 40 }),
      byte: fc.constantFrom(0x00, 0x0a, 0x0d, 0x22, 0x7b, 0x80, 0xc3, 0xff),
    }),
    { minLength: 1, maxLength: 4 },
  ),
).map(([body, changes]) => {
  let bytes = [...body];
  for (const { what, at, length, byte } of changes) {
    const start = Math.floor(at * bytes.length);
    const piece = bytes.slice(start, start + length);
    if (what === "change") bytes[start] = byte;
    if (what === "drop") bytes.splice(start, length);
    if (what === "double") bytes.splice(start, 0, ...piece);
    if (what === "line") {
      const end = bytes.indexOf(0x0a, start) + 1 || bytes.length;
      bytes = [...bytes.slice(0, start), ...bytes.slice(end), ...bytes.slice(start, end)];
    }
  }
  return Uint8Array.from(bytes);
});

Deno.test("RecordingReader tells the same of damaged bytes however they are cut", () => {
  fc.assert(
    fc.property(
      damaged,
      fc.boolean(),
      fc.constantFrom("auto", "events", "anthropic", "ollama"),
      fc.constantFrom(1, 3, 17, 400),
      (bytes, isEvery, from, length) => {
        const whole = read([bytes], { from, isEvery });
        assertEquals(read(cut(bytes, length), { from, isEvery }), whole);
      },
    ),
    { numRuns: 400 },
  );
});

Deno.test("RecordingReader tells of damage in the first line what it is, however it is cut", () => {
  const broken = new TextEncoder().encode('\n\n"model":"m?","done":false}\n{"done":true}\n');
  broken[broken.indexOf(0x3f)] = 0x80;
  for (const from of ["auto", "events", "anthropic", "ollama"]) {
    const whole = read([broken], { from, isEvery: false });
    for (let length = 1; length < broken.length; length++) {
      assertEquals(read(cut(broken, length), { from, isEvery: false }), whole);
    }
  }
});

Deno.test("RecordingReader ends every stream that begins, and begins each with its place", () => {
  fc.assert(
    fc.property(damaged, fc.boolean(), (bytes, isEvery) => {
      const told = read([bytes], { from: "auto", isEvery }) as Array<[string, number, string]>;
      let open: number | undefined;
      let count = 0;
      for (const [what, index] of told) {
        if (what === "start") {
          assertEquals(open, undefined);
          assertEquals(index, count++);
          open = index;
        }
        if (what === "end") {
          assertEquals(index, open);
          open = undefined;
        }
        if (what === "event") assert(open !== undefined);
        if (what === "fault") assertEquals(index, open);
      }
      assertEquals(open, undefined);
      assertEquals(
        told.filter(([what, , verdict]) => what === "end" && verdict === "wrong").length,
        new Set(told.filter(([what]) => what === "fault").map(([, index]) => index)).size,
      );
    }),
    { numRuns: 400 },
  );
});

Deno.test("RecordingReader without every violation tells the first of those with it", () => {
  fc.assert(
    fc.property(damaged, (bytes) => {
      const faultsOf = (isEvery: boolean) =>
        (read([bytes], { from: "auto", isEvery }) as Array<[string, number]>)
          .filter(([what]) => what === "fault");
      const first = faultsOf(false);
      const seen = new Set<number>();
      const firsts = faultsOf(true).filter(([, index]) => {
        const isNew = !seen.has(index);
        seen.add(index);
        return isNew;
      });
      assertEquals(firsts, first);
    }),
    { numRuns: 400 },
  );
});
