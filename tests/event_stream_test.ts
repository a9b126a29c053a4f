import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { EventStream, type EventStreamOptions } from "../mod.ts";

/** A number that is legal, or -1, which no stream of these tests accepts, or 0, which ends one. */
type NumberStream = EventStream<number, string>;

const REFUSED = -1;
const TERMINAL = 0;

class RefusedError extends Error {}
class UnfinishedError extends Error {}

function createStream(
  options: Partial<EventStreamOptions<number, string>> = {},
): NumberStream {
  return new EventStream<number, string>({
    validate(event) {
      if (event === REFUSED) throw new RefusedError("Refused");
    },
    isTerminal: (event) => event === TERMINAL,
    getResult: (event) => `ended by ${event}`,
    end() {
      throw new UnfinishedError("Unfinished");
    },
    ...options,
  });
}

/** What an iterator answers from here on, up to its end. */
async function readAll<T>(iterable: AsyncIterable<T>): Promise<{ seen: T[]; error?: unknown }> {
  const seen: T[] = [];
  try {
    for await (const event of iterable) seen.push(event);
    return { seen };
  } catch (error) {
    return { seen, error };
  }
}

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

async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("Expected a rejection");
}

function thrownBy(fn: () => unknown): unknown {
  try {
    fn();
  } catch (error) {
    return error;
  }
  throw new Error("Expected an error");
}

/** What every stream has to be like that ended with an error which the producer was not thrown. */
async function assertFailedWith(stream: NumberStream, seen: number[], error: unknown) {
  const pushError = assertThrows(() => stream.push(1), Error, "EventStream is already settled");
  assertStrictEquals(pushError.message, "EventStream is already settled");
  assertStrictEquals(pushError.cause, error);
  const read = await readAll(stream);
  assertEquals(read.seen, seen);
  assertStrictEquals(read.error, error);
  assertStrictEquals(await reasonOf(stream.result()), error);
  assert(!stream.signal.aborted);
}

Deno.test("EventStream hands on the same objects in order when they were pushed before", async () => {
  const events = [{ n: 1 }, { n: 2 }, { n: 0 }];
  const stream = new EventStream<{ n: number }, number>({
    validate() {},
    isTerminal: (event) => event.n === 0,
    getResult: (event) => event.n,
  });
  for (const event of events) stream.push(event);

  const { seen, error } = await readAll(stream);

  assertEquals(error, undefined);
  assertEquals(seen.length, 3);
  seen.forEach((event, i) => assertStrictEquals(event, events[i]));
  assertEquals(await stream.result(), 0);
});

Deno.test("EventStream answers a waiting consumer when an event is pushed", async () => {
  const stream = createStream();
  const iterator = stream[Symbol.asyncIterator]();
  const first = iterator.next();
  stream.push(7);
  assertEquals(await first, { done: false, value: 7 });
  const second = iterator.next();
  stream.push(TERMINAL);
  assertEquals(await second, { done: false, value: TERMINAL });
  assertEquals(await iterator.next(), { done: true, value: undefined });
  assertEquals(await iterator.next(), { done: true, value: undefined });
});

Deno.test("EventStream answers concurrent next() calls in their order", async () => {
  const stream = createStream();
  const iterator = stream[Symbol.asyncIterator]();
  stream.push(1);
  const answered: unknown[] = [];
  const requests = Array.from(
    { length: 5 },
    () => iterator.next().then((answer) => answered.push(answer.value)),
  );
  stream.push(2);
  stream.push(3);
  stream.push(TERMINAL);
  await Promise.all(requests);
  assertEquals(answered, [1, 2, 3, TERMINAL, undefined]);
});

Deno.test("EventStream answers the first of several waiting next() calls with the error and the others with the end", async () => {
  const stream = createStream();
  const iterator = stream[Symbol.asyncIterator]();
  const order: string[] = [];
  const note = (name: string) =>
    [
      () => void order.push(`${name} done`),
      () => void order.push(`${name} failed`),
    ] as const;
  const requests = ["a", "b", "c"].map((name) => iterator.next().then(...note(name)));
  stream.fail(new Error("Down"));
  await Promise.all(requests);
  assertEquals(order, ["a failed", "b done", "c done"]);
});

