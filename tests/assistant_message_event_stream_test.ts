import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import {
  type AssistantMessageEventStream,
  createAssistantMessageEventStream,
  EventStream,
  type StreamEvent,
  StreamSequenceError,
} from "../mod.ts";
import { arbitraryFailure, arbitraryLegalStream, arbitrarySuccess } from "./_arbitraries.ts";

const DONE: StreamEvent = {
  type: "done",
  reason: "stop",
  message: arbitrarySuccess([{ type: "text", text: "Hi" }], "stop"),
};

const EVENTS: readonly StreamEvent[] = [
  { type: "start" },
  { type: "text_start", contentIndex: 0 },
  { type: "text_delta", contentIndex: 0, delta: "Hi" },
  { type: "text_end", contentIndex: 0, content: "Hi" },
  DONE,
];

/** No stream accepts this one, wherever it comes. */
const IMPOSSIBLE: StreamEvent = { type: "text_delta", contentIndex: 99, delta: "x" };

function createStream(events: readonly StreamEvent[] = []): AssistantMessageEventStream {
  const stream = createAssistantMessageEventStream();
  for (const event of events) stream.push(event);
  return stream;
}

async function readAll(
  iterable: AsyncIterable<StreamEvent>,
): Promise<{ seen: StreamEvent[]; error?: unknown }> {
  const seen: StreamEvent[] = [];
  try {
    for await (const event of iterable) seen.push(event);
    return { seen };
  } catch (error) {
    return { seen, error };
  }
}

async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("Expected a rejection");
}

Deno.test("createAssistantMessageEventStream resolves with the message of done", async () => {
  const stream = createStream(EVENTS);
  assertInstanceOf(stream, EventStream);
  assertEquals(await readAll(stream), { seen: [...EVENTS] });
  assertStrictEquals(await stream.result(), DONE.message);
  assertEquals(stream.partialContent(), [{ type: "text", text: "Hi" }]);
});

Deno.test("createAssistantMessageEventStream resolves with the message of error", async () => {
  const message = arbitraryFailure([{ type: "text", text: "Hi" }], "aborted");
  const events: StreamEvent[] = [
    ...EVENTS.slice(0, 3),
    { type: "error", reason: "aborted", message },
  ];
  const stream = createStream(events);
  assertStrictEquals(await stream.result(), message);
  assertEquals(await readAll(stream), { seen: events });
});

Deno.test("createAssistantMessageEventStream throws at the producer what the consumer and result() see, at every moment", async () => {
  for (let k = 0; k < EVENTS.length; k++) {
    const stream = createStream(EVENTS.slice(0, k));
    const before = stream.partialContent();
    const error: StreamSequenceError = assertThrows(
      () => stream.push(IMPOSSIBLE),
      StreamSequenceError,
    );
    assertEquals(error.eventIndex, k);
    assertEquals(
      error.code,
      k === 0 ? "expected_start" : k < 2 || k > 3 ? "wrong_block" : "wrong_index",
    );
    assertEquals(stream.partialContent(), before);
    assertThrows(() => stream.push(DONE), Error, "EventStream is already settled");
    const { seen, error: seenError } = await readAll(stream);
    assertEquals(seen, EVENTS.slice(0, k));
    assertStrictEquals(seenError, error);
    assertStrictEquals(await reasonOf(stream.result()), error);
    assert(!stream.signal.aborted);
  }
});

Deno.test("createAssistantMessageEventStream rejects with truncated when it is ended early, at every moment", async () => {
  for (let k = 0; k < EVENTS.length; k++) {
    const stream = createStream(EVENTS.slice(0, k));
    stream.end();
    const error = await reasonOf(stream.result());
    assertInstanceOf(error, StreamSequenceError);
    assertEquals(error.code, "truncated");
    assertEquals(error.eventIndex, k);
    const read = await readAll(stream);
    assertEquals(read.seen, EVENTS.slice(0, k));
    assertStrictEquals(read.error, error);
  }
});

