/**
 * What holds for an adapter whatever bytes come in: what comes out is a legal stream with one `start`
 * and one terminal event, which is the last. `decode` fails otherwise.
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Adapter } from "../../src/adapters/_adapter.ts";
import type { StreamEventFormat } from "../../src/wire/_frame_parser.ts";
import { bytesOf, cutAt, decode, outcomeOf, readCases } from "./_bodies.ts";
import {
  arbitraryCuts,
  arbitraryFlips,
  arbitraryFrameDamage,
  arbitraryPayloads,
  type BinaryText,
  bodyOf,
  bytesOfText,
  textOfBytes,
} from "./_damage.ts";
import { readRecordings } from "./_recordings.ts";

/** What the properties have to know of an adapter. */
export interface AdapterUnderTest {
  /** Its name. */
  readonly name: string;
  /** The name of its wire's cases and recordings. */
  readonly wire: string;
  readonly format: StreamEventFormat;
  /** Makes adapters whose messages are the same each time. */
  readonly create: () => Adapter;
  /** The words of the wire. */
  readonly words: readonly string[];
  /** Payloads of nearly the right shape. */
  readonly payload: fc.Arbitrary<unknown>;
}

const RUNS = Number(Deno.env.get("PROPERTY_RUNS") ?? 1_500);

/** Registers the properties of an adapter. */
export function testProperties(
  { name, wire, format, create, words, payload }: AdapterUnderTest,
): void {
  const recordings = readRecordings(wire).map(({ body }) => textOfBytes(body));
  const bodies = [...recordings, ...readCases(wire).map((item) => textOfBytes(bytesOf(item)))];
  const anyBody = fc.constantFrom(...bodies);
  const decodeText = (body: BinaryText) => decode(create(), [bytesOfText(body)], format);

  Deno.test(`${name} makes a legal stream when the bytes are random`, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        assertEquals(outcomeOf(create(), [bytes], format).terminal, "error:error");
      }),
      { numRuns: RUNS },
    );
  });

  Deno.test(`${name} makes a legal stream when the payloads are any JSON`, () => {
    const nearly = fc.array(payload, { maxLength: 14 }).map((all) => bodyOf(all, format));
    fc.assert(
      fc.property(fc.oneof(arbitraryPayloads(words, format), nearly), (body) => {
        decodeText(body);
      }),
      { numRuns: RUNS * 4 },
    );
  });

  Deno.test(`${name} makes a legal stream when bytes are flipped`, () => {
    fc.assert(
      fc.property(anyBody.chain((body) => arbitraryFlips(body, 4)), (body) => {
        decodeText(body);
      }),
      { numRuns: RUNS },
    );
  });

  Deno.test(`${name} makes a legal stream when frames are damaged, however cut`, () => {
    const damaged = anyBody
      .chain((body) => arbitraryFrameDamage(body, 3, undefined, format))
      .chain((body) => fc.tuple(fc.constant(body), arbitraryCuts(body.length)));
    fc.assert(
      fc.property(damaged, ([body, cuts]) => {
        assertEquals(
          decode(create(), cutAt(bytesOfText(body), cuts), format),
          decodeText(body),
        );
      }),
      { numRuns: RUNS },
    );
  });

  // Each call comes whole on this wire: whatever else is lost, it is what the model wrote or nothing.
  Deno.test(`${name} has no call but the model's when frames are damaged`, () => {
    const callsOf = (body: BinaryText) => {
      const { message } = outcomeOf(create(), [bytesOfText(body)], format);
      return message.content.flatMap((block) =>
        block.type === "tool_call" ? [JSON.stringify([block.name, block.arguments])] : []
      );
    };
    const known = new Map(recordings.map((body) => [body, new Set(callsOf(body))]));
    assert([...known.values()].some((calls) => calls.size > 1));
    const damaged = fc.constantFrom(...recordings).chain((body) =>
      fc.tuple(fc.constant(body), arbitraryFrameDamage(body, 3, undefined, format))
    );
    fc.assert(
      fc.property(damaged, ([body, changed]) => {
        for (const call of callsOf(changed)) assert(known.get(body)?.has(call));
      }),
      { numRuns: RUNS },
    );
  });
}