Deno.test("EventStream takes a push from the consumer's own loop", async () => {
  const stream = createStream();
  stream.push(3);
  const seen: number[] = [];
  for await (const event of stream) {
    seen.push(event);
    if (event !== TERMINAL) stream.push(event - 1);
  }
  assertEquals(seen, [3, 2, 1, 0]);
  assertEquals(await stream.result(), "ended by 0");
});

Deno.test("EventStream throws at the producer what the consumer and result() see when an event is refused", async () => {
  const stream = createStream();
  stream.push(1);
  stream.push(2);
  const error = thrownBy(() => stream.push(REFUSED));
  assertInstanceOf(error, RefusedError);
  await assertFailedWith(stream, [1, 2], error);
});

Deno.test("EventStream gives a waiting consumer the error when an event is refused", async () => {
  const stream = createStream();
  const next = stream[Symbol.asyncIterator]().next();
  const error = thrownBy(() => stream.push(REFUSED));
  assertStrictEquals(await reasonOf(next), error);
});

Deno.test("EventStream ends when isTerminal or getResult throws, and does not hand on the event", async () => {
  for (const name of ["isTerminal", "getResult"] as const) {
    const cause = new Error(name);
    const stream = createStream({
      [name](event: number) {
        if (event === TERMINAL) throw cause;
        return false;
      },
    });
    stream.push(1);
    assertStrictEquals(thrownBy(() => stream.push(TERMINAL)), cause);
    await assertFailedWith(stream, [1], cause);
  }
});

Deno.test("EventStream calls validate, isTerminal and getResult in this order and no more than it must", () => {
  const calls: string[] = [];
  const stream = createStream({
    validate: (event) => void calls.push(`validate ${event}`),
    isTerminal: (event) => calls.push(`isTerminal ${event}`) > 0 && event === TERMINAL,
    getResult: (event) => `${calls.push(`getResult ${event}`)}`,
  });
  stream.push(1);
  stream.push(TERMINAL);
  assertThrows(() => stream.push(2));
  assertEquals(calls, [
    "validate 1",
    "isTerminal 1",
    "validate 0",
    "isTerminal 0",
    "getResult 0",
  ]);
});

Deno.test("EventStream keeps the options as the `this` of their functions", async () => {
  class Sum implements EventStreamOptions<number, number> {
    sum = 0;
    validate(event: number) {
      this.sum += event;
    }
    isTerminal(event: number) {
      return event === this.sum - 1;
    }
    getResult() {
      return this.sum;
    }
    end() {
      throw new Error(`Ended at ${this.sum}`);
    }
  }
  const whole = new EventStream(new Sum());
  whole.push(1);
  whole.push(4);
  assertEquals(await whole.result(), 5);

  const ended = new EventStream(new Sum());
  ended.push(1);
  ended.end();
  await assertRejects(() => ended.result(), Error, "Ended at 1");
});

Deno.test("EventStream wraps what is not an Error and keeps it as the cause", async () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  for (const cause of ["down", undefined, null, 0, { message: "Down" }, revoked.proxy]) {
    const failed = createStream();
    failed.push(1);
    failed.fail(cause);
    const refused = createStream({
      validate() {
        throw cause;
      },
    });
    const thrown = thrownBy(() => refused.push(1));
    assertStrictEquals(await reasonOf(refused.result()), thrown);
    for (const error of [await reasonOf(failed.result()), thrown]) {
      assertInstanceOf(error, Error);
      assertEquals(error.message, "EventStream failed");
      assert("cause" in error);
      assert(Object.is(error.cause, cause));
    }
    await assertFailedWith(failed, [1], await reasonOf(failed.result()));
  }
});

