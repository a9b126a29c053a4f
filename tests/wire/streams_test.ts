import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  createStreamEventValidator,
  type StreamEvent,
  StreamEventValidatorStream,
  StreamSequenceError,
} from "../../mod.ts";
import {
  StreamDecodeError,
  StreamEventDecoderStream,
  StreamEventEncoderStream,
} from "../../src/wire/mod.ts";
import { arbitraryLegalStream } from "../_arbitraries.ts";

const encoder = new TextEncoder();

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

function streamOf<T>(values: Iterable<T>): ReadableStream<T> {
  const iterator = values[Symbol.iterator]();
  return new ReadableStream<T>({
    pull(controller) {
      const { done, value } = iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  }, { highWaterMark: 0 });
}

async function collect<T>(
  readable: ReadableStream<T>,
  slow = false,
): Promise<{ values: T[]; error?: unknown }> {
  const values: T[] = [];
  const reader = readable.getReader();
  try {
    for (;;) {
      if (slow) await turn();
      const { done, value } = await reader.read();
      if (done) return { values };
      values.push(value);
    }
  } catch (error) {
    return { values, error };
  }
}

Deno.test("StreamEventDecoderStream undoes StreamEventEncoderStream, however the bytes are cut", async () => {
  for (const format of ["ndjson", "sse"] as const) {
    await fc.assert(
      fc.asyncProperty(
        arbitraryLegalStream(),
        fc.integer({ min: 1, max: 40 }),
        async (events, n) => {
          const encoded = streamOf(events).pipeThrough(new StreamEventEncoderStream({ format }));
          const body = new Uint8Array(await new Response(encoded).arrayBuffer());
          const chunks = [];
          for (let i = 0; i < body.length; i += n) chunks.push(body.slice(i, i + n));
          const validator = new StreamEventValidatorStream();
          const { values, error } = await collect(
            streamOf(chunks).pipeThrough(new StreamEventDecoderStream({ format }))
              .pipeThrough(validator),
          );
          assertEquals(error, undefined);
          assertEquals(values, JSON.parse(JSON.stringify(events)));
        },
      ),
      { numRuns: 60 },
    );
  }
});

Deno.test("StreamEventDecoderStream gives every event before an error, to a slow reader too", async () => {
  for (const slow of [false, true]) {
    for (const tail of ["x\n", '{"type"', "\xff"]) {
      const bytes = encoder.encode('{"type":"start"}\n{"type":"a"}\n{"type":"b"}\n');
      const body = new Uint8Array([...bytes, ...[...tail].map((c) => c.charCodeAt(0))]);
      for (const size of [1, 7, body.length]) {
        const chunks = [];
        for (let i = 0; i < body.length; i += size) chunks.push(body.slice(i, i + size));
        const { values, error } = await collect(
          streamOf(chunks).pipeThrough(new StreamEventDecoderStream({ format: "ndjson" })),
          slow,
        );
        assertEquals(values.map((event: { type: string }) => event.type), ["start", "a", "b"]);
        assert(StreamDecodeError.is(error));
        assertEquals([error.line, error.byteOffset], [4, bytes.length]);
      }
    }
  }
});

Deno.test("StreamEventDecoderStream gives every event before upstream's failure", async () => {
  const reason = new Error("reset");
  let pulls = 0;
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (pulls++ === 0) controller.enqueue(encoder.encode('{"type":"a"}\n{"type":"b"}\n{'));
      else controller.error(reason);
    },
  });
  const { values, error } = await collect(
    source.pipeThrough(new StreamEventDecoderStream({ format: "ndjson" })),
    true,
  );
  assertEquals(values.length, 2);
  assertStrictEquals(error, reason);
});

Deno.test("StreamEventDecoderStream cancels upstream when the consumer cancels", async () => {
  for (const reads of [0, 1, 2]) {
    let cancelled: unknown;
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(encoder.encode('{"type":"a"}\n')),
      cancel: (reason) => {
        cancelled = reason;
      },
    });
    const reader = source.pipeThrough(new StreamEventDecoderStream({ format: "ndjson" }))
      .getReader();
    for (let i = 0; i < reads; i++) await reader.read();
    await turn();
    const reason = new Error("enough");
    await reader.cancel(reason);
    await turn();
    assertStrictEquals(cancelled, reason);
  }
});

