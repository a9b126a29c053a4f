/** What holds for the cases and recordings of every wire format. */

import { assertEquals } from "@std/assert";
import type { Adapter } from "../../src/adapters/_adapter.ts";
import type { StreamEventFormat } from "../../src/wire/_frame_parser.ts";
import {
  assertCut,
  assertVerdict,
  bytesOf,
  cutAt,
  type Outcome,
  outcomeOf,
  readCases,
  type WireCase,
} from "./_bodies.ts";
import { readRecordings } from "./_recordings.ts";

/** What the suite has to know of an adapter. */
export interface CaseSuite {
  /** The name of the adapter. */
  readonly name: string;
  /** The wire format, as the cases and recordings are named. */
  readonly wire: string;
  /** Makes an adapter whose messages are the same each time. */
  readonly create: () => Adapter;
  /** How many cases there are. */
  readonly count: number;
  /** @default {"sse"} */
  readonly format?: StreamEventFormat;
  /** Cases that a cut can turn into another whole response; what is held of them is said elsewhere. */
  readonly cutToWhole?: readonly string[];
}

/**
 * Gives every case its verdict, however the bytes are cut into chunks, and takes no part of a body for
 * the whole.
 *
 * @returns The cases.
 */
export function testCases(
  { name, wire, create, count, format = "sse", cutToWhole = [] }: CaseSuite,
): WireCase[] {
  const cases = readCases(wire);
  const outcome = (chunks: Iterable<Uint8Array>): Outcome => outcomeOf(create(), chunks, format);

  Deno.test(`${wire} cases are all there`, () => {
    assertEquals(cases.length, count);
  });

  for (const wireCase of cases) {
    Deno.test(`${name} gives the verdict of the case ${wireCase.id}`, () => {
      const body = bytesOf(wireCase);

      const whole = outcome([body]);

      assertVerdict(wireCase, whole);
      if (wireCase.splits) assertEquals(outcome(cutAt(body, wireCase.splits)), whole);
      assertEquals(outcome(cutAt(body, [...body.keys()].slice(1))), whole);
      for (let at = 1; at < body.length; at++) assertEquals(outcome(cutAt(body, [at])), whole);
    });
  }

  const bodies = [
    ...cases.filter(({ id }) => !cutToWhole.includes(id))
      .map((wireCase) => ({ title: `the case ${wireCase.id}`, body: bytesOf(wireCase) })),
    ...readRecordings(wire).map(({ name, body }) => ({ title: `recording ${name}`, body })),
  ];
  for (const { title, body } of bodies) {
    Deno.test(`${name} never takes a part of ${title} for the whole`, () => {
      const whole = outcome([body]);

      for (let at = 0; at < body.length; at++) assertCut(outcome([body.subarray(0, at)]), whole);
    });
  }
  return cases;
}