Deno.test("EventStream gives the consumer what was accepted and then the error when the producer fails", async () => {
  for (const cause of [new Error("Down"), new DOMException("Gone", "AbortError")]) {
    const stream = createStream();
    stream.push(1);
    stream.push(2);
    stream.fail(cause);
    stream.fail(new Error("Again"));
    stream.end();
    await assertFailedWith(stream, [1, 2], cause);
  }
});

Deno.test("EventStream takes an Error of another realm for an Error", async () => {
  const cause = runInNewContext("new RangeError('Down')");
  assert(!(cause instanceof Error));
  const stream = createStream();
  stream.fail(cause);
  await assertFailedWith(stream, [], cause);
});

Deno.test("EventStream reports an error once and then the end", async () => {
  const stream = createStream();
  const iterator = stream[Symbol.asyncIterator]();
  stream.push(1);
  stream.fail(new Error("Down"));
  assertEquals(await iterator.next(), { done: false, value: 1 });
  await assertRejects(() => iterator.next(), Error, "Down");
  assertEquals(await iterator.next(), { done: true, value: undefined });
  assertEquals(await iterator.next(), { done: true, value: undefined });
});

Deno.test("EventStream rejects with the check's error when it is ended before a terminal event", async () => {
  const stream = createStream();
  stream.push(1);
  stream.end();
  stream.end();
  const error = await reasonOf(stream.result());
  assertInstanceOf(error, UnfinishedError);
  await assertFailedWith(stream, [1], error);
});

Deno.test("EventStream rejects and does not hang when it is ended without a check, or with one that throws nothing", async () => {
  const { end: _end, ...options } = {
    validate() {},
    isTerminal: () => false,
    getResult: () => "",
    end() {},
  };
  for (const stream of [new EventStream(options), createStream({ end() {} })]) {
    const iterator = stream[Symbol.asyncIterator]();
    const next = iterator.next();
    stream.end();
    const error = await reasonOf(stream.result());
    assertInstanceOf(error, Error);
    assertEquals(error.message, "EventStream ended before a terminal event");
    assertStrictEquals(await reasonOf(next), error);
  }
});

Deno.test("EventStream runs no check when it is ended after it has ended", async () => {
  let checks = 0;
  const end = () => void checks++;
  const stream = createStream({ end });
  stream.push(TERMINAL);
  stream.end();
  stream.fail(new Error("Late"));
  assertEquals(checks, 0);
  assertEquals(await readAll(stream), { seen: [TERMINAL] });
  assertEquals(await stream.result(), "ended by 0");
  const error = assertThrows(() => stream.push(1), Error);
  assertEquals(error.message, "EventStream is already settled");
  assert(!("cause" in error));
});

Deno.test("EventStream ends with an AbortError when the consumer breaks out of the loop", async () => {
  const stream = createStream();
  stream.push(1);
  stream.push(2);
  for await (const event of stream) {
    assertEquals(event, 1);
    break;
  }
  const error = await reasonOf(stream.result());
  assertInstanceOf(error, DOMException);
  assertEquals(error.name, "AbortError");
  assertEquals(error.message, "The consumer left the stream");
  assertStrictEquals(thrownBy(() => stream.push(3)), error);
  assertStrictEquals(thrownBy(() => stream.push(REFUSED)), error);
  assert(stream.signal.aborted);
  assertStrictEquals(stream.signal.reason, error);
  stream.fail(new Error("Late"));
  stream.end();
  assertStrictEquals(await reasonOf(stream.result()), error);
});

Deno.test("EventStream answers waiting next() calls with the end when the consumer returns", async () => {
  const stream = createStream();
  const iterator = stream[Symbol.asyncIterator]();
  const requests = [iterator.next(), iterator.next()];
  assertEquals(await iterator.return?.(), { done: true, value: undefined });
  assertEquals(await Promise.all(requests), [
    { done: true, value: undefined },
    { done: true, value: undefined },
  ]);
  assertEquals(await iterator.next(), { done: true, value: undefined });
  assertEquals(await iterator.return?.(), { done: true, value: undefined });
});