Deno.test("StreamEventDecoderStream lets an abort through while nobody reads", async () => {
  const stream = new StreamEventDecoderStream({ format: "ndjson" });
  const writer = stream.writable.getWriter();
  writer.closed.catch(() => {});
  const write = writer.write(encoder.encode('{"type":"a"}\n'));
  write.catch(() => {});
  await turn();
  const reason = new Error("gone");
  await writer.abort(reason);
  assertStrictEquals(await assertRejects(() => write), reason);
  assertStrictEquals(await assertRejects(() => stream.readable.getReader().read()), reason);
});

Deno.test("StreamEventDecoderStream decodes no chunk before a reader waits", async () => {
  const line = '{"type":"a"}\n';
  // How many events were decoded after no read, one, and three.
  for (
    const [chunks, counts] of [
      [[line, line, line, line], [0, 1, 3]],
      [[line + line, line + line, line + line], [0, 2, 4]],
      [["\n", line, "\n", line, line, line], [0, 1, 3]],
      [["", line, line + line, line], [0, 1, 3]],
    ] as const
  ) {
    let decoded = 0;
    const validator = createStreamEventValidator();
    const stream = new StreamEventDecoderStream({
      format: "ndjson",
      validator: {
        phase: "streaming",
        accept: () => void decoded++,
        end: () => {},
        partialContent: () => validator.partialContent(),
      },
    });
    const writer = stream.writable.getWriter();
    writer.closed.catch(() => {});
    for (const chunk of chunks) writer.write(encoder.encode(chunk)).catch(() => {});
    const reader = stream.readable.getReader();
    const seen = [];
    for (const reads of [0, 1, 2]) {
      await Promise.all(Array.from({ length: reads }, () => reader.read()));
      await turn();
      seen.push(decoded);
    }
    assertEquals(seen, [...counts]);
    await reader.cancel();
  }
});

Deno.test("StreamEventEncoderStream refuses what cannot be written, and writes no second event of a type", async () => {
  for (
    const [event, received] of [
      [undefined, "undefined"],
      [() => {}, "a function"],
      [Symbol("a"), "a symbol"],
      [{ toJSON: () => undefined }, "an object"],
    ] as const
  ) {
    for (const format of ["ndjson", "sse"] as const) {
      const encoded = streamOf([event as unknown as StreamEvent])
        .pipeThrough(new StreamEventEncoderStream({ format }));
      const { values, error } = await collect(encoded);
      assertEquals(values, []);
      assert(error instanceof TypeError);
      assertEquals(error.message, `Expected an event that JSON can express, received ${received}`);
    }
  }
  for (
    const type of ["a\n\ndata: 1\n\n", "a\rdata: 1\r\r", "a\r\nid: 9", "", {}, undefined, 1, null]
  ) {
    const events = [{ type, n: 1 }, { type: "b", n: 2 }, null, "text", [1]];
    const encoded = streamOf(events as unknown as StreamEvent[])
      .pipeThrough(new StreamEventEncoderStream({ format: "sse" }))
      .pipeThrough(new StreamEventDecoderStream({ format: "sse" }));
    const { values, error } = await collect(encoded);
    assertEquals(error, undefined);
    assertEquals<unknown>(values, JSON.parse(JSON.stringify(events)));
  }
});

Deno.test("StreamEventDecoderStream makes a fast source wait for a slow reader", async () => {
  let pulls = 0;
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulls++;
      controller.enqueue(encoder.encode('{"type":"a"}\n'));
    },
  }, { highWaterMark: 0 });
  const reader = source.pipeThrough(new StreamEventDecoderStream({ format: "ndjson" })).getReader();
  for (let i = 0; i < 3; i++) await reader.read();
  await turn();
  assert(pulls <= 6, `pulled ${pulls} chunks for 3 reads`);
  await reader.cancel();
});

