import {
  createAssistantMessageEventStream,
  type StreamEvent,
  StreamEventValidatorStream,
  type StreamEventValidatorStreamOptions,
  type StreamSequenceError,
} from "@agent-stream/validator";
import { StreamEventDecoderStream, toResponse } from "@agent-stream/validator/wire";
import { terminalOf } from "./_case_checks.ts";
import type { Check } from "./_check.ts";
import { EVENTS, frameOf, IMPOSSIBLE, MESSAGE } from "./_events.ts";
import { canonical, Names, type Read, readAll, Source, turn } from "./_reading.ts";
import { fixedOptions, WIRES } from "./_wires.ts";

/** What happens to a stream, after every number of events. */
interface Happening {
  readonly name: string;
  /** After up to how many events it can happen. */
  readonly last: number;
  readonly run: (count: number) => Promise<string>;
  readonly expected: (count: number) => string;
}

/** A stream with a source before it, a reader behind it, and a name for what is known. */
interface Piped {
  readonly names: Names;
  readonly reason: Error;
  readonly source: Source<StreamEvent>;
  readonly stream: StreamEventValidatorStream;
  readonly reader: ReadableStreamDefaultReader<StreamEvent>;
}

const ALL = EVENTS.length;

/** The life-cycle table of the validator's stream, and what holds for the others. */
export function* lifeCycleChecks(): Generator<Check> {
  for (const { name, last, run, expected } of happenings()) {
    for (let count = 0; count <= last; count++) {
      yield {
        name: `life cycle: ${name}, after ${count} events`,
        run: () => run(count),
        expected: expected(count),
      };
    }
  }
  yield* singleChecks();
  yield* otherStreamChecks();
}

