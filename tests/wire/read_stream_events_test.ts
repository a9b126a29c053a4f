import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  type AssistantMessage,
  type StreamEvent,
  StreamEventValidatorStream,
  StreamSequenceError,
  toStreamEvents,
} from "../../mod.ts";
import {
  readStreamEvents,
  StreamDecodeError,
  StreamEventDecoderStream,
} from "../../src/wire/mod.ts";
import { arbitraryLegalStream } from "../_arbitraries.ts";
import { serve } from "../_serve.ts";
import { USAGE } from "../_usage.ts";

const encoder = new TextEncoder();

const MESSAGE: AssistantMessage = {
  role: "assistant",
  content: [
    { type: "text", text: "Łódź 😀" },
    { type: "tool_call", id: "call_1", name: "lookup", arguments: { city: "Oslo" } },
  ],
  provider: "demo",
  model: "demo-1",
  usage: USAGE,
  timestamp: 0,
  stopReason: "tool_use",
};

const EVENTS = toStreamEvents(MESSAGE, { deltaLength: 2 });

function write(events: readonly unknown[], format: "ndjson" | "sse"): Uint8Array<ArrayBuffer> {
  return encoder.encode(
    events.map((event) => JSON.stringify(event))
      .map((json) => format === "sse" ? `data: ${json}\n\n` : `${json}\n`).join(""),
  );
}

function turn(milliseconds = 0): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

interface Source {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly cancelled: () => readonly unknown[];
}

/** A body of the chunks that then ends as it is told. */
function sourceOf(
  chunks: readonly Uint8Array<ArrayBuffer>[],
  ending: "close" | "stay open" | Error = "close",
): Source {
  const cancelled: unknown[] = [];
  let i = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const chunk = chunks[i++];
      if (chunk) controller.enqueue(chunk);
      else if (ending === "close") controller.close();
      else if (ending !== "stay open") controller.error(ending);
      else return new Promise(() => {});
      return undefined;
    },
    cancel: (reason) => {
      cancelled.push(reason);
    },
  }, { highWaterMark: 0 });
  return { body, cancelled: () => cancelled };
}

function chunksOf(bytes: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer>[] {
  const chunks = [];
  for (let i = 0; i < bytes.length; i += size) chunks.push(bytes.slice(i, i + size));
  return chunks;
}

async function collect(
  source: AsyncIterable<StreamEvent>,
): Promise<{ values: StreamEvent[]; error?: unknown }> {
  const values: StreamEvent[] = [];
  try {
    for await (const value of source) values.push(value);
    return { values };
  } catch (error) {
    return { values, error };
  }
}

Deno.test("readStreamEvents gives every event, however the body is cut", async () => {
  for (const format of ["ndjson", "sse"] as const) {
    const body = write(EVENTS, format);
    for (let size = 1; size <= body.length; size = size < 9 ? size + 1 : size * 3) {
      const stream = readStreamEvents(sourceOf(chunksOf(body, size)).body, { format });
      assertEquals(await collect(stream), { values: EVENTS });
      assertEquals(await stream.result(), MESSAGE);
      assertEquals(stream.partialContent(), [...MESSAGE.content]);
    }
  }
});

Deno.test("readStreamEvents agrees with the chained streams on damaged streams too", async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitraryLegalStream(),
      fc.nat(),
      fc.constantFrom("drop", "double", "cut", "garble"),
      fc.integer({ min: 1, max: 60 }),
      async (events, at, damage, size) => {
        const i = at % events.length;
        const damaged = damage === "drop"
          ? events.toSpliced(i, 1)
          : damage === "double"
          ? events.toSpliced(i, 0, events[i] as StreamEvent)
          : damage === "cut"
          ? events.slice(0, i)
          : events;
        const body = write(damaged, "ndjson");
        if (damage === "garble") body[(at * 31) % body.length] = 0xff;
        const chained = await collect(
          sourceOf(chunksOf(body, size)).body
            .pipeThrough(new StreamEventDecoderStream({ format: "ndjson" }))
            .pipeThrough(new StreamEventValidatorStream()),
        );
        const fused = await collect(
          readStreamEvents(sourceOf(chunksOf(body, size)).body, { format: "ndjson" }),
        );
        // The fused way stops at the terminal event; the chained one sees what follows.
        const terminal = chained.values.at(-1)?.type;
        assertEquals(fused.values, chained.values);
        if (terminal !== "done" && terminal !== "error") {
          assertEquals(String(fused.error), String(chained.error));
        } else {
          assertEquals(fused.error, undefined);
        }
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("readStreamEvents needs nothing but result()", async () => {
  await serve(
    () => new Response(write(EVENTS, "sse"), { headers: { "content-type": "text/event-stream" } }),
    async (url) => {
      assertEquals(await readStreamEvents(fetch(url)).result(), MESSAGE);
    },
  );
});

Deno.test("readStreamEvents ends at the terminal event though the server holds the body open", async () => {
  for (const how of ["loop", "result"] as const) {
    const source = sourceOf([write(EVENTS, "ndjson"), encoder.encode("garbage")], "stay open");
    const stream = readStreamEvents(source.body, { format: "ndjson" });
    if (how === "loop") assertEquals((await collect(stream)).values.length, EVENTS.length);
    assertEquals(await stream.result(), MESSAGE);
    await turn();
    assertEquals(source.cancelled().length, 0); // Its end may still come.
    while (source.cancelled().length === 0) await turn();
  }
  let hungUp: () => void;
  const gone = new Promise<void>((resolve) => hungUp = resolve);
  await serve(
    () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(write(EVENTS, "ndjson")),
          cancel: () => hungUp(),
        }),
        { headers: { "content-type": "application/x-ndjson" } },
      ),
    async (url) => {
      const stream = readStreamEvents(fetch(url));
      assertEquals((await collect(stream)).values, EVENTS);
      assertEquals(await stream.result(), MESSAGE);
      await gone;
    },
  );
});

