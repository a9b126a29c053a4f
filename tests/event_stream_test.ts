import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { createAssistantMessageEventStream, EventStream, StreamSequenceError } from "../mod.ts";

function countdown(validate?: (event: number) => void): EventStream<number, string> {
  return new EventStream<number, string>({
    ...(validate && { validate }),
    isTerminal: (event) => event === 0,
    getResult: () => "landed",
  });
}

async function collect<T>(source: AsyncIterable<T>): Promise<{ values: T[]; error?: unknown }> {
  const values: T[] = [];
  try {
    for await (const value of source) values.push(value);
    return { values };
  } catch (error) {
    return { values, error };
  }
}

Deno.test("EventStream gives what was pushed before and while it was iterated", async () => {
  const stream = countdown();
  stream.push(2);
  const collected = collect(stream);
  await Promise.resolve();
  stream.push(1);
  stream.push(0);
  assertEquals(await collected, { values: [2, 1, 0] });
  assertEquals(await stream.result(), "landed");
});

Deno.test("EventStream answers concurrent calls of next in order", async () => {
  const stream = countdown();
  const iterator = stream[Symbol.asyncIterator]();
  const nexts = [iterator.next(), iterator.next(), iterator.next()];
  stream.push(1);
  stream.push(0);
  assertEquals(await Promise.all(nexts), [
    { done: false, value: 1 },
    { done: false, value: 0 },
    { done: true, value: undefined },
  ]);
});

Deno.test("EventStream refuses a push once it ended", () => {
  const endings: Array<(stream: EventStream<number, string>) => void> = [
    (stream) => stream.push(0),
    (stream) => stream.fail(new Error("x")),
    (stream) => stream.end(),
  ];
  for (const end of endings) {
    const stream = countdown();
    end(stream);
    assertThrows(() => stream.push(1), Error, "EventStream is already settled");
  }
});

Deno.test("EventStream refuses a second iterator", () => {
  const stream = countdown();
  stream[Symbol.asyncIterator]();
  assertThrows(
    () => stream[Symbol.asyncIterator](),
    TypeError,
    "EventStream supports exactly one async iterator",
  );
});

Deno.test("EventStream throws a violation at the producer, the consumer and result()", async () => {
  const violation = new Error("five");
  const stream = countdown((event) => {
    if (event === 5) throw violation;
  });
  stream.push(2);
  assertStrictEquals(assertThrows(() => stream.push(5)), violation);
  const { values, error } = await collect(stream);
  assertEquals(values, [2]);
  assertStrictEquals(error, violation);
  assertStrictEquals(await assertRejects(() => stream.result()), violation);
});

Deno.test("EventStream tells a failure once, to whoever waits first", async () => {
  const stream = countdown();
  const iterator = stream[Symbol.asyncIterator]();
  const first = iterator.next();
  const second = iterator.next();
  const cause = { not: "an error" };
  stream.fail(cause);
  const error = await assertRejects(() => first, Error, "EventStream failed");
  assertStrictEquals(error.cause, cause);
  assertEquals(await second, { done: true, value: undefined });
  assertEquals(await iterator.next(), { done: true, value: undefined });
  assertStrictEquals(await assertRejects(() => stream.result()), error);
});

Deno.test("EventStream rejects instead of hanging when it ends without a terminal event", async () => {
  const stream = countdown();
  stream.push(1);
  stream.end();
  const { values, error } = await collect(stream);
  assertEquals(values, [1]);
  assertInstanceOf(error, Error);
  assertEquals(error.message, "EventStream ended before a terminal event");
  assertStrictEquals(await assertRejects(() => stream.result()), error);
});

Deno.test("EventStream ends with an AbortError when the consumer leaves", async () => {
  const stream = countdown();
  stream.push(2);
  stream.push(1);
  for await (const _ of stream) break;
  assert(stream.signal.aborted);
  assertEquals(stream.signal.reason.name, "AbortError");
  assertStrictEquals(assertThrows(() => stream.push(0)), stream.signal.reason);
  assertStrictEquals(await assertRejects(() => stream.result()), stream.signal.reason);
});

Deno.test("EventStream keeps its result when the consumer leaves after the terminal event", async () => {
  const stream = countdown();
  stream.push(0);
  for await (const _ of stream) break;
  assert(!stream.signal.aborted);
  assertEquals(await stream.result(), "landed");
});

Deno.test("EventStream stands a callback that ends it", async () => {
  const stream: EventStream<number, string> = countdown(() => stream.end());
  assertThrows(() => stream.push(1), Error, "EventStream is already settled");
  assertEquals((await collect(stream)).values, []);
});

Deno.test("EventStream gives a million waiting events in order", async () => {
  const stream = countdown();
  for (let i = 1_000_000; i >= 0; i--) stream.push(i);
  let expected = 1_000_000;
  for await (const event of stream) if (event !== expected--) throw new Error("Out of order");
  assertEquals(expected, -1);
});

Deno.test("createAssistantMessageEventStream rejects with truncated when it ends early", async () => {
  const stream = createAssistantMessageEventStream();
  stream.push({ type: "start" });
  stream.end();
  const error = await assertRejects(() => stream.result(), StreamSequenceError);
  assertEquals(error.code, "truncated");
});