function* happenings(): Generator<Happening> {
  /** What `result()` comes to: after the terminal event nothing changes it. */
  const resultOf = (count: number, otherwise: string) =>
    count === ALL ? "the message" : `rejected with ${otherwise}`;

  for (const isSlow of [false, true]) {
    const reading = isSlow ? "a slow reader" : "a quick reader";
    yield {
      name: `violation, ${reading}`,
      last: ALL,
      async run(count) {
        const events = [...EVENTS.slice(0, count), IMPOSSIBLE, ...EVENTS.slice(count)];
        const { names, source, stream, reader } = pipe(events, "close");
        const read = await readAll(reader, isSlow);
        const cancelled = names.of(await source.cancelled);
        return `${told(read, names)}; upstream cancelled with ${cancelled}; ` +
          await names.ofOutcome(stream.result());
      },
      expected(count) {
        const code = count === 0
          ? "expected_start"
          : count === ALL
          ? "after_terminal"
          : isTextOpen(count)
          ? "wrong_index"
          : "wrong_block";
        const error = `${code} at ${count}`;
        return `${count} events, then ${error}; upstream cancelled with ${error}; ` +
          resultOf(count, error);
      },
    };
    yield {
      name: `upstream closes early, ${reading}`,
      last: ALL - 1,
      async run(count) {
        const { names, stream, reader } = pipe(EVENTS.slice(0, count), "close");
        const read = await readAll(reader, isSlow);
        return `${told(read, names)}; ${await names.ofOutcome(stream.result())}`;
      },
      expected: (count) =>
        `${count} events, then truncated at ${count}; rejected with truncated at ${count}`,
    };
    yield {
      name: `upstream fails, ${reading}`,
      last: ALL,
      async run(count) {
        const error = new Error("reset");
        const { names, stream, reader } = pipe(EVENTS.slice(0, count), { error });
        names.give(error, "the reason");
        const read = await readAll(reader, isSlow);
        return `${told(read, names)}; ${await names.ofOutcome(stream.result())}`;
      },
      expected: (count) => `${count} events, then the reason; ${resultOf(count, "the reason")}`,
    };
    yield {
      name: `upstream fails with nothing, ${reading}`,
      last: ALL,
      async run(count) {
        const { names, stream, reader } = pipe(EVENTS.slice(0, count), { error: undefined });
        const read = await readAll(reader, isSlow);
        return `${told(read, names)}; ${await names.ofOutcome(stream.result())}`;
      },
      expected: (count) => `${count} events, then undefined; ${resultOf(count, "AbortError")}`,
    };
  }

  for (const isGiven of [true, false]) {
    yield {
      name: isGiven ? "consumer cancels" : "consumer cancels without a reason",
      last: ALL,
      async run(count) {
        const { names, reason, source, stream, reader } = pipe(EVENTS, "stay open");
        const read = await readSome(reader, count);
        await (isGiven ? reader.cancel(reason) : reader.cancel());
        const cancelled = names.of(await source.cancelled);
        return `${told(read, names)}; upstream cancelled with ${cancelled}; ` +
          await names.ofOutcome(stream.result());
      },
      expected: (count) =>
        `${count} events; upstream cancelled with ${isGiven ? "the reason" : "undefined"}; ` +
        resultOf(count, isGiven ? "the reason" : "AbortError"),
    };
  }
  yield {
    name: "consumer cancels, seen by the writer",
    last: ALL,
    async run(count) {
      const { names, reason, stream, writer, reader } = await written(count);
      await reader.cancel(reason);
      return `write: ${await names.ofOutcome(writer.write({ type: "start" }))}; ` +
        `closed: ${await names.ofOutcome(writer.closed)}; ${await names.ofOutcome(
          stream.result(),
        )}`;
    },
    expected: (count) =>
      "write: rejected with the reason; closed: rejected with the reason; " +
      resultOf(count, "the reason"),
  };
  yield {
    name: "writer aborts while nobody reads",
    last: ALL,
    async run(count) {
      const { names, reason, stream, writer, reader } = await written(count);
      await writer.abort(reason);
      const result = await names.ofOutcome(stream.result());
      return `${result}; read: ${await names.ofOutcome(reader.read())}`;
    },
    expected: (count) => `${resultOf(count, "the reason")}; read: rejected with the reason`,
  };
  yield {
    name: "the pipe's signal fires and the consumer reads on",
    last: ALL,
    async run(count) {
      const controller = new AbortController();
      const { names, reason, source, stream, reader } = pipe(EVENTS, "stay open", {}, {
        signal: controller.signal,
      });
      await readSome(reader, count);
      controller.abort(reason);
      const { values, error } = await readAll(reader, true);
      // One event that was accepted before may still come.
      const isWhole = count + values.length === ALL;
      const result = await names.ofOutcome(stream.result());
      return `${values.length <= 1}; ${names.of(error)}; ` +
        `upstream cancelled with ${names.of(await source.cancelled)}; ` +
        (result === resultOf(isWhole ? ALL : 0, "the reason") ? "result as it should be" : result);
    },
    expected: () => "true; the reason; upstream cancelled with the reason; result as it should be",
  };
  yield {
    name: "option signal fires while nobody reads",
    last: ALL,
    async run(count) {
      const controller = new AbortController();
      const { signal } = controller;
      const { names, reason, source, stream, reader } = pipe(EVENTS, "stay open", { signal });
      reader.closed.catch(() => {});
      await readSome(reader, count);
      await turn();
      controller.abort(reason);
      const result = await names.ofOutcome(stream.result());
      const cancelled = names.of(await source.cancelled);
      const read = await names.ofOutcome(reader.read());
      return `${result}; upstream cancelled with ${cancelled}; read: ${read}`;
    },
    expected: (count) =>
      `${resultOf(count, "the reason")}; upstream cancelled with the reason; ` +
      "read: rejected with the reason",
  };
  yield {
    name: "violation, while it observes",
    last: ALL,
    async run(count) {
      const reported: StreamSequenceError[] = [];
      const events = [...EVENTS.slice(0, count), IMPOSSIBLE, IMPOSSIBLE, ...EVENTS.slice(count)];
      const { names, stream, reader } = pipe(events, "close", {
        observe: true,
        onViolation(error) {
          reported.push(error);
          throw new Error("ignored");
        },
      });
      names.give(reported, "the list");
      const read = await readAll(reader);
      const report = reported.map((error) => names.give(error, "the violation").eventIndex);
      return `${read.values.length} events${read.isFailed ? ", failed" : ""}; ` +
        `reported at ${report}; ${await names.ofOutcome(stream.result())}`;
    },
    expected: (count) =>
      `${ALL + 2} events; reported at ${count}; ${resultOf(count, "the violation")}`,
  };
}