Deno.test("readStreamEvents uses a connection again whose body ends a little after the terminal event", async () => {
  const clients = new Set<number>();
  await serve(
    (_, { remoteAddr }) => {
      clients.add(remoteAddr.port);
      const body = new ReadableStream({
        async start(controller) {
          controller.enqueue(write(EVENTS, "ndjson"));
          await new Promise((resolve) => setTimeout(resolve, 20));
          controller.enqueue(encoder.encode("\ngarbage"));
          controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
    },
    async (url) => {
      for (let i = 0; i < 4; i++) {
        assertEquals(await readStreamEvents(fetch(url)).result(), MESSAGE);
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
    },
  );
  assertEquals(clients.size, 1);
});

Deno.test("readStreamEvents does not read for ever behind the terminal event", async () => {
  for (const ending of [undefined, new Error("reset")]) {
    let pulls = 0;
    let isGone = false;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        if (++pulls === 9 && ending) controller.error(ending);
        else controller.enqueue(pulls === 1 ? write(EVENTS, "ndjson") : new Uint8Array(9));
      },
      cancel() {
        isGone = true;
      },
    });
    assertEquals(await readStreamEvents(body, { format: "ndjson" }).result(), MESSAGE);
    for (let i = 0; i < 3; i++) await turn();
    assertEquals(isGone, ending === undefined);
    assert(pulls < 100, `${pulls} chunks`);
  }
});

Deno.test("readStreamEvents gives every accepted event and then the violation, the same everywhere", async () => {
  for (let k = 0; k < EVENTS.length; k++) {
    const events = [...EVENTS.slice(0, k), { type: "text_delta", contentIndex: 99, delta: "" }];
    const source = sourceOf([write(events, "ndjson")], "stay open");
    const stream = readStreamEvents(source.body, { format: "ndjson" });
    const { values, error } = await collect(stream);
    assertEquals(values, EVENTS.slice(0, k));
    assert(StreamSequenceError.is(error));
    assertEquals(error.eventIndex, k);
    assertStrictEquals(await assertRejects(() => stream.result()), error);
    assertEquals(source.cancelled(), [error]);
  }
});

Deno.test("readStreamEvents rejects with truncated when the body ends early", async () => {
  for (let k = 0; k < EVENTS.length; k++) {
    const stream = readStreamEvents(sourceOf([write(EVENTS.slice(0, k), "sse")]).body, {
      format: "sse",
    });
    const error = await assertRejects(() => stream.result(), StreamSequenceError);
    assertEquals([error.code, error.eventIndex], ["truncated", k]);
  }
});

Deno.test("readStreamEvents rejects with what the body failed with", async () => {
  const reset = new Error("reset");
  const source = sourceOf([write(EVENTS.slice(0, 3), "ndjson")], reset);
  const stream = readStreamEvents(source.body, { format: "ndjson" });
  const { values, error } = await collect(stream);
  assertEquals(values, EVENTS.slice(0, 3));
  assertStrictEquals(error, reset);
  assertStrictEquals(await assertRejects(() => stream.result()), reset);

  const refused = readStreamEvents(Promise.reject(reset));
  assertStrictEquals(await assertRejects(() => refused.result()), reset);
});

Deno.test("readStreamEvents lets the body go when the loop is left", async () => {
  for (let k = 0; k < EVENTS.length; k++) {
    const source = sourceOf([write(EVENTS, "ndjson").slice(0, -1)], "stay open");
    const stream = readStreamEvents(source.body, { format: "ndjson" });
    const iterator = stream[Symbol.asyncIterator]();
    for (let i = 0; i < k; i++) await iterator.next();
    await iterator.return?.();
    assertEquals(await iterator.next(), { done: true, value: undefined });
    const error = await assertRejects(() => stream.result(), DOMException);
    assertEquals(error.name, "AbortError");
    await turn();
    assertEquals(source.cancelled(), [error]);
  }
});

Deno.test("readStreamEvents ends at once when its signal fires", async () => {
  for (let k = 0; k < EVENTS.length; k++) {
    const source = sourceOf([write(EVENTS.slice(0, k), "ndjson")], "stay open");
    const controller = new AbortController();
    const stream = readStreamEvents(source.body, { format: "ndjson", signal: controller.signal });
    const iterator = stream[Symbol.asyncIterator]();
    for (let i = 0; i < k; i++) await iterator.next();
    const next = iterator.next();
    await turn();
    const reason = new Error("deadline");
    controller.abort(reason);
    assertStrictEquals(await assertRejects(() => next), reason);
    assertStrictEquals(await assertRejects(() => stream.result()), reason);
    await turn();
    assertEquals(source.cancelled(), [reason]);
  }
});

Deno.test("readStreamEvents lets the body go when its signal fired before it came", async () => {
  const reason = new Error("before");
  for (const early of [true, false]) {
    const source = sourceOf([write(EVENTS, "ndjson")], "stay open");
    const controller = new AbortController();
    if (early) controller.abort(reason);
    let arrive!: (body: ReadableStream<Uint8Array>) => void;
    const coming = new Promise<ReadableStream<Uint8Array>>((resolve) => arrive = resolve);
    const stream = readStreamEvents(coming, { format: "ndjson", signal: controller.signal });
    const result = assertRejects(() => stream.result());
    await turn();
    controller.abort(reason);
    assertStrictEquals(await result, reason);
    arrive(source.body);
    await turn();
    assertEquals(source.cancelled(), [reason]);
  }
});

Deno.test("readStreamEvents lets the body go whenever it is left while the body comes", async () => {
  const reason = new Error("while it came");
  for (let microtasks = 0; microtasks < 12; microtasks++) {
    for (const leaving of ["return", "abort"]) {
      const source = sourceOf([], "stay open");
      const controller = new AbortController();
      let arrive!: (body: ReadableStream<Uint8Array>) => void;
      const coming = new Promise<ReadableStream<Uint8Array>>((resolve) => arrive = resolve);
      const stream = readStreamEvents(coming, { format: "ndjson", signal: controller.signal });
      const iterator = stream[Symbol.asyncIterator]();
      const next = iterator.next().catch(() => {});
      await turn();
      arrive(source.body);
      for (let i = 0; i < microtasks; i++) await undefined;
      if (leaving === "return") await iterator.return?.();
      else controller.abort(reason);
      await next;
      await turn();
      assertEquals(source.cancelled().length, 1, `${leaving} after ${microtasks} microtasks`);
      if (leaving === "abort") assertStrictEquals(source.cancelled()[0], reason);
    }
  }
});

Deno.test("readStreamEvents takes an empty chunk for no byte", async () => {
  let timer: ReturnType<typeof setInterval> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(() => controller.enqueue(new Uint8Array(0)), 5);
    },
    cancel: () => clearInterval(timer),
  });
  const result = readStreamEvents(body, { format: "ndjson", idleTimeout: 40 }).result();
  const outcome = await Promise.race([
    result.catch((error) => error.name),
    turn(1000).then(() => clearInterval(timer)),
  ]);
  assertEquals(outcome, "TimeoutError");
});

