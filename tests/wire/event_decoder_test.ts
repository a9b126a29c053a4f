import { assert, assertEquals, assertThrows } from "@std/assert";
import { createEventDecoder } from "../../src/wire/_event_decoder.ts";
import {
  createFrameParser,
  type FrameSink,
  type Place,
  type StreamEventFormat,
} from "../../src/wire/_frame_parser.ts";
import { StreamDecodeError } from "../../src/wire/stream_decode_error.ts";

const encoder = new TextEncoder();

function bytesOf(...parts: Array<string | number>): Uint8Array {
  return new Uint8Array(
    parts.flatMap((part) => typeof part === "number" ? [part] : [...encoder.encode(part)]),
  );
}

interface Outcome {
  readonly events: unknown[];
  readonly error?: readonly [code: string, line: number, byteOffset: number];
}

function decode(
  format: StreamEventFormat,
  chunks: readonly Uint8Array[],
  maxLineLength?: number,
): Outcome {
  const events: unknown[] = [];
  const decoder = createEventDecoder(format, maxLineLength);
  try {
    for (const chunk of chunks) decoder.push(chunk, (event) => events.push(event));
    decoder.end((event) => events.push(event));
    return { events };
  } catch (error) {
    assert(StreamDecodeError.is(error), String(error));
    return { events, error: [error.code, error.line, error.byteOffset] };
  }
}

/** Body, values that come out, and the error that follows them. */
const BODIES: ReadonlyArray<
  readonly [StreamEventFormat, Uint8Array, unknown[], Outcome["error"]?, number?]
> = [
  ["ndjson", bytesOf(""), []],
  ["ndjson", bytesOf("1\n2\n"), [1, 2]],
  ["ndjson", bytesOf("1\r\n\r\n \n2"), [1, 2]],
  ["ndjson", bytesOf(0xef, 0xbb, 0xbf, '"é😀"\n'), ["é😀"]],
  ["ndjson", bytesOf(0xef, 0xbb, 0xbf, "\ufeff1\n"), [], ["invalid_json", 1, 3]],
  ["ndjson", bytesOf('"a"\n"\ufeffb"\n"\ufffd"\n'), ["a", "\ufeffb", "\ufffd"]],
  ["ndjson", bytesOf('"\ufeff"\n"', 0xef, 0xbb, '"\n'), ["\ufeff"], ["invalid_utf8", 2, 7]],
  ["ndjson", bytesOf('1\n"\ufeff', 0xff, '"\n'), [1], ["invalid_utf8", 2, 6]],
  ["ndjson", bytesOf("1\n", '"é"', "x\n3\n"), [1], ["invalid_json", 2, 2]],
  ["ndjson", bytesOf('"😀"\n1\n{"a":'), ["😀", 1], ["incomplete_frame", 3, 9]],
  ["ndjson", bytesOf('1\n2\n"a', 0xff, '"\n'), [1, 2], ["invalid_utf8", 3, 6]],
  ["ndjson", bytesOf('1\n"', 0xe2, 0x82), [1], ["invalid_utf8", 2, 3]],
  ["ndjson", bytesOf('1\n"', 0xed, 0xa0, 0x80), [1], ["invalid_utf8", 2, 3]],
  ["ndjson", bytesOf('1\n"', 0xf4, 0x90, 0x80, 0x80), [1], ["invalid_utf8", 2, 3]],
  ["ndjson", bytesOf("12345\r\n123456\n1\n"), [12345], ["line_too_long", 2, 7], 5],
  ["ndjson", bytesOf("123456\r\n1\n"), [], ["line_too_long", 1, 0], 5],
  ["ndjson", bytesOf("1\n1234567890"), [1], ["line_too_long", 2, 2], 5],
  ["ndjson", bytesOf("123456"), [], ["line_too_long", 1, 0], 5],
  ["sse", bytesOf(""), []],
  ["sse", bytesOf("data: 1\n\ndata: 2\n\n"), [1, 2]],
  ["sse", bytesOf("event: x\r\nid: 0\r\ndata:1\r\n\r\ndata: 2\r\n\r\n"), [1, 2]],
  ["sse", bytesOf("data: 1\r\rdata: 2\r\r"), [1, 2]],
  ["sse", bytesOf(": hi\n\ndata: [1,\ndata: 2]\n\n: bye\n\nretry: 5\n\n"), [[1, 2]]],
  ["sse", bytesOf(0xef, 0xbb, 0xbf, "data: 1\n\n"), [1]],
  ["sse", bytesOf("data: 1\n\ndata: 2"), [1, 2]],
  ["sse", bytesOf("data: 1\n\ndata: 2\n"), [1, 2]],
  ["sse", bytesOf("data: 1\n\ndata: {"), [1], ["incomplete_frame", 3, 9]],
  ["sse", bytesOf("data: 1\n\n: é\nevent: y\ndata: {\n\n"), [1], ["invalid_json", 5, 23]],
  ["sse", bytesOf("data: 1\n\ndata: [\ndata: x\n\n"), [1], ["invalid_json", 3, 9]],
  ["sse", bytesOf("data: 1\n\n: ", 0x80), [1], ["invalid_utf8", 3, 11]],
  ["sse", bytesOf("data: 1\n\n: 1234567890123456789\n"), [1], ["line_too_long", 3, 9], 12],
  ["sse", bytesOf("data: [1,\ndata: 2]\n\n"), [], ["line_too_long", 1, 0], 12],
];