function* singleChecks(): Generator<Check> {
  for (const isSlow of [false, true]) {
    yield {
      name: `life cycle: healthy, ${isSlow ? "a slow reader" : "a quick reader"}`,
      async run() {
        const { names, stream, reader } = pipe(EVENTS, "close");
        const read = await readAll(reader, isSlow);
        return `${told(read, names)}; ${await names.ofOutcome(stream.result())}`;
      },
      expected: `${ALL} events; the message`,
    };
  }
  yield {
    name: "life cycle: it is a TransformStream, and its result one promise",
    run() {
      const stream = new StreamEventValidatorStream();
      return `${stream instanceof TransformStream}; ${stream.result() === stream.result()}; ` +
        `${new Source([], "close").readable.pipeThrough(stream) === stream.readable}`;
    },
    expected: "true; true; true",
  };
  yield {
    name: "life cycle: its signal has fired already",
    async run() {
      const reason = new Error("before");
      const { names, source, stream, reader } = pipe(EVENTS, "close", {
        signal: AbortSignal.abort(reason),
      });
      names.give(reason, "the reason");
      const read = await readAll(reader);
      return `${told(read, names)}; upstream cancelled with ${
        names.of(
          await source.cancelled,
        )
      }; ${await names.ofOutcome(stream.result())}`;
    },
    expected:
      "0 events, then the reason; upstream cancelled with the reason; rejected with the reason",
  };
  yield {
    name: "life cycle: a fast source waits for a slow reader",
    async run() {
      const { source, reader } = pipe(EVENTS, "stay open");
      await readSome(reader, 3);
      await turn();
      await turn();
      // The writable side holds one event, and one is on its way through.
      const isHeldBack = source.pulls <= 5;
      await reader.cancel();
      return isHeldBack ? "at most 5 pulls for 3 reads" : `${source.pulls} pulls for 3 reads`;
    },
    expected: "at most 5 pulls for 3 reads",
  };
  yield {
    name: "life cycle: nothing is pulled before the first read",
    async run() {
      const source = new Source(EVENTS, "stay open");
      source.readable.pipeThrough(new StreamEventValidatorStream());
      await turn();
      await turn();
      return source.pulls <= 2 ? "at most 2 pulls" : `${source.pulls} pulls`;
    },
    expected: "at most 2 pulls",
  };
  yield {
    name: "life cycle: the writer closes before any event",
    async run() {
      const names = new Names();
      const stream = new StreamEventValidatorStream();
      const writer = stream.writable.getWriter();
      writer.closed.catch(() => {});
      const close = await names.ofOutcome(writer.close());
      const read = await names.ofOutcome(stream.readable.getReader().read());
      return `close: ${close}; read: ${read}; ${await names.ofOutcome(stream.result())}`;
    },
    expected: "close: rejected with truncated at 0; read: rejected with truncated at 0; " +
      "rejected with truncated at 0",
  };
  yield {
    name: "life cycle: piped on, the destination fails",
    async run() {
      const names = new Names();
      const reason = names.give(new Error("full"), "the reason");
      const source = new Source(EVENTS, "stay open");
      const stream = new StreamEventValidatorStream();
      const destination = new WritableStream<StreamEvent>({
        write(event) {
          if (event.type === "text_start") throw reason;
        },
      });
      const piping = source.readable.pipeThrough(stream).pipeTo(destination);
      return `pipe: ${await names.ofOutcome(piping)}; upstream cancelled with ${
        names.of(
          await source.cancelled,
        )
      }; ${await names.ofOutcome(stream.result())}`;
    },
    expected: "pipe: rejected with the reason; upstream cancelled with the reason; " +
      "rejected with the reason",
  };
  yield {
    name: "life cycle: piped on, the destination hears of a violation",
    async run() {
      const names = new Names();
      let aborted: unknown;
      let written = 0;
      const destination = new WritableStream<StreamEvent>({
        write: () => void written++,
        abort: (reason) => void (aborted = reason),
      });
      const source = new Source([...EVENTS.slice(0, 6), IMPOSSIBLE], "stay open");
      const stream = new StreamEventValidatorStream();
      const piping = source.readable.pipeThrough(stream).pipeTo(destination);
      const pipe = await names.ofOutcome(piping);
      return `${written} events; pipe: ${pipe}; destination: ${names.of(aborted)}; ${await names
        .ofOutcome(stream.result())}`;
    },
    expected: "6 events; pipe: rejected with wrong_index at 6; destination: wrong_index at 6; " +
      "rejected with wrong_index at 6",
  };
  yield {
    name: "life cycle: between two streams of the engine",
    async run() {
      const names = new Names();
      names.give(MESSAGE, "the message");
      const stream = new StreamEventValidatorStream();
      const reader = new Source(EVENTS, "close").readable
        .pipeThrough(new TransformStream<StreamEvent, StreamEvent>())
        .pipeThrough(stream)
        .pipeThrough(new TransformStream<StreamEvent, StreamEvent>())
        .getReader();
      return `${told(await readAll(reader), names)}; ${await names.ofOutcome(stream.result())}`;
    },
    expected: `${ALL} events; the message`,
  };
  yield {
    name: "life cycle: split in two with tee",
    async run() {
      const names = new Names();
      const stream = new StreamEventValidatorStream();
      const branches = new Source([...EVENTS.slice(0, 6), IMPOSSIBLE], "close").readable
        .pipeThrough(stream)
        .tee();
      const reads = await Promise.all(branches.map((branch) => readAll(branch.getReader())));
      return reads.map((read) => told(read, names)).join("; ");
    },
    expected: "6 events, then wrong_index at 6; 6 events, then wrong_index at 6",
  };
}