Deno.test("readStreamEvents fails with a TimeoutError when no byte comes", async () => {
  for (const chunks of [[], [write(EVENTS.slice(0, 2), "ndjson")]]) {
    const source = sourceOf(chunks, "stay open");
    const stream = readStreamEvents(source.body, { format: "ndjson", idleTimeout: 20 });
    const error = await assertRejects(() => stream.result(), DOMException);
    assertEquals(error.name, "TimeoutError");
    assertEquals(error.message, "No byte came for 20 milliseconds");
    assertEquals(source.cancelled(), [error]);
  }
  const never = readStreamEvents(new Promise<Response>(() => {}), { idleTimeout: 20 });
  const error = await assertRejects(() => never.result(), DOMException);
  assertEquals(error.name, "TimeoutError");
  // The consumer's own time does not count.
  const stream = readStreamEvents(sourceOf(chunksOf(write(EVENTS, "ndjson"), 400)).body, {
    format: "ndjson",
    idleTimeout: 30,
  });
  for await (const event of stream) if (event.type === "start") await turn(60);
  assertEquals(await stream.result(), MESSAGE);
  // No timer waits longer than 25 days; one that should would fire at once.
  for (const idleTimeout of [2 ** 31, 1e300]) {
    const source = sourceOf([], "stay open");
    const silent = readStreamEvents(source.body, { format: "ndjson", idleTimeout });
    const iterator = silent[Symbol.asyncIterator]();
    assertEquals(await Promise.race([iterator.next(), turn(40)]), undefined);
    await iterator.return?.();
  }
});