Deno.test("createEventDecoder decodes every body the same however it is cut", () => {
  for (const [format, body, events, error, maxLineLength] of BODIES) {
    const expected: Outcome = error ? { events, error } : { events };
    const name = `${format} ${JSON.stringify(new TextDecoder().decode(body))}`;
    assertEquals(decode(format, [body], maxLineLength), expected, name);
    const single = [...body].map((byte) => new Uint8Array([byte]));
    assertEquals(decode(format, single, maxLineLength), expected, `${name}, byte by byte`);
    for (let i = 0; i <= body.length; i++) {
      for (let j = i; j <= body.length; j++) {
        const chunks = [body.slice(0, i), body.slice(i, j), body.slice(j)];
        assertEquals(decode(format, chunks, maxLineLength), expected, `${name}, cut at ${i}, ${j}`);
      }
    }
  }
});

Deno.test("createEventDecoder says what a terminal message lacks", () => {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
  const message = { role: "assistant", provider: "p", model: "m", timestamp: 0, usage };
  const failed = { ...message, errorMessage: "x" };
  for (
    const [type, given, missing] of [
      ["done", { ...message, role: "user" }, 'role "assistant"'],
      ["done", { ...message, provider: undefined }, "a string provider"],
      ["done", { ...message, model: 1 }, "a string model"],
      ["done", { ...message, timestamp: "0" }, "a numeric timestamp"],
      ["done", { ...message, usage: undefined }, "usage"],
      ["done", { ...message, usage: { ...usage, cacheRead: null } }, "a numeric usage.cacheRead"],
      ["done", { ...message, usage: { ...usage, cost: [] } }, "usage.cost"],
      [
        "done",
        { ...message, usage: { ...usage, cost: { ...cost, total: "1" } } },
        "a numeric usage.cost.total",
      ],
      // What is too large a number is none: nobody could write it down again.
      ["done", { ...message, timestamp: "1e400" }, "a numeric timestamp"],
      ["done", { ...message, usage: { ...usage, output: "1e400" } }, "a numeric usage.output"],
      [
        "done",
        { ...message, usage: { ...usage, cost: { ...cost, input: "-1e400" } } },
        "a numeric usage.cost.input",
      ],
      ["error", message, "a string errorMessage"],
      ["done", message, undefined],
      ["error", failed, undefined],
      ["text_end", {}, undefined],
    ] as const
  ) {
    const json = JSON.stringify({ type, message: given }).replace(/"(-?1e400)"/, "$1");
    const body = encoder.encode(`${json}\n`);
    const run = () => createEventDecoder("ndjson").push(body, () => {});
    if (missing === undefined) run();
    else {
      const error = assertThrows(run, StreamDecodeError);
      assertEquals(
        error.message,
        `Invalid event stream at line 1, byte 0: expected message with ${missing}`,
      );
      assertEquals(error.code, "invalid_message");
    }
  }
});

Deno.test("createEventDecoder takes a long line in small chunks", () => {
  const text = "x".repeat(4_000_000);
  const body = encoder.encode(JSON.stringify(text) + "\n");
  for (const format of ["ndjson", "sse"] as const) {
    const bytes = format === "sse" ? bytesOf("data: ") : bytesOf("");
    const events: unknown[] = [];
    const decoder = createEventDecoder(format);
    decoder.push(bytes, () => {});
    for (let i = 0; i < body.length; i += 64) {
      decoder.push(body.subarray(i, i + 64), (event) => events.push(event));
    }
    decoder.end((event) => events.push(event));
    assertEquals(events.length, 1);
    assert(events[0] === text);
  }
});

/** Where each frame of a body begins, in bytes and lines, however it is cut. */
const PLACES: ReadonlyArray<
  readonly [StreamEventFormat, string, ReadonlyArray<readonly [line: number, offset: number]>]
> = [
  ["ndjson", '"é"\r\n\n"😀"\n1\n"😀"\n1\n2', [[1, 0], [3, 7], [4, 14], [5, 16], [6, 23], [7, 25]]],
  ["ndjson", '\ufeff"a"\n"b"\n', [[1, 3], [2, 7]]],
  ["ndjson", '"abcdefgh"\n"ab"\n"é"\n"cd"\n"ef"\n', [[1, 0], [2, 11], [3, 16], [4, 21], [5, 26]]],
  ["sse", "event: é\ndata: 1\n\ndata: 2\ndata: 3\n\n: é\ndata: 4", [[2, 10], [4, 19], [8, 41]]],
  ["sse", "data: 1\r\rid: 0\rdata: 2\r\r", [[1, 0], [4, 15]]],
];

