import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  type AssistantMessage,
  type StreamEvent,
  StreamEventValidatorStream,
  StreamSequenceError,
} from "../mod.ts";
import { USAGE } from "./_usage.ts";

type StreamClass = typeof StreamEventValidatorStream;

/** The class as it is on an engine that never calls a transformer's `cancel`. */
const Hookless = await (async (): Promise<StreamClass> => {
  const Native = globalThis.TransformStream;
  globalThis.TransformStream = class extends Native {
    constructor(
      transformer: Transformer = {},
      writableStrategy?: QueuingStrategy,
      readableStrategy?: QueuingStrategy,
    ) {
      const { cancel: _never, ...rest } = transformer;
      super(rest, writableStrategy, readableStrategy);
    }
  };
  try {
    const specifier = "../src/stream_event_validator_stream.ts?hookless";
    const { StreamEventValidatorStream } = await import(specifier);
    new StreamEventValidatorStream();
    return StreamEventValidatorStream;
  } finally {
    globalThis.TransformStream = Native;
  }
})();

const ENGINES: ReadonlyArray<readonly [name: string, Stream: StreamClass]> = [
  ["StreamEventValidatorStream", StreamEventValidatorStream],
  ["StreamEventValidatorStream without the engine's cancel hook", Hookless],
];

const MESSAGE: AssistantMessage = {
  role: "assistant",
  content: [
    { type: "thinking", thinking: "plan" },
    { type: "text", text: "Hello" },
    { type: "tool_call", id: "call_1", name: "lookup", arguments: { city: "Oslo" } },
  ],
  provider: "demo",
  model: "demo-1",
  usage: USAGE,
  timestamp: 0,
  stopReason: "tool_use",
};

const EVENTS: readonly StreamEvent[] = [
  { type: "start" },
  { type: "thinking_start", contentIndex: 0 },
  { type: "thinking_delta", contentIndex: 0, delta: "plan" },
  { type: "thinking_end", contentIndex: 0, content: "plan" },
  { type: "text_start", contentIndex: 1 },
  { type: "text_delta", contentIndex: 1, delta: "Hel" },
  { type: "text_delta", contentIndex: 1, delta: "lo" },
  { type: "text_end", contentIndex: 1, content: "Hello" },
  { type: "tool_call_start", contentIndex: 2, id: "call_1", name: "lookup" },
  { type: "tool_call_delta", contentIndex: 2, argumentsDelta: '{"city":"Oslo"}' },
  {
    type: "tool_call_end",
    contentIndex: 2,
    toolCall: {
      type: "tool_call",
      id: "call_1",
      name: "lookup",
      arguments: { city: "Oslo" },
    },
  },
  {
    type: "done",
    reason: "tool_use",
    message: MESSAGE as AssistantMessage & { stopReason: "tool_use" },
  },
];

/** No stream accepts this one, wherever it comes. */
const IMPOSSIBLE = { type: "text_delta", contentIndex: 99, delta: "x" } as const;

/** How a recorded source goes on after its events. */
type Ending = "close" | "stay open" | { readonly error: unknown };

/** A source that records whether and why it was cancelled. */
class Source {
  readonly readable: ReadableStream<StreamEvent>;
  readonly cancelled: Promise<unknown>;
  pulls = 0;

  constructor(events: readonly StreamEvent[], ending: Ending) {
    let onCancel!: (reason: unknown) => void;
    this.cancelled = new Promise((resolve) => onCancel = resolve);
    this.readable = new ReadableStream<StreamEvent>({
      pull: (controller) => {
        const event = events[this.pulls++];
        if (event) controller.enqueue(event);
        else if (ending === "close") controller.close();
        else if (ending !== "stay open") controller.error(ending.error);
      },
      cancel: (reason) => onCancel(reason),
    }, { highWaterMark: 0 });
  }
}

async function readSome<T>(
  reader: ReadableStreamDefaultReader<T>,
  count: number,
): Promise<T[]> {
  const values: T[] = [];
  while (values.length < count) {
    const { done, value } = await reader.read();
    assert(!done);
    values.push(value);
  }
  return values;
}