Deno.test("readStreamEvents lets a loop go on behind calls of next", async () => {
  const stream = readStreamEvents(sourceOf([write(EVENTS, "ndjson")]).body, { format: "ndjson" });
  const iterator = stream[Symbol.asyncIterator]();
  const events = [(await iterator.next()).value];
  for await (const event of iterator) events.push(event);
  assertEquals(events, EVENTS);
});

Deno.test("readStreamEvents reads the content type before it touches the body", async () => {
  // Bun forgets the type of a Blob when the body is touched first.
  const response = new Response(write(EVENTS, "ndjson"));
  response.headers.set("content-type", "application/x-ndjson");
  const forgetful = {
    ok: true,
    status: 200,
    headers: response.headers,
    get body() {
      response.headers.delete("content-type");
      return response.body;
    },
  };
  const stream = readStreamEvents(forgetful as unknown as Response);
  assertEquals(await stream.result(), MESSAGE);
});

Deno.test("readStreamEvents says what is wrong with a response", async () => {
  const headers = { "content-type": "text/html" };
  for (
    const [response, code] of [
      [new Response("<p>", { headers }), "unsupported_content_type"],
      [new Response("<p>", { headers, status: 502 }), "unexpected_status"],
    ] as const
  ) {
    const error = await assertRejects(() => readStreamEvents(response).result(), StreamDecodeError);
    assertEquals(error.code, code);
  }
  const empty = new Response(null, { headers: { "content-type": "text/event-stream" } });
  const error = await assertRejects(() => readStreamEvents(empty).result(), StreamSequenceError);
  assertEquals(error.code, "truncated");
  await assertRejects(
    () => readStreamEvents(sourceOf([]).body).result(),
    TypeError,
    'Expected the option "format" to be "ndjson" or "sse" for a body without a content type',
  );
  await assertRejects(
    () => readStreamEvents("x" as unknown as Response, { format: "sse" }).result(),
    TypeError,
    "Expected a Response or a ReadableStream, received a string",
  );
  await assertRejects(
    () => readStreamEvents(null as unknown as Response, { format: "sse" }).result(),
    TypeError,
    "Expected a Response or a ReadableStream, received null",
  );
  const locked = sourceOf([]).body;
  locked.getReader();
  await assertRejects(() => readStreamEvents(locked, { format: "sse" }).result(), TypeError);
  assertThrows(() => readStreamEvents(empty, { idleTimeout: -1 }), RangeError);
  assertThrows(() => readStreamEvents(empty, { maxLineLength: 0 }), RangeError);
  assertThrows(() => readStreamEvents(empty, { maxLineLength: "9" as never }), TypeError);
  assertThrows(() => readStreamEvents(empty, { idleTimeout: null as never }), TypeError);
  assertThrows(() => readStreamEvents(empty, { signal: {} as never }), TypeError);
});

Deno.test("readStreamEvents refuses a body of anything but bytes", async () => {
  for (
    const [chunk, kind] of [
      [null, "null"],
      ["data: 1\n\n", "a string"],
      [5, "a number"],
      [new ArrayBuffer(3), "bytes"],
      [new Uint16Array(3), "bytes"],
    ] as const
  ) {
    const body = new ReadableStream({ start: (controller) => controller.enqueue(chunk) });
    await assertRejects(
      () => readStreamEvents(body as ReadableStream<never>, { format: "sse" }).result(),
      TypeError,
      `Expected a chunk to be a Uint8Array, received ${kind}`,
    );
  }
});

Deno.test("readStreamEvents takes a response of another class", async () => {
  const { body } = sourceOf([write(EVENTS, "ndjson")]);
  const headers = new Headers({ "content-type": "application/x-ndjson" });
  const response = { ok: true, status: 200, headers, body } as unknown as Response;
  assertEquals(await readStreamEvents(response).result(), MESSAGE);
});