Deno.test("EventStream keeps its result and aborts nothing when the consumer returns after the end", async () => {
  const stream = createStream();
  stream.push(1);
  stream.push(TERMINAL);
  for await (const _event of stream) break;
  assertEquals(await stream.result(), "ended by 0");
  assert(!stream.signal.aborted);
  assertThrows(() => stream.push(1), Error, "EventStream is already settled");

  const failed = createStream();
  const iterator = failed[Symbol.asyncIterator]();
  failed.push(1);
  failed.fail(new Error("Down"));
  await iterator.return?.();
  assertEquals(await iterator.next(), { done: true, value: undefined });
  await assertRejects(() => failed.result(), Error, "Down");
  assert(!failed.signal.aborted);
});

Deno.test("EventStream throws the AbortError at a listener of its signal that pushes", async () => {
  const stream = createStream();
  const iterator = stream[Symbol.asyncIterator]();
  const next = iterator.next();
  const thrown: unknown[] = [];
  stream.signal.addEventListener("abort", () => {
    for (const event of [1, REFUSED, TERMINAL]) thrown.push(thrownBy(() => stream.push(event)));
    stream.fail(new Error("Late"));
    stream.end();
  });
  await iterator.return?.();
  assertEquals(thrown.length, 3);
  for (const error of thrown) assertStrictEquals(error, stream.signal.reason);
  assertEquals(await next, { done: true, value: undefined });
  assertStrictEquals(await reasonOf(stream.result()), stream.signal.reason);
});

Deno.test("EventStream refuses a second iterator when the first is at work, has ended or has returned", async () => {
  const stream = createStream();
  const iterator = stream[Symbol.asyncIterator]();
  const assertRefused = () => {
    const error = assertThrows(() => stream[Symbol.asyncIterator](), TypeError);
    assertEquals(error.message, "EventStream supports exactly one async iterator");
  };
  assertRefused();
  stream.push(1);
  await iterator.return?.();
  assertRefused();

  const ended = createStream();
  ended.push(TERMINAL);
  await readAll(ended);
  await assertRejects(
    () => Array.fromAsync(ended),
    TypeError,
    "EventStream supports exactly one async iterator",
  );
});

Deno.test("EventStream lets a loop go on behind calls of next", async () => {
  const stream = createStream();
  for (const event of [1, 2, TERMINAL]) stream.push(event);
  const iterator = stream[Symbol.asyncIterator]();
  assertEquals(await iterator.next(), { done: false, value: 1 });
  const rest: number[] = [];
  for await (const event of iterator) rest.push(event);
  assertEquals(rest, [2, TERMINAL]);
});

Deno.test("EventStream gives one promise for the result and settles it when nobody iterates", async () => {
  const stream = createStream();
  const result: Promise<string> = stream.result();
  stream.push(1);
  stream.push(TERMINAL);
  assertStrictEquals(stream.result(), result);
  assertEquals(await result, "ended by 0");

  const waits = createStream({ getResult: () => Promise.resolve("later") });
  waits.push(TERMINAL);
  assertEquals(await waits.result(), "later");
});

Deno.test("EventStream causes no unhandled rejection however it ends", async () => {
  const unhandled: unknown[] = [];
  const listener = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    unhandled.push(event.reason);
  };
  globalThis.addEventListener("unhandledrejection", listener);
  try {
    const endings: ReadonlyArray<(stream: NumberStream) => void> = [
      (stream) => stream.fail(new Error("Down")),
      (stream) => stream.end(),
      (stream) => thrownBy(() => stream.push(REFUSED)),
    ];
    for (const end of endings) {
      createStream().result();
      end(createStream());
      const asked = createStream();
      asked.result();
      end(asked);
      // Somebody reads ahead and never looks at the answers.
      const waiting = createStream();
      const iterator = waiting[Symbol.asyncIterator]();
      iterator.next();
      iterator.next();
      end(waiting);
      iterator.next();
      const late = createStream();
      end(late);
      late[Symbol.asyncIterator]().next();
    }
    const left = createStream();
    left.result();
    const iterator = left[Symbol.asyncIterator]();
    iterator.next();
    iterator.return?.();
    const rejects = createStream({ getResult: () => Promise.reject(new Error("Down")) });
    rejects.push(TERMINAL);
    await new Promise((resolve) => setTimeout(resolve, 5));
    assertEquals(unhandled, []);
  } finally {
    globalThis.removeEventListener("unhandledrejection", listener);
  }
});