Deno.test("createAssistantMessageEventStream rejects with the cause when the producer fails, at every moment", async () => {
  for (let k = 0; k < EVENTS.length; k++) {
    const cause = new Error("Connection lost");
    const stream = createStream(EVENTS.slice(0, k));
    stream.fail(cause);
    const read = await readAll(stream);
    assertEquals(read.seen, EVENTS.slice(0, k));
    assertStrictEquals(read.error, cause);
    assertStrictEquals(await reasonOf(stream.result()), cause);
  }
});

Deno.test("createAssistantMessageEventStream aborts its signal when the consumer breaks, at every moment", async () => {
  for (let k = 1; k < EVENTS.length; k++) {
    const stream = createStream(EVENTS.slice(0, k));
    let reads = 0;
    for await (const _event of stream) if (++reads === k) break;
    assertEquals(reads, k);
    const reason = await reasonOf(stream.result());
    assertInstanceOf(reason, DOMException);
    assertEquals(reason.name, "AbortError");
    assertStrictEquals(stream.signal.reason, reason);
    const error = assertThrows(() => stream.push(EVENTS[k] as StreamEvent), DOMException);
    assertStrictEquals(error, reason);
  }
});

Deno.test("createAssistantMessageEventStream settles and takes nothing more when a terminal event was pushed", async () => {
  const stream = createStream(EVENTS);
  stream.fail(new Error("Late"));
  stream.end();
  assertThrows(() => stream.push(DONE), Error, "EventStream is already settled");
  assertThrows(() => stream.push(IMPOSSIBLE), Error, "EventStream is already settled");
  assertStrictEquals(await stream.result(), DONE.message);
});

Deno.test("createAssistantMessageEventStream has the limits that it is given", async () => {
  const stream = createAssistantMessageEventStream({ limits: { messageLength: 3 } });
  for (const event of EVENTS.slice(0, 3)) stream.push(event);
  const error = assertThrows(
    () => stream.push({ type: "text_delta", contentIndex: 0, delta: "Hi" }),
    StreamSequenceError,
  );
  assertEquals(error.code, "limit_exceeded");
  assertStrictEquals(await reasonOf(stream.result()), error);
  assertThrows(
    () => createAssistantMessageEventStream({ limits: { contentBlocks: -1 } }),
    RangeError,
  );
});

Deno.test("createAssistantMessageEventStream refuses what is no event at all", async () => {
  const throws = {
    get type() {
      throw new Error("Unreadable");
    },
  };
  for (const event of [null, undefined, 7, "start", [], {}, throws, { type: "done" }]) {
    const stream = createStream();
    stream.push({ type: "start" });
    const error = assertThrows(() => stream.push(event as StreamEvent), StreamSequenceError);
    assertEquals(error.code, "malformed_event");
    assertStrictEquals(await reasonOf(stream.result()), error);
    assertEquals((await readAll(stream)).seen, [{ type: "start" }]);
  }
});

Deno.test("createAssistantMessageEventStream shares nothing between streams", async () => {
  const first = createStream(EVENTS.slice(0, 3));
  const second = createStream();
  assertEquals(second.partialContent(), []);
  for (const event of EVENTS) second.push(event);
  for (const event of EVENTS.slice(3)) first.push(event);
  assertStrictEquals(await first.result(), await second.result());
});

Deno.test("createAssistantMessageEventStream fits where an async iterable of events does", async () => {
  const stream = createStream(EVENTS);
  const readable: ReadableStream<StreamEvent> = ReadableStream.from(stream);
  assertEquals(await Array.fromAsync(readable), [...EVENTS]);
});

Deno.test("createAssistantMessageEventStream hands on every legal stream, whoever is faster", async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitraryLegalStream(),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
      async (events, waits) => {
        const stream = createStream();
        const reading = readAll(stream);
        for (const [i, event] of events.entries()) {
          if (waits[i % waits.length]) await Promise.resolve();
          stream.push(event);
        }
        const { seen, error } = await reading;
        assertEquals(error, undefined);
        assertEquals(seen.length, events.length);
        seen.forEach((event, i) => assertStrictEquals(event, events[i]));
        assertStrictEquals(
          await stream.result(),
          (events.at(-1) as { readonly message?: unknown }).message,
        );
      },
    ),
    { numRuns: 200 },
  );
});