/** Reads to the end; a slow reader lets everything else happen first. */
async function readAll<T>(
  reader: ReadableStreamDefaultReader<T>,
  slow: boolean,
): Promise<{ readonly values: T[]; readonly error?: unknown }> {
  const values: T[] = [];
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

/** Lets every promise that can settle do so. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("Expected a rejection");
}

/** Whatever happens after the terminal event, the result stays. */
async function assertOutcome(
  stream: StreamEventValidatorStream,
  isFinished: boolean,
  error: unknown,
): Promise<void> {
  if (isFinished) assertStrictEquals(await stream.result(), MESSAGE);
  else assertStrictEquals(await rejection(stream.result()), error);
}

for (const [name, Stream] of ENGINES) {
  for (const slow of [false, true]) {
    const reading = slow ? "a slow reader" : "a quick reader";

    Deno.test(`${name} passes every event on, the same objects in order, to ${reading}`, async () => {
      const source = new Source(EVENTS, "close");
      const stream = new Stream();
      const { values, error } = await readAll(
        source.readable.pipeThrough(stream).getReader(),
        slow,
      );
      assertEquals(error, undefined);
      assertEquals(values.length, EVENTS.length);
      values.forEach((event, i) => assertStrictEquals(event, EVENTS[i]));
      assertStrictEquals(await stream.result(), MESSAGE);
      assertEquals(stream.partialContent(), [...MESSAGE.content]);
    });

    Deno.test(`${name} gives ${reading} every accepted event and then the violation`, async () => {
      for (let k = 0; k <= EVENTS.length; k++) {
        const source = new Source([...EVENTS.slice(0, k), IMPOSSIBLE, ...EVENTS.slice(k)], "close");
        const stream = new Stream();
        const { values, error } = await readAll(
          source.readable.pipeThrough(stream).getReader(),
          slow,
        );
        assertEquals(values, EVENTS.slice(0, k));
        assertInstanceOf(error, StreamSequenceError);
        assertEquals(error.eventIndex, k);
        await assertOutcome(stream, k === EVENTS.length, error);
        assertStrictEquals(await source.cancelled, error);
      }
    });

    Deno.test(`${name} errors ${reading} with truncated when upstream closes early`, async () => {
      for (let k = 0; k < EVENTS.length; k++) {
        const stream = new Stream();
        const source = new Source(EVENTS.slice(0, k), "close");
        const { values, error } = await readAll(
          source.readable.pipeThrough(stream).getReader(),
          slow,
        );
        assertEquals(values, EVENTS.slice(0, k));
        assertInstanceOf(error, StreamSequenceError);
        assertEquals(error.code, "truncated");
        assertEquals(error.eventIndex, k);
        await assertOutcome(stream, false, error);
      }
    });

    Deno.test(`${name} errors ${reading} with upstream's own failure`, async () => {
      for (let k = 0; k <= EVENTS.length; k++) {
        for (const reason of [new Error("reset"), "a string", undefined]) {
          const stream = new Stream();
          const source = new Source(EVENTS.slice(0, k), { error: reason });
          const { values, error } = await readAll(
            source.readable.pipeThrough(stream).getReader(),
            slow,
          );
          assertEquals(values, EVENTS.slice(0, k));
          assertStrictEquals(error, reason);
          if (reason === undefined && k < EVENTS.length) {
            const outcome = await rejection(stream.result());
            assertEquals((outcome as DOMException).name, "AbortError");
          } else {
            await assertOutcome(stream, k === EVENTS.length, reason);
          }
        }
      }
    });
  }

  Deno.test(`${name} fails upstream and result() when the consumer cancels`, async () => {
    for (let k = 0; k <= EVENTS.length; k++) {
      for (const reason of [new Error("enough"), null, undefined]) {
        const stream = new Stream();
        const source = new Source(EVENTS, "stay open");
        const reader = source.readable.pipeThrough(stream).getReader();
        assertEquals(await readSome(reader, k), EVENTS.slice(0, k));
        await reader.cancel(reason);
        assertStrictEquals(await source.cancelled, reason);
        if (k === EVENTS.length) {
          assertStrictEquals(await stream.result(), MESSAGE);
        } else {
          const error = await rejection(stream.result());
          if (reason === undefined) {
            assertInstanceOf(error, DOMException);
            assertEquals(error.name, "AbortError");
          } else {
            assertStrictEquals(error, reason);
          }
        }
      }
    }
  });

  Deno.test(`${name} errors the writable side with the consumer's reason`, async () => {
    for (let k = 0; k <= EVENTS.length; k++) {
      const stream = new Stream();
      const writer = stream.writable.getWriter();
      writer.closed.catch(() => {});
      const reader = stream.readable.getReader();
      for (const event of EVENTS.slice(0, k)) {
        const written = writer.write(event);
        assertStrictEquals((await reader.read()).value, event);
        await written;
      }
      const reason = new Error("enough");
      await reader.cancel(reason);
      assertStrictEquals(await rejection(writer.write({ type: "start" })), reason);
      assertStrictEquals(await rejection(writer.closed), reason);
    }
  });

  Deno.test(`${name} errors the reader when the writer aborts`, async () => {
    for (let k = 0; k <= EVENTS.length; k++) {
      const stream = new Stream();
      const writer = stream.writable.getWriter();
      writer.closed.catch(() => {});
      const reader = stream.readable.getReader();
      reader.closed.catch(() => {});
      for (const event of EVENTS.slice(0, k)) {
        const written = writer.write(event);
        assertStrictEquals((await reader.read()).value, event);
        await written;
      }
      const reason = new Error("gone");
      await writer.abort(reason);
      // Nobody reads: the result is settled all the same.
      await assertOutcome(stream, k === EVENTS.length, reason);
      assertStrictEquals(await rejection(reader.read()), reason);
    }
  });

  Deno.test(`${name} follows the pipe's signal once the consumer reads on`, async () => {
    for (let k = 0; k <= EVENTS.length; k++) {
      const stream = new Stream();
      const source = new Source(EVENTS, "stay open");
      const controller = new AbortController();
      const { signal } = controller;
      const reader = source.readable.pipeThrough(stream, { signal }).getReader();
      assertEquals(await readSome(reader, k), EVENTS.slice(0, k));
      const reason = new Error("too late");
      controller.abort(reason);
      // What was accepted before may still come; then comes the reason.
      const { values, error } = await readAll(reader, true);
      assert(values.length <= 1);
      assertEquals(values, EVENTS.slice(k, k + values.length));
      assertStrictEquals(error, reason);
      await assertOutcome(stream, k + values.length === EVENTS.length, reason);
      assertStrictEquals(await source.cancelled, reason);
    }
  });

  Deno.test(`${name} errors at once when its signal fires, even while nobody reads`, async () => {
    for (let k = 0; k <= EVENTS.length; k++) {
      const source = new Source(EVENTS, "stay open");
      const controller = new AbortController();
      const stream = new Stream({ signal: controller.signal });
      const reader = source.readable.pipeThrough(stream).getReader();
      reader.closed.catch(() => {});
      assertEquals(await readSome(reader, k), EVENTS.slice(0, k));
      await turn();
      const reason = new Error("deadline");
      controller.abort(reason);
      await assertOutcome(stream, k === EVENTS.length, reason);
      assertStrictEquals(await source.cancelled, reason);
      assertStrictEquals(await rejection(reader.read()), reason);
    }
  });

  Deno.test(`${name} errors from the beginning when its signal has fired already`, async () => {
    const reason = new Error("before");
    const source = new Source(EVENTS, "close");
    const stream = new Stream({ signal: AbortSignal.abort(reason) });
    const { values, error } = await readAll(
      source.readable.pipeThrough(stream).getReader(),
      false,
    );
    assertEquals(values, []);
    assertStrictEquals(error, reason);
    assertStrictEquals(await rejection(stream.result()), reason);
    assertStrictEquals(await source.cancelled, reason);
  });

  Deno.test(`${name} stops listening to its signal when it has ended`, async () => {
    const endings: Array<(reader: ReadableStreamDefaultReader<StreamEvent>) => Promise<unknown>> = [
      (reader) => readAll(reader, false),
      (reader) => reader.cancel(),
    ];
    for (const events of [EVENTS, EVENTS.slice(0, 3), [IMPOSSIBLE]]) {
      for (const end of endings) {
        let listeners = 0;
        const { signal } = new AbortController();
        const add = signal.addEventListener.bind(signal);
        const remove = signal.removeEventListener.bind(signal);
        signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
        signal.removeEventListener = (...args: Parameters<typeof remove>) => (
          listeners--, remove(...args)
        );
        const stream = new Stream({ signal });
        assertEquals(listeners, 1);
        await end(new Source(events, "close").readable.pipeThrough(stream).getReader());
        await turn();
        assert(listeners <= 0);
      }
    }
  });

  Deno.test(`${name} makes a fast source wait for a slow reader`, async () => {
    const stream = new Stream();
    const source = new Source(EVENTS, "stay open");
    const reader = source.readable.pipeThrough(stream).getReader();
    await readSome(reader, 3);
    await turn();
    // The writable side holds one event, and one is on its way through.
    assert(source.pulls <= 5, `pulled ${source.pulls} events for 3 reads`);
    await reader.cancel();
  });

  Deno.test(`${name} rejects close when no terminal event came`, async () => {
    const stream = new Stream();
    const writer = stream.writable.getWriter();
    writer.closed.catch(() => {});
    const error = await rejection(writer.close());
    assertInstanceOf(error, StreamSequenceError);
    assertEquals(
      error.message,
      'Stream ended in phase "idle": expected "start", received nothing',
    );
    assertStrictEquals(await rejection(stream.result()), error);
    assertStrictEquals(await rejection(stream.readable.getReader().read()), error);
  });

  Deno.test(`${name} lets everything pass and reports once when it observes`, async () => {
    for (let k = 0; k <= EVENTS.length; k++) {
      const reported: StreamSequenceError[] = [];
      const events = [...EVENTS.slice(0, k), IMPOSSIBLE, IMPOSSIBLE, ...EVENTS.slice(k)];
      const stream = new Stream({
        observe: true,
        onViolation: (error) => {
          reported.push(error);
          throw new Error("ignored");
        },
      });
      const { values, error } = await readAll(
        new Source(events, "close").readable.pipeThrough(stream).getReader(),
        false,
      );
      assertEquals(error, undefined);
      assertEquals(values, events);
      assertEquals(reported.map((error) => error.eventIndex), [k]);
      await assertOutcome(stream, k === EVENTS.length, reported[0]);
    }
  });

  Deno.test(`${name} reports a truncation when it observes, and closes cleanly`, async () => {
    for (let k = 0; k < EVENTS.length; k++) {
      const reported: StreamSequenceError[] = [];
      const stream = new Stream({
        observe: true,
        // What an async callback rejects with is ignored too.
        onViolation: (error) => {
          reported.push(error);
          return Promise.reject(new Error("ignored"));
        },
      });
      const { values, error } = await readAll(
        new Source(EVENTS.slice(0, k), "close").readable.pipeThrough(stream).getReader(),
        false,
      );
      assertEquals(error, undefined);
      assertEquals(values, EVENTS.slice(0, k));
      assertEquals(reported.map((error) => error.code), ["truncated"]);
      assertStrictEquals(await rejection(stream.result()), reported[0]);
    }
  });

  Deno.test(`${name} still follows signal, cancel and upstream when it observes`, async () => {
    const reason = new Error("deadline");
    const controller = new AbortController();
    const aborted = new Stream({ observe: true, signal: controller.signal });
    controller.abort(reason);
    assertStrictEquals(await rejection(aborted.readable.getReader().read()), reason);
    assertStrictEquals(await rejection(aborted.result()), reason);

    const cancelled = new Stream({ observe: true });
    await cancelled.readable.cancel(reason);
    assertStrictEquals(await rejection(cancelled.result()), reason);

    const failed = new Stream({ observe: true });
    const source = new Source(EVENTS.slice(0, 2), { error: reason });
    const { error } = await readAll(source.readable.pipeThrough(failed).getReader(), false);
    assertStrictEquals(error, reason);
    assertStrictEquals(await rejection(failed.result()), reason);
  });

  Deno.test(`${name} says which decoder is missing when bytes or text come`, async () => {
    for (
      const [chunk, words] of [
        [new TextEncoder().encode("{}"), "received bytes; put a StreamEventDecoderStream before"],
        ['{"type":"start"}', "received a string; parse the text first"],
      ] as const
    ) {
      const stream = new Stream();
      const writer = stream.writable.getWriter();
      writer.closed.catch(() => {});
      const reading = rejection(stream.readable.getReader().read());
      const error = await rejection(writer.write(chunk as unknown as StreamEvent));
      assertInstanceOf(error, StreamSequenceError);
      assertEquals(error.code, "malformed_event");
      assertStringIncludes(error.message, words);
      assertStrictEquals(await reading, error);
    }
  });

  Deno.test(`${name} reports the first violation to onViolation before it errors`, async () => {
    let reported: StreamSequenceError | undefined;
    const stream = new Stream({ onViolation: (error) => reported = error });
    const source = new Source([IMPOSSIBLE], "close");
    const error = await assertRejects(() => source.readable.pipeThrough(stream).getReader().read());
    assertStrictEquals(error, reported);
  });
}

Deno.test("StreamEventValidatorStream refuses limits that are none", () => {
  assertThrows(
    () => new StreamEventValidatorStream({ limits: { contentBlocks: -1 } }),
    RangeError,
    'Expected limit "contentBlocks" to be a whole number from 0 on or Infinity, received -1',
  );
  assertThrows(
    () => new StreamEventValidatorStream({ limits: { messageLength: "9" as unknown as number } }),
    TypeError,
    'Expected limit "messageLength" to be a number, received a string',
  );
});

Deno.test("StreamEventValidatorStream holds its limits", async () => {
  const stream = new StreamEventValidatorStream({ limits: { contentBlocks: 2 } });
  const { values, error } = await readAll(
    new Source(EVENTS, "close").readable.pipeThrough(stream).getReader(),
    false,
  );
  assertEquals(values, EVENTS.slice(0, 8));
  assertInstanceOf(error, StreamSequenceError);
  assertEquals(error.code, "limit_exceeded");
});