function* otherStreamChecks(): Generator<Check> {
  // What was decoded is another object.
  const isEqual = (a: unknown, b: unknown) => canonical(a) === canonical(b);
  for (const format of ["ndjson", "sse"] as const) {
    const frames = EVENTS.map((event) => frameOf(event, format));
    const notJson = `invalid_json in line ${format === "sse" ? 13 : 7}`;
    const bytesOf = (text: string) => new TextEncoder().encode(text);
    yield {
      name: `decoder ${format}: events and a bad line in one chunk, a slow reader`,
      async run() {
        const names = new Names();
        const bad = format === "sse" ? "data: {]\n\n" : "{]\n";
        const source = new Source([bytesOf(frames.slice(0, 6).join("") + bad)], "stay open");
        const events = source.readable.pipeThrough(new StreamEventDecoderStream({ format }));
        const read = await readAll(events.getReader(), true);
        return `${told(read, names, isEqual)}; upstream cancelled with ${
          names.of(await source.cancelled)
        }`;
      },
      expected: `6 events, then ${notJson}; upstream cancelled with ${notJson}`,
    };
    yield {
      name: `decoder ${format}: upstream fails`,
      async run() {
        const names = new Names();
        const error = names.give(new Error("reset"), "the reason");
        const chunks = frames.slice(0, 6).map(bytesOf);
        const events = new Source(chunks, { error }).readable
          .pipeThrough(new StreamEventDecoderStream({ format }));
        return told(await readAll(events.getReader(), true), names, isEqual);
      },
      expected: "6 events, then the reason",
    };
    yield {
      name: `decoder ${format}: consumer cancels`,
      async run() {
        const names = new Names();
        const reason = names.give(new Error("enough"), "the reason");
        const source = new Source(frames.map(bytesOf), "stay open");
        const reader = source.readable
          .pipeThrough(new StreamEventDecoderStream({ format })).getReader();
        await readSome(reader, 3);
        await reader.cancel(reason);
        return `upstream cancelled with ${names.of(await source.cancelled)}`;
      },
      expected: "upstream cancelled with the reason",
    };
    yield {
      name: `toResponse ${format}: the client leaves`,
      async run() {
        const names = new Names();
        const reason = names.give(new Error("enough"), "the reason");
        const source = new Source(EVENTS, "stay open");
        const reader = toResponse(source.readable, { format }).body!.getReader();
        await readSome(reader, 3);
        await reader.cancel(reason);
        return `upstream cancelled with ${names.of(await source.cancelled)}`;
      },
      expected: "upstream cancelled with the reason",
    };
  }
  for (const [name, { DecoderStream }] of Object.entries(WIRES)) {
    yield {
      name: `decoder ${name}: upstream fails`,
      async run() {
        const source = new Source<Uint8Array>([], { error: new Error("reset") });
        const events = source.readable.pipeThrough(new DecoderStream(fixedOptions()));
        const { values, isFailed } = await readAll(events.getReader(), true);
        const last = values.at(-1);
        const code = last?.type === "error" && last.message.errorCode;
        return `${terminalOf(values)}; ${code}; ${isFailed ? "failed" : "closed"}`;
      },
      expected: "error:error; network_error; closed",
    };
    yield {
      name: `decoder ${name}: consumer cancels`,
      async run() {
        const names = new Names();
        const reason = names.give(new Error("enough"), "the reason");
        const source = new Source<Uint8Array>([], "stay open");
        const reader = source.readable.pipeThrough(new DecoderStream(fixedOptions())).getReader();
        await turn();
        await reader.cancel(reason);
        return `upstream cancelled with ${names.of(await source.cancelled)}`;
      },
      expected: "upstream cancelled with the reason",
    };
  }
  yield {
    name: "push side: consumer leaves",
    async run() {
      const names = new Names();
      const stream = createAssistantMessageEventStream();
      for (const event of EVENTS.slice(0, 3)) stream.push(event);
      for await (const _ of stream) break;
      const result = await names.ofOutcome(stream.result());
      return `${stream.signal.aborted}; signal: ${names.of(stream.signal.reason)}; ${result}`;
    },
    expected: "true; signal: AbortError; rejected with AbortError",
  };
  yield {
    name: "push side: the producer's fault",
    async run() {
      const names = new Names();
      const stream = createAssistantMessageEventStream();
      for (const event of EVENTS.slice(0, 6)) stream.push(event);
      let thrown: unknown;
      try {
        stream.push(IMPOSSIBLE);
      } catch (error) {
        thrown = error;
      }
      let count = 0;
      let seen: unknown;
      try {
        for await (const _ of stream) count++;
      } catch (error) {
        seen = error;
      }
      return `thrown: ${names.of(thrown)}; ${count} events, then ${names.of(seen)}; ${await names
        .ofOutcome(stream.result())}`;
    },
    expected: "thrown: wrong_index at 6; 6 events, then wrong_index at 6; " +
      "rejected with wrong_index at 6",
  };
}