Deno.test("createFrameParser says where each frame is, however the body is cut", () => {
  for (const [format, body, expected] of PLACES) {
    const bytes = encoder.encode(body);
    for (let length = 1; length <= bytes.length; length++) {
      const places: Array<readonly [number, number]> = [];
      const parser = createFrameParser(format, 100);
      for (let i = 0; i < bytes.length; i += length) {
        parser.push(
          bytes.subarray(i, i + length),
          (_, frame) => places.push([frame.line, frame.byteOffset]),
        );
      }
      parser.end((_, frame) => places.push([frame.line, frame.byteOffset]));
      assertEquals(places, expected as typeof places, `${format} by ${length}`);
    }
  }
});

Deno.test("createFrameParser says it later, too, in whatever order it is asked", () => {
  const collect = (format: StreamEventFormat, body: string, length: number): Place[] => {
    const bytes = encoder.encode(body);
    const places: Place[] = [];
    const parser = createFrameParser(format, 100);
    const sink: FrameSink = (_, frame) => places.push(frame.place);
    for (let i = 0; i < bytes.length; i += length) {
      parser.push(bytes.subarray(i, i + length), sink);
    }
    parser.end(sink);
    return places;
  };
  for (const [format, body, expected] of PLACES) {
    for (let length = 1; length <= 64; length++) {
      for (const order of [1, -1]) {
        const places = collect(format, body, length);
        const asked = [...places.keys()].sort((a, b) => order * (a - b));
        const offsets = new Map(asked.map((i) => [i, places[i]?.byteOffset]));
        assertEquals(
          places.map(({ line }, i) => [line, offsets.get(i)]),
          expected.map((place) => [...place]),
          `${format} by ${length}`,
        );
      }
    }
  }
});

Deno.test("createFrameParser says the same of other frames where a shortcut takes some", () => {
  /** Takes what has "same" in it, and keeps what it is given. */
  const run = (format: StreamEventFormat, body: string, length: number, isOpen: boolean) => {
    const bytes = encoder.encode(body);
    const taken: string[] = [];
    const frames: unknown[] = [];
    const shortcut = {
      isOpen,
      lines: 0,
      take(text: string, start: number, end: number) {
        const raw = text.slice(start, end);
        this.lines = raw.split("\n").length - 1;
        if (raw.includes("same")) taken.push(raw);
        return raw.includes("same");
      },
    };
    const sink: FrameSink = (data, frame) => {
      if (!data.includes("same")) frames.push([data, frame.line, frame.byteOffset]);
    };
    const parser = createFrameParser(format, 100, undefined, shortcut);
    for (let i = 0; i < bytes.length; i += length) parser.push(bytes.subarray(i, i + length), sink);
    parser.end(sink);
    return { taken, frames };
  };
  const bodies: ReadonlyArray<readonly [StreamEventFormat, string, readonly string[]]> = [
    ["ndjson", '"a"\n"same é"\n\n"b"\n"same"\n"same"\r\n"c"\n"same', ['"same é"', '"same"']],
    [
      "sse",
      "data: same\n\ndata: é\n\nevent: e\ndata: same é\n\n\n: same\n\ndata: b\ndata: same\n\ndata: c\n\n",
      ["data: same\n\n", "event: e\ndata: same é\n\n"],
    ],
    // Never taken: its lines end in another way, or the body ends within it.
    ["sse", "data: a\r\n\r\ndata: same\r\n\r\ndata: b\n\ndata: same\n", []],
  ];
  for (const [format, body, expected] of bodies) {
    const whole = run(format, body, 1000, true);
    for (const raw of expected) assert(whole.taken.includes(raw), raw);
    if (expected.length === 0) assertEquals(whole.taken, []);
    for (let length = 1; length <= body.length; length++) {
      assertEquals(
        run(format, body, length, true).frames,
        run(format, body, length, false).frames,
        `${format} by ${length}`,
      );
    }
  }
});

Deno.test("createFrameParser gives an event as it stands in the body where it has all of it", () => {
  const collect = (format: StreamEventFormat, chunks: readonly string[]): string[] => {
    const raws: string[] = [];
    const parser = createFrameParser(format, 100);
    const sink: FrameSink = (_, frame) => raws.push(frame.raw);
    for (const chunk of chunks) parser.push(encoder.encode(chunk), sink);
    parser.end(sink);
    return raws;
  };
  assertEquals(collect("ndjson", ["1\n2", "3\r\n4"]), ["1", "23\r", "4"]);
  assertEquals(
    collect("sse", ["\n: a\nid: 1\ndata: 1\n\nda", "ta: 2\n\n", "data: 3\n", "\ndata: 4\n\n"]),
    [": a\nid: 1\ndata: 1\n\n", "data: 2\n\n", "", "data: 4\n\n"],
  );
  // The lines before belong to it, and are not there any more.
  assertEquals(collect("sse", ["data: 1\n", "data: 2\n\ndata: 3\r\n\r\ndata: 4"]), ["", "", ""]);
});