Deno.test("EventStream refuses an event that one of its own functions pushes, and goes on when that is caught", async () => {
  for (const name of ["validate", "isTerminal", "getResult"] as const) {
    const nested: unknown[] = [];
    const stream: NumberStream = createStream({
      [name](event: number) {
        nested.push(thrownBy(() => stream.push(5)));
        return name === "isTerminal" ? event === TERMINAL : "result";
      },
    });
    stream.push(1);
    stream.push(TERMINAL);
    assertEquals(nested.length, name === "getResult" ? 1 : 2);
    for (const error of nested) {
      assertInstanceOf(error, TypeError);
      assertEquals(error.message, "EventStream takes no event from within its own options");
    }
    assertEquals(await readAll(stream), { seen: [1, TERMINAL] });
    await stream.result();
  }
});

Deno.test("EventStream ends when one of its own functions pushes and does not catch the refusal", async () => {
  const pushing: NumberStream = createStream({ validate: () => pushing.push(5) });
  const error = thrownBy(() => pushing.push(1));
  assertInstanceOf(error, TypeError);
  await assertFailedWith(pushing, [], error);

  const ending: NumberStream = createStream({ end: () => ending.push(TERMINAL) });
  ending.end();
  await assertRejects(
    () => ending.result(),
    TypeError,
    "EventStream takes no event from within its own options",
  );
});

Deno.test("EventStream throws what it ended with when one of its own functions ends it", async () => {
  const cause = new Error("Down");
  const endings: ReadonlyArray<readonly [(stream: NumberStream) => void, unknown]> = [
    [(stream) => stream.fail(cause), cause],
    [(stream) => stream.end(), undefined],
    [(stream) => {
      stream.fail(cause);
      throw new Error("Later");
    }, cause],
  ];
  for (const name of ["validate", "isTerminal", "getResult"] as const) {
    for (const [end, expected] of endings) {
      const stream: NumberStream = createStream({
        [name](event: number) {
          if (event === TERMINAL) end(stream);
          return false;
        },
      });
      stream.push(1);
      const error = thrownBy(() => stream.push(TERMINAL));
      if (expected) assertStrictEquals(error, expected);
      else assertEquals((error as Error).message, "EventStream ended before a terminal event");
      await assertFailedWith(stream, [1], error);
    }
    const stream: NumberStream = createStream({
      [name](event: number) {
        if (event === TERMINAL) iterator.return?.();
        return false;
      },
    });
    const iterator = stream[Symbol.asyncIterator]();
    stream.push(1);
    assertStrictEquals(thrownBy(() => stream.push(TERMINAL)), stream.signal.reason);
    assertEquals(await iterator.next(), { done: true, value: undefined });
  }
});

Deno.test("EventStream ends once when its check ends it", async () => {
  const again: NumberStream = createStream({ end: () => again.end() });
  again.end();
  await assertRejects(
    () => again.result(),
    Error,
    "EventStream ended before a terminal event",
  );

  const cause = new Error("Down");
  const failing: NumberStream = createStream({ end: () => failing.fail(cause) });
  failing.end();
  await assertFailedWith(failing, [], cause);
});

Deno.test("EventStream rejects its result when reading `then` of it throws", async () => {
  const cause = new Error("Unreadable");
  const stream = new EventStream<number, unknown>({
    validate() {},
    isTerminal: () => true,
    getResult: () => ({
      get then() {
        throw cause;
      },
    }),
  });
  stream.push(1);
  assertStrictEquals(await reasonOf(stream.result()), cause);
  assertEquals(await readAll(stream), { seen: [1] });
});