/** A text or thinking block is open, so a text delta may be of the right kind. */
function isTextOpen(count: number): boolean {
  return count === 5 || count === 6 || count === 7;
}

function pipe(
  events: readonly StreamEvent[],
  ending: "close" | "stay open" | { readonly error: unknown },
  options: StreamEventValidatorStreamOptions = {},
  pipeOptions: StreamPipeOptions = {},
): Piped {
  const names = new Names();
  const reason = names.give(new Error("enough"), "the reason");
  names.give(MESSAGE, "the message");
  const source = new Source(events, ending);
  const stream = new StreamEventValidatorStream(options);
  const reader = source.readable.pipeThrough(stream, pipeOptions).getReader();
  return { names, reason, source, stream, reader };
}

/** A stream that some events were written to and read from, by hand. */
async function written(count: number) {
  const names = new Names();
  const reason = names.give(new Error("enough"), "the reason");
  names.give(MESSAGE, "the message");
  const stream = new StreamEventValidatorStream();
  const writer = stream.writable.getWriter();
  writer.closed.catch(() => {});
  const reader = stream.readable.getReader();
  reader.closed.catch(() => {});
  for (const event of EVENTS.slice(0, count)) {
    const writing = writer.write(event);
    if ((await reader.read()).value !== event) throw new Error("Another event came");
    await writing;
  }
  return { names, reason, stream, writer, reader };
}

async function readSome<T>(
  reader: ReadableStreamDefaultReader<T>,
  count: number,
): Promise<Read<T>> {
  const values: T[] = [];
  while (values.length < count) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`Expected ${count} events, received ${values.length}`);
    values.push(value);
  }
  return { values, isFailed: false };
}

/** What was read: how many events, the same in order, and what came then. */
function told(
  { values, error, isFailed }: Read<StreamEvent>,
  names: Names,
  isSame: (a: StreamEvent, b: StreamEvent | undefined) => boolean = Object.is,
): string {
  const areSame = values.every((event, index) => isSame(event, EVENTS[index]));
  const events = `${values.length} events${areSame ? "" : " that are others"}`;
  return isFailed ? `${events}, then ${names.of(error)}` : events;
}
