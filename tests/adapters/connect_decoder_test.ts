import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { runInNewContext } from "node:vm";
import type { StreamEvent } from "../../mod.ts";
import {
  type Adapter,
  type AdapterOptions,
  connectDecoder,
  type Emit,
  streamResponse,
  type StreamResponseOptions,
  WireAdapter,
} from "../../src/adapters/adapter/mod.ts";
import { OllamaChatDecoderStream } from "../../src/adapters/ollama/mod.ts";
import { readAll } from "./_decoder_suite.ts";

/** An adapter that does not keep its promise to throw nothing. */
class ThrowingAdapter implements Adapter {
  isFinished = false;
  readonly #error: Error;
  readonly #lastWords: StreamEvent | undefined;

  constructor(error: Error, lastWords?: StreamEvent) {
    this.#error = error;
    this.#lastWords = lastWords;
  }

  push(): void {
    throw this.#error;
  }

  end(): void {
    throw this.#error;
  }

  fail(_cause: unknown, emit: Emit): void {
    if (!this.#lastWords) throw this.#error;
    this.isFinished = true;
    emit(this.#lastWords);
  }
}

function connected(adapter: Adapter): TransformStream<Uint8Array, StreamEvent> {
  const stream = new TransformStream<Uint8Array, StreamEvent>();
  connectDecoder(stream, adapter, "ndjson");
  return stream;
}

function bodyOf(text: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new Blob([text]).stream();
}

Deno.test("connectDecoder leaves no reader waiting for an adapter that throws", async () => {
  for (const body of ["{}\n", ""]) {
    const error = new Error("a bug");
    const events = bodyOf(body).pipeThrough(connected(new ThrowingAdapter(error)));
    assertStrictEquals(await assertRejects(() => readAll(events)), error);
  }
});

Deno.test("connectDecoder lets an adapter that throws have the last word", async () => {
  const error = new Error("a bug");
  const start: StreamEvent = { type: "start" };
  const stream = connected(new ThrowingAdapter(error, start));
  const piped = bodyOf("{}\n").pipeTo(stream.writable);
  const [events] = await Promise.all([
    readAll(stream.readable),
    assertRejects(() => piped).then((reason) => assertStrictEquals(reason, error)),
  ]);
  assertEquals(events, [start]);
});

Deno.test("connectDecoder tells the reader alone what an adapter throws at an abort", async () => {
  const error = new Error("a bug");
  const { readable, writable } = connected(new ThrowingAdapter(error));
  await writable.abort(new Error("gone"));
  assertStrictEquals(await assertRejects(() => readAll(readable)), error);
});

Deno.test("connectDecoder locks the sides that the stream had before, which decode nothing", () => {
  const stream = connected(new ThrowingAdapter(new Error("a bug")));
  for (const side of ["readable", "writable"] as const) {
    assert(Reflect.get(TransformStream.prototype, side, stream).locked);
    assert(!stream[side].locked);
  }
});

Deno.test("connectDecoder takes no chunk before a reader waits", async () => {
  let taken = 0;
  const adapter: Adapter = {
    isFinished: false,
    push(payload, emit) {
      taken++;
      if (payload === 1) emit({ type: "start" });
    },
    end: () => {},
    fail: () => {},
  };
  const { readable, writable } = connected(adapter);
  const writer = writable.getWriter();
  writer.closed.catch(() => {});
  for (const chunk of ["1\n", "0\n", "1\n", "1\n", "1\n"]) {
    writer.write(new TextEncoder().encode(chunk)).catch(() => {});
  }
  const reader = readable.getReader();
  const seen = [];
  for (const reads of [0, 1, 1, 2]) {
    await Promise.all(Array.from({ length: reads }, () => reader.read()));
    await new Promise((resolve) => setTimeout(resolve));
    seen.push(taken);
  }
  assertEquals(seen, [0, 1, 3, 5]);
  await reader.cancel();
});

Deno.test("connectDecoder takes the bytes of another realm", async () => {
  const text = '{"model":"m","message":{"role":"assistant","content":"Hi"},"done":true,' +
    '"done_reason":"stop"}\n';
  const codes = JSON.stringify([...text].map((letter) => letter.charCodeAt(0)));
  const bytes = runInNewContext(`Uint8Array.from(${codes})`) as Uint8Array;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  const events = await readAll(body.pipeThrough(new OllamaChatDecoderStream()));
  assertEquals(events.at(-1)?.type, "done");
});

/** An adapter that does not say how its response ends. */
class OpenAdapter extends WireAdapter {
  protected override take(): void {}
  protected override takeEnd(): void {}
}

/** One that says nothing at all. */
class MuteAdapter implements Adapter {
  readonly isFinished = false;
  push(): void {}
  end(): void {}
  fail(): void {}
}

const WIRE = {
  format: "ndjson",
  contentTypes: ["application/x-ndjson"],
  requestIdHeaders: [],
} as const;

Deno.test("WireAdapter ends a response that its takeEnd leaves open", async () => {
  const events = await readAll(bodyOf("{}\n").pipeThrough(connected(new OpenAdapter({}, "acme"))));
  const message = await streamResponse(bodyOf("{}\n"), new OpenAdapter({}, "acme"), WIRE).result();

  assertEquals(events.map(({ type }) => type), ["start", "error"]);
  assert(message.stopReason === "error");
  assertEquals(message.errorCode, "truncated");
});

Deno.test("an adapter that never ends its response leaves nobody waiting", async () => {
  const expected = "Expected the adapter to end the response where its body ends";
  const error = await assertRejects(
    () => streamResponse(bodyOf("{}\n"), new MuteAdapter(), WIRE).result(),
    TypeError,
  );
  assertEquals(error.message, expected);
  const events = bodyOf("{}\n").pipeThrough(connected(new MuteAdapter()));
  assertEquals((await assertRejects(() => readAll(events), TypeError)).message, expected);
});

Deno.test("an adapter that has finished is refused", async () => {
  const adapter = new OpenAdapter({}, "acme");
  await streamResponse(bodyOf(""), adapter, WIRE).result();

  for (const use of [() => streamResponse(bodyOf(""), adapter, WIRE), () => connected(adapter)]) {
    const error = assertThrows(use, TypeError);
    assertEquals(
      error.message,
      "Expected an adapter for each response, received one that has finished",
    );
  }
});

Deno.test("streamResponse leaves it to the adapter what a response may hold", async () => {
  class TextAdapter extends WireAdapter {
    protected override take(): void {
      const text = this.blocks.open("text");
      this.blocks.append(text, "Hi");
      this.blocks.close(text);
    }
    protected override takeEnd(): void {
      this.blocks.finish("stop");
    }
  }
  const read = (options: AdapterOptions) =>
    streamResponse(bodyOf("1\n2\n"), new TextAdapter(options, "acme"), WIRE, {
      limits: { contentBlocks: 1 },
    } as StreamResponseOptions).result();

  assertEquals((await read({})).content.length, 2);
  const message = await read({ limits: { contentBlocks: 1 } });
  assert(message.stopReason === "error");
  assertEquals(message.errorCode, "limit_exceeded");
});