Deno.test("StreamEventDecoderStream validates when given a validator, however the bytes are cut", async () => {
  const legal = '{"type":"start"}\n{"type":"text_start","contentIndex":0}\n';
  const bodies = [
    [legal, "truncated", 2],
    [
      `${legal}{"type":"text_delta","contentIndex":1,"delta":"x"}\n{"type":"start"}\n`,
      "wrong_index",
      2,
    ],
    [`${legal}{"type":"start"}\n`, "duplicate_start", 2],
  ] as const;
  for (const [body, code, count] of bodies) {
    for (const slow of [false, true]) {
      for (let size = 1; size <= body.length; size += 9) {
        let cancelled: unknown;
        const bytes = encoder.encode(body);
        let at = 0;
        const source = new ReadableStream<Uint8Array>({
          pull(controller) {
            if (at < bytes.length) controller.enqueue(bytes.slice(at, at += size));
            else controller.close();
          },
          cancel(reason) {
            cancelled = reason;
          },
        }, { highWaterMark: 0 });
        const validator = createStreamEventValidator();
        const decoder = new StreamEventDecoderStream({ format: "ndjson", validator });
        const { values, error } = await collect(source.pipeThrough(decoder), slow);
        assertEquals(values.length, count);
        assert(error instanceof StreamSequenceError);
        assertEquals(error.code, code);
        assertEquals(validator.partialContent(), [{ type: "text", text: "" }]);
        await turn(); // The pipe cancels a little later.
        // A source that has closed can be cancelled no more.
        if (code !== "truncated" && at < bytes.length) assertStrictEquals(cancelled, error);
      }
    }
  }
});

Deno.test("StreamEventDecoderStream leaves a legal stream untouched when given a validator", async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryLegalStream(), async (events) => {
      const body = encoder.encode(events.map((event) => JSON.stringify(event)).join("\n"));
      const validator = createStreamEventValidator();
      const decoder = new StreamEventDecoderStream({ format: "ndjson", validator });
      const { values, error } = await collect(streamOf([body]).pipeThrough(decoder));
      assertEquals(error, undefined);
      assertEquals(values, JSON.parse(JSON.stringify(events)));
      assertEquals(validator.phase, "terminal");
    }),
    { numRuns: 40 },
  );
});

Deno.test("StreamEventDecoderStream locks the sides that it has of its class, which decode nothing", () => {
  const stream = new StreamEventDecoderStream({ format: "ndjson" });
  for (const side of ["readable", "writable"] as const) {
    assert(Reflect.get(TransformStream.prototype, side, stream).locked);
    assert(!stream[side].locked);
  }
});

Deno.test("StreamEventDecoderStream refuses what is no bytes", async () => {
  const stream = new StreamEventDecoderStream({ format: "sse" });
  const writer = stream.writable.getWriter();
  writer.closed.catch(() => {});
  const reading = assertRejects(() => stream.readable.getReader().read(), TypeError);
  const error = await assertRejects(
    () => writer.write("data: 1\n\n" as unknown as Uint8Array),
    TypeError,
    "Expected a chunk to be a Uint8Array, received a string",
  );
  assertStrictEquals(await reading, error);
});

Deno.test("StreamEventDecoderStream.for goes by the content type", async () => {
  for (
    const [contentType, body] of [
      ["application/x-ndjson", '{"type":"start"}\n'],
      ["Application/NDJSON; charset=utf-8", '{"type":"start"}'],
      ["application/jsonl", '{"type":"start"}\r\n'],
      ["text/event-stream;charset=UTF-8", 'data: {"type":"start"}\n\n'],
    ] as const
  ) {
    const response = new Response(body, { headers: { "content-type": contentType } });
    const { values } = await collect(
      (response.body as ReadableStream<Uint8Array<ArrayBuffer>>)
        .pipeThrough(StreamEventDecoderStream.for(response)),
    );
    assertEquals(values, [{ type: "start" }] as StreamEvent[]);
  }
  assertThrows(
    () =>
      StreamEventDecoderStream.for(new Response("", { headers: { "content-type": "text/html" } })),
    StreamDecodeError,
    'Invalid event stream: expected content type "application/x-ndjson" or "text/event-stream", or the option "format", ' +
      'received "text/html"',
  );
  const headers = { "content-type": "text/event-stream" };
  const error = assertThrows(
    () => StreamEventDecoderStream.for(new Response("busy", { status: 503, headers })),
    StreamDecodeError,
    "Invalid event stream: expected an OK status, received 503",
  );
  assertEquals(JSON.parse(JSON.stringify(error)), {
    name: "StreamDecodeError",
    message: "Invalid event stream: expected an OK status, received 503",
    code: "unexpected_status",
    line: 0,
    byteOffset: 0,
    status: 503,
  });
  assertEquals(error.status, 503);
  assertThrows(
    () => new StreamEventDecoderStream({ format: "xml" as "sse" }),
    TypeError,
    'Expected format "ndjson" or "sse", received "xml"',
  );
  assertThrows(
    () => new StreamEventDecoderStream({ format: "sse", maxLineLength: 0 }),
    RangeError,
    "Expected maxLineLength to be from 1 on, received 0",
  );
});