Deno.test("readStreamEvents says what is wrong with a response whose body is none of the platform's", async () => {
  const headers = new Headers({ "content-type": "text/html" });
  for (
    const body of [{}, { cancel: () => undefined }, {
      cancel: () => {
        throw new Error("no");
      },
    }]
  ) {
    for (
      const [fields, code] of [
        [{ ok: false, status: 500 }, "unexpected_status"],
        [{ ok: true, status: 200 }, "unsupported_content_type"],
      ] as const
    ) {
      const response = { ...fields, headers, body } as unknown as Response;
      const error = await assertRejects(
        () => readStreamEvents(response).result(),
        StreamDecodeError,
      );
      assertEquals(error.code, code);
    }
  }
});

Deno.test("readStreamEvents is read by one: a second iterator, or one after result(), is refused", async () => {
  const body = () => sourceOf([write(EVENTS, "ndjson")]).body;
  const twice = readStreamEvents(body(), { format: "ndjson" });
  twice[Symbol.asyncIterator]();
  assertThrows(
    () => twice[Symbol.asyncIterator](),
    TypeError,
    "The stream supports exactly one async iterator",
  );
  // In the same turn, the loop is the one that reads.
  const both = readStreamEvents(body(), { format: "ndjson" });
  const result = both.result();
  assertEquals((await collect(both)).values, EVENTS);
  assertEquals(await result, MESSAGE);
  const drained = readStreamEvents(body(), { format: "ndjson" });
  await drained.result();
  assertThrows(
    () => drained[Symbol.asyncIterator](),
    TypeError,
    "The stream is being read by result(); iterate first",
  );
});

Deno.test("readStreamEvents answers concurrent calls of next in order", async () => {
  const stream = readStreamEvents(sourceOf(chunksOf(write(EVENTS, "ndjson"), 50)).body, {
    format: "ndjson",
  });
  const iterator = stream[Symbol.asyncIterator]();
  const nexts = await Promise.all(Array.from({ length: EVENTS.length + 2 }, () => iterator.next()));
  assertEquals(nexts.slice(0, EVENTS.length).map((next) => next.value), EVENTS);
  assertEquals(nexts.slice(EVENTS.length).map((next) => next.done), [true, true]);
});

Deno.test("readStreamEvents makes a fast server wait for a slow reader, in flat memory", async () => {
  const chunk = encoder.encode(
    (JSON.stringify({ type: "text_delta", contentIndex: 0, delta: "" }) + "\n").repeat(1_000),
  );
  const head = write([{ type: "start" }, { type: "text_start", contentIndex: 0 }], "ndjson");
  let sent = 0;
  await serve(
    () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(head),
          pull(controller) {
            sent += chunk.length;
            controller.enqueue(chunk);
          },
        }),
        { headers: { "content-type": "application/x-ndjson" } },
      ),
    async (url) => {
      const stream = readStreamEvents(fetch(url));
      const iterator = stream[Symbol.asyncIterator]();
      for (let i = 0; i < 10; i++) await iterator.next();
      await turn(300);
      const before = sent;
      await turn(300);
      // What the sockets hold is all that the server could send.
      assertEquals(sent, before);
      assert(sent < 64 * 1024 * 1024, `sent ${sent} bytes for 10 events`);
      await iterator.return?.();
    },
  );
});

Deno.test("readStreamEvents reads forty megabytes in flat memory", async () => {
  const line = JSON.stringify({ type: "text_delta", contentIndex: 0, delta: "" }) + "\n";
  const chunk = encoder.encode(line.repeat(1_000));
  const count = Math.ceil(40_000_000 / chunk.length);
  const head = write([{ type: "start" }, { type: "text_start", contentIndex: 0 }], "ndjson");
  let sent = 0;
  await serve(
    () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(head),
          pull(controller) {
            if (sent++ < count) controller.enqueue(chunk);
            else controller.close();
          },
        }),
        { headers: { "content-type": "application/x-ndjson" } },
      ),
    async (url) => {
      let events = 0;
      let peak = 0;
      const before = Deno.memoryUsage().heapUsed;
      const stream = readStreamEvents(fetch(url));
      await assertRejects(
        async () => {
          for await (const _ of stream) {
            if (++events % 10_000 === 0) peak = Math.max(peak, Deno.memoryUsage().heapUsed);
          }
        },
        StreamSequenceError,
        "text at contentIndex 0 is open",
      );
      assertEquals(events, count * 1_000 + 2);
      assert(peak - before < 64_000_000, `the heap grew by ${peak - before} bytes`);
    },
  );
});