Deno.test("EventStream takes undefined for an event like any other", async () => {
  const stream = new EventStream<undefined, string>({
    validate() {},
    isTerminal: () => false,
    getResult: () => "",
  });
  stream.push(undefined);
  stream.push(undefined);
  stream.fail(new Error("Down"));
  assertEquals((await readAll(stream)).seen, [undefined, undefined]);
});

Deno.test("EventStream throws when an option is not a function", () => {
  const options = { validate() {}, isTerminal: () => true, getResult: () => "" };
  const cases: ReadonlyArray<readonly [string, unknown, string]> = [
    ["validate", null, "null"],
    ["isTerminal", undefined, "undefined"],
    ["getResult", {}, "an object"],
    ["end", null, "null"],
  ];
  for (const [name, value, received] of cases) {
    const error = assertThrows(
      () => new EventStream({ ...options, [name]: value } as typeof options),
      TypeError,
    );
    assertEquals(error.message, `Expected option "${name}" to be a function, received ${received}`);
  }
});

Deno.test("EventStream costs about the same an event when a million wait as when ten thousand do", async () => {
  const nanosecondsAnEvent = async (count: number): Promise<number> => {
    const stream = createStream();
    const begin = performance.now();
    for (let i = 1; i < count; i++) stream.push(i);
    stream.push(TERMINAL);
    let sum = 0;
    for await (const event of stream) sum += event;
    assertEquals(sum, count * (count - 1) / 2);
    return (performance.now() - begin) * 1e6 / count;
  };
  // Warm, and the quickest of some: what is measured is the queue, not the machine's other work.
  let few = Infinity;
  for (let i = 0; i < 20; i++) few = Math.min(few, await nanosecondsAnEvent(10_000));
  // The smaller number first: with `Array.prototype.shift` that takes seconds, a million minutes.
  for (const count of [100_000, 1_000_000]) {
    const many = Math.min(await nanosecondsAnEvent(count), await nanosecondsAnEvent(count));
    assert(many < 12 * few, `Expected about ${few} ns an event, took ${many} ns`);
  }
});

Deno.test("EventStream holds no event that was read or that a return dropped", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  const stream = new EventStream<{ n: number }, string>({
    validate() {},
    isTerminal: () => false,
    getResult: () => "",
  });
  const iterator = stream[Symbol.asyncIterator]();
  const references = Array.from({ length: 9 }, (_, n) => {
    const event = { n };
    stream.push(event);
    return new WeakRef(event);
  });
  const held = async () => {
    // A macrotask ends what a WeakRef promises to keep.
    await new Promise((resolve) => setTimeout(resolve, 0));
    collectGarbage();
    return references.map((reference) => reference.deref()?.n).filter((n) => n !== undefined);
  };
  assertEquals(await held(), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  for (let i = 0; i < 5; i++) await iterator.next();
  assertEquals(await held(), [5, 6, 7, 8]);
  await iterator.return?.();
  assertEquals(await held(), []);
});

Deno.test("EventStream answers a hundred thousand waiting next() calls in their order at the cost of a thousand", async () => {
  const nanosecondsAnEvent = async (count: number): Promise<number> => {
    const stream = createStream();
    const iterator = stream[Symbol.asyncIterator]();
    const requests = Array.from({ length: count }, () => iterator.next());
    const begin = performance.now();
    for (let i = 1; i < count; i++) stream.push(i);
    stream.push(TERMINAL);
    const time = performance.now() - begin;
    const answers = await Promise.all(requests);
    assert(answers.every(({ value }, i) => value === (i + 1) % count));
    return time * 1e6 / count;
  };
  let few = Infinity;
  for (let i = 0; i < 20; i++) few = Math.min(few, await nanosecondsAnEvent(1_000));
  const many = Math.min(await nanosecondsAnEvent(100_000), await nanosecondsAnEvent(100_000));
  // `Array.prototype.shift` takes hundreds of times as long an event.
  assert(many < 30 * few, `Expected about ${few} ns an event, took ${many} ns`);
});

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

