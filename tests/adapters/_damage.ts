/** Arbitraries for bodies that got damaged on the way. */

import fc from "fast-check";
import type { StreamEventFormat } from "../../src/wire/_frame_parser.ts";

/**
 * A body as text with a character for each byte, so that a counterexample can be read. `Latin1` is
 * what it is called elsewhere; `TextDecoder` means another encoding by that name.
 */
export type BinaryText = string;

/** The bytes of a text with a character for each. */
export function bytesOfText(text: BinaryText): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

/** A text with a character for each of the bytes. */
export function textOfBytes(bytes: Uint8Array): BinaryText {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

/** The text with a character for each byte of the UTF-8. */
function binaryOf(text: string): BinaryText {
  return textOfBytes(new TextEncoder().encode(text));
}

/** What can happen to the frames of a body. */
export type Damage = "drop" | "double" | "swap" | "move" | "cut";

/** Splits a body into its frames, ends included. */
export function framesOf(body: BinaryText, format: StreamEventFormat = "sse"): BinaryText[] {
  return body.split(format === "sse" ? /(?<=\n\r?\n)/ : /(?<=\n)/);
}

/** Bytes with some of them changed. */
export function arbitraryFlips(body: BinaryText, maxFlips: number): fc.Arbitrary<BinaryText> {
  // Most bytes of a body stand for themselves, and those change what it says without breaking it.
  const byte = fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.nat({ max: 0xff }));
  const flip = fc.tuple(fc.nat({ max: body.length - 1 }), byte);
  return fc.array(flip, { minLength: 1, maxLength: maxFlips }).map((flips) => {
    const damaged = [...body];
    for (const [at, byte] of flips) damaged[at] = String.fromCharCode(byte);
    return damaged.join("");
  });
}

/** A body with frames dropped, doubled, swapped, moved or cut. */
export function arbitraryFrameDamage(
  body: BinaryText,
  maxDamages: number,
  kinds: readonly Damage[] = ["drop", "double", "swap", "move", "cut"],
  format?: StreamEventFormat,
): fc.Arbitrary<BinaryText> {
  const frames = framesOf(body, format);
  const damage = fc.tuple(fc.constantFrom(...kinds), fc.nat(), fc.nat());
  return fc.array(damage, { minLength: 1, maxLength: maxDamages }).map((damages) => {
    const damaged = [...frames];
    for (const [kind, first, second] of damages) {
      const at = first % Math.max(1, damaged.length);
      const frame = damaged[at] ?? "";
      switch (kind) {
        case "drop":
          damaged.splice(at, 1);
          break;
        case "double":
          damaged.splice(at, 0, frame);
          break;
        case "swap":
          damaged.splice(at, 2, damaged[at + 1] ?? "", frame);
          break;
        case "move":
          damaged.splice(at, 1);
          damaged.splice(second % (damaged.length + 1), 0, frame);
          break;
        case "cut":
          damaged[at] = frame.slice(0, second % (frame.length + 1));
          break;
      }
    }
    return damaged.join("");
  });
}

/** JSON values with the words of a wire format in them, as the payloads of a body. */
export function arbitraryPayloads(
  words: readonly string[],
  format: StreamEventFormat = "sse",
): fc.Arbitrary<BinaryText> {
  const word = fc.constantFrom(...words);
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "medium", withCrossShrink: true },
      fc.oneof(fc.constantFrom(null, true, "", 0, 1, -1, 0.5, "{", "{}", '{"a":1}', "a"), word),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(word, tie("value"), { maxKeys: 6 }),
    ),
  }));
  return fc.array(value, { maxLength: 8 }).map((payloads) => bodyOf(payloads, format));
}

/** The body that these payloads make. */
export function bodyOf(payloads: readonly unknown[], format: StreamEventFormat): BinaryText {
  const frames = payloads.map((payload) => JSON.stringify(payload)).map((text) =>
    format === "sse" ? `data: ${text}\n\n` : `${text}\n`
  );
  return binaryOf(frames.join(""));
}

/** Where to cut a body of this length. */
export function arbitraryCuts(length: number): fc.Arbitrary<number[]> {
  return fc.array(fc.nat({ max: length }), { maxLength: 4 }).map((cuts) =>
    cuts.sort((a, b) => a - b)
  );
}