Deno.test("EventStream gives a million waiting events in order", async () => {
  const stream = countdown();
  for (let i = 1_000_000; i >= 0; i--) stream.push(i);
  let expected = 1_000_000;
  for await (const event of stream) if (event !== expected--) throw new Error("Out of order");
  assertEquals(expected, -1);
});

/** One step of producer or consumer. */
type Step =
  | "push"
  | "push refused"
  | "push terminal"
  | "next"
  | "return"
  | "fail"
  | "end"
  | "tick";

const STEPS: ReadonlyArray<{ readonly weight: number; readonly step: Step }> = [
  { weight: 8, step: "push" },
  { weight: 8, step: "next" },
  { weight: 2, step: "tick" },
  { weight: 1, step: "push refused" },
  { weight: 1, step: "push terminal" },
  { weight: 1, step: "return" },
  { weight: 1, step: "fail" },
  { weight: 1, step: "end" },
];

Deno.test("EventStream gives its consumer what was accepted and then one ending whatever the interleaving", async () => {
  const step = fc.oneof(
    ...STEPS.map(({ weight, step }) => ({ weight, arbitrary: fc.constant(step) })),
  );
  const seenEndings = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const stream = createStream();
      const iterator = stream[Symbol.asyncIterator]();
      const answers: Promise<unknown>[] = [];
      const cause = new Error("Down");
      const accepted: number[] = [];
      // The first of these that happened, and how many events the consumer could get until then.
      let ending: "refused" | "terminal" | "return" | "fail" | "end" | undefined;
      let refusal: unknown;
      let readable = Infinity;

      const push = (event: number) => {
        if (ending) {
          const error = thrownBy(() => stream.push(event));
          if (ending === "return") assertStrictEquals(error, stream.signal.reason);
          else assertEquals((error as Error).message, "EventStream is already settled");
        } else if (event === REFUSED) {
          refusal = thrownBy(() => stream.push(event));
          ending = "refused";
        } else {
          stream.push(event);
          accepted.push(event);
          if (event === TERMINAL) ending = "terminal";
        }
      };
      const next = () =>
        void answers.push(
          iterator.next().then(({ done, value }) => done ? "end" : value, (error) => ({ error })),
        );
      const run = async (step: Step) => {
        switch (step) {
          case "push":
            return push(accepted.length + 1);
          case "push refused":
            return push(REFUSED);
          case "push terminal":
            return push(TERMINAL);
          case "next":
            return next();
          case "return":
            iterator.return?.();
            readable = Math.min(readable, answers.length);
            ending ??= "return";
            return;
          case "fail":
            stream.fail(cause);
            ending ??= "fail";
            return;
          case "end":
            stream.end();
            ending ??= "end";
            return;
          case "tick":
            await Promise.resolve();
        }
      };
      for (const step of steps) await run(step);
      await run("end");
      const asked = answers.length;
      for (let i = 0; i < accepted.length + 2; i++) next();

      const outcome: { value?: string; error?: unknown } = await stream.result().then(
        (value) => ({ value }),
        (error) => ({ error }),
      );
      if (ending === "terminal") assertEquals(outcome, { value: "ended by 0" });
      else if (ending === "refused") assertStrictEquals(outcome.error, refusal);
      else if (ending === "fail") assertStrictEquals(outcome.error, cause);
      else if (ending === "return") assertStrictEquals(outcome.error, stream.signal.reason);
      else assertInstanceOf(outcome.error, UnfinishedError);
      assertEquals(stream.signal.aborted, ending === "return");

      const expected: unknown[] = [...accepted];
      if (ending !== "terminal" && ending !== "return") expected.push({ error: outcome.error });
      const got = (await Promise.all(answers)).map((answer, i) => {
        const isBeforeReturn = i < readable;
        return [answer, isBeforeReturn && i < expected.length ? expected[i] : "end"] as const;
      });
      for (const [answer, wanted] of got) assertEquals(answer, wanted);
      assert(asked + accepted.length + 2 === got.length);
      seenEndings.add(ending as string);
    }),
    { numRuns: 1_000 },
  );
  assertEquals(seenEndings.size, 5);
});
