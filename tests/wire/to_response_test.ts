import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  type AssistantMessage,
  createAssistantMessageEventStream,
  type FailedAssistantMessage,
  type StreamEvent,
  toStreamEvents,
} from "../../mod.ts";
import { readStreamEvents, toResponse } from "../../src/wire/mod.ts";
import { USAGE } from "../_usage.ts";

const MESSAGE: AssistantMessage = {
  role: "assistant",
  content: [{ type: "thinking", thinking: "plan" }, { type: "text", text: "Hello" }],
  provider: "demo",
  model: "demo-1",
  usage: USAGE,
  timestamp: 0,
  stopReason: "stop",
};

const EVENTS = toStreamEvents(MESSAGE, { deltaLength: 2 });

/** What is safe of the first `k` events. */
const SAFE = EVENTS.map((_, k) =>
  k < 2
    ? []
    : k < 6
    ? [{ type: "thinking", thinking: "plan".slice(0, 2 * Math.min(k - 2, 2)) }]
    : [MESSAGE.content[0], { type: "text", text: "Hello".slice(0, 2 * (k - 6)) }]
);

function turn(milliseconds = 0): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function* failing(events: readonly unknown[], error: unknown): AsyncGenerator<StreamEvent> {
  yield* events as StreamEvent[];
  await Promise.resolve();
  throw error;
}

Deno.test("toResponse writes what readStreamEvents reads", async () => {
  for (const format of ["sse", "ndjson"] as const) {
    const readable = new ReadableStream<StreamEvent>({
      start(controller) {
        for (const event of EVENTS) controller.enqueue(event);
        controller.close();
      },
    });
    const sources = [EVENTS, failing(EVENTS, new Error("after the end")), readable];
    for (const source of sources) {
      const response = toResponse(source, { format });
      const events = [];
      for await (const event of readStreamEvents(response)) events.push(event);
      assertEquals(events, EVENTS);
    }
  }
});

Deno.test("toResponse sets headers that keep proxies from holding events back", async () => {
  const response = toResponse(EVENTS);
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assertEquals(response.headers.get("cache-control"), "no-cache, no-transform");
  assertEquals(response.headers.get("x-accel-buffering"), "no");
  assertStringIncludes(await response.text(), 'event: start\nid: 0\ndata: {"type":"start"}\n\n');

  const own = toResponse(EVENTS, {
    format: "ndjson",
    status: 201,
    headers: { "cache-control": "no-store", "x-request-id": "7" },
  });
  assertEquals(own.status, 201);
  assertEquals(own.headers.get("content-type"), "application/x-ndjson; charset=utf-8");
  assertEquals(own.headers.get("cache-control"), "no-store");
  assertEquals(own.headers.get("x-request-id"), "7");
  await own.body?.cancel();
});

Deno.test("toResponse sets every cookie that it is given", async () => {
  const cookies: Array<[string, string]> = [["set-cookie", "a=1"], ["set-cookie", "b=2"]];
  const response = toResponse(EVENTS, { headers: cookies });
  assertEquals(response.headers.getSetCookie(), ["a=1", "b=2"]);
  await response.body?.cancel();
});

Deno.test("toResponse ends in an error event whatever goes wrong, at every moment", async () => {
  const impossible = { type: "nonsense" };
  const unwritable = { type: "text_start", contentIndex: 0, extra: 1n };
  for (let k = 0; k < EVENTS.length; k++) {
    const events = EVENTS.slice(0, k);
    for (
      const [source, errorMessage, errorCode] of [
        [failing(events, new Error("a secret")), "The source of the stream failed", undefined],
        [events, "Stream ended in phase", "truncated"],
        [
          [...events, impossible],
          "Invalid stream event",
          k === 0 ? "expected_start" : "unknown_event",
        ],
        [[...events, null], "Invalid stream event", "malformed_event"],
        [[...events, unwritable], "The source of the stream failed", undefined],
      ] as ReadonlyArray<[Iterable<StreamEvent>, string, string | undefined]>
    ) {
      const stream = readStreamEvents(
        toResponse(source, { now: () => 5, provider: "p", model: "m" }),
      );
      const message = await stream.result();
      assertEquals(message.stopReason, "error");
      assertStringIncludes(message.errorMessage ?? "", errorMessage);
      assertEquals((message as FailedAssistantMessage).errorCode, errorCode);
      assertEquals([message.provider, message.model, message.timestamp], ["p", "m", 5]);
      assertEquals(message.content, SAFE[k] as AssistantMessage["content"]);
    }
  }
});

Deno.test("toResponse tells the source when the client leaves", async () => {
  let returned = 0;
  async function* endless(): AsyncGenerator<StreamEvent> {
    try {
      yield { type: "start" };
      yield { type: "text_start", contentIndex: 0 };
      for (;;) yield { type: "text_delta", contentIndex: 0, delta: "x" };
    } finally {
      returned++;
    }
  }
  const reader = toResponse(endless()).body?.getReader();
  assert(reader);
  await reader.read();
  await reader.cancel();
  await turn();
  assertEquals(returned, 1);

  const pushed = createAssistantMessageEventStream();
  const body = toResponse(pushed).body;
  const waiting = body?.getReader();
  const read = waiting?.read();
  pushed.push({ type: "start" });
  await read;
  const pending = waiting?.read();
  await waiting?.cancel();
  await pending;
  assert(pushed.signal.aborted);

  let reason: unknown;
  const source = new ReadableStream<StreamEvent>({
    cancel: (given) => {
      reason = given;
    },
  });
  await toResponse(source).body?.cancel("bye");
  assertEquals(reason, "bye");
});

Deno.test("toResponse reads the source no faster than the client does", async () => {
  let made = 0;
  async function* endless(): AsyncGenerator<StreamEvent> {
    yield { type: "start" };
    yield { type: "text_start", contentIndex: 0 };
    for (;;) {
      made++;
      yield { type: "text_delta", contentIndex: 0, delta: "x" };
    }
  }
  const reader = toResponse(endless()).body?.getReader();
  for (let i = 0; i < 5; i++) await reader?.read();
  await turn(10);
  assert(made <= 5);
  await reader?.cancel();
});

Deno.test("toResponse sends heartbeats while the source is silent", async () => {
  for (const [format, beat] of [["sse", ": heartbeat\n\n"], ["ndjson", "\n"]] as const) {
    const pushed = createAssistantMessageEventStream();
    const response = toResponse(pushed, { format, heartbeat: 10 });
    const text = response.text();
    await turn(60);
    for (const event of EVENTS) pushed.push(event);
    assert((await text).startsWith(beat + beat), format);
  }
  for (const heartbeat of [Infinity, 2 ** 31, 1e300]) {
    const silent = createAssistantMessageEventStream();
    const reader = toResponse(silent, { heartbeat }).body?.getReader();
    const read = reader?.read();
    assertEquals(await Promise.race([read, turn(40)]), undefined);
    await reader?.cancel();
  }
  assertThrows(
    () => toResponse(EVENTS, { heartbeat: 0 }),
    RangeError,
    "Expected heartbeat to be above 0, received 0",
  );
  assertThrows(
    () => toResponse(EVENTS, { heartbeat: "9" as never }),
    TypeError,
    "Expected heartbeat to be a number, received a string",
  );
});

Deno.test("toResponse sends no heartbeat to a client that left a silent source", async () => {
  async function* silent(): AsyncGenerator<StreamEvent> {
    yield { type: "start" };
    await new Promise(() => {});
  }
  const reader = toResponse(silent(), { heartbeat: 5 }).body?.getReader();
  assert(reader);
  await reader.read();
  assertEquals(new TextDecoder().decode((await reader.read()).value), ": heartbeat\n\n");
  const pending = reader.read();
  await reader.cancel();
  assert((await pending).done);
  // A heartbeat after that would be an error that nobody can catch.
  await turn(40);
});

Deno.test("toResponse holds to the rules what it writes, not what stands in an event", async () => {
  const [start, ...rest] = EVENTS as [StreamEvent, ...StreamEvent[]];
  const index = EVENTS.findIndex(({ type }) => type === "text_start");
  const { type, ...fields } = EVENTS[index] as StreamEvent;
  class Written {
    readonly type = type;
    toJSON(): unknown {
      return { type, ...fields };
    }
  }
  const whole = EVENTS.with(index, new Written() as unknown as StreamEvent);
  assertEquals((await readStreamEvents(toResponse(whole)).result()).content, MESSAGE.content);

  const done = rest.at(-1) as Extract<StreamEvent, { type: "done" }>;
  const other = { toJSON: () => ({ ...done.message, content: [] }) };
  for (
    const [events, errorCode] of [
      [[start, { ...rest[0], toJSON: () => "text" }], "malformed_event"],
      [
        [...EVENTS.slice(0, -1), { ...done, message: { ...done.message, ...other } }],
        "message_mismatch",
      ],
    ] as ReadonlyArray<[StreamEvent[], string]>
  ) {
    const message = await readStreamEvents(toResponse(events)).result();
    assertEquals((message as FailedAssistantMessage).errorCode, errorCode);
  }
});

/** An event or message whose fields are read, but not written: they are not its own. */
function inheriting<T extends object>(value: T): T {
  return Object.create({ ...value }) as T;
}

/** One whose fields are its own, but hidden. */
function hiding<T extends object>(value: T): T {
  const fields = Object.entries(value).map(([key, value]) => [key, { value }]);
  return Object.defineProperties({}, Object.fromEntries(fields)) as T;
}

/** One whose fields are something else the second time they are read. */
function changing<T extends object>(value: T): T {
  const result = {};
  for (const [key, own] of Object.entries(value)) {
    let reads = 0;
    Object.defineProperty(result, key, {
      enumerable: true,
      get: () => reads++ === 0 ? own : "changed",
    });
  }
  return result as T;
}

Deno.test("toResponse holds an event to the rules by the fields that are written", async () => {
  const done = EVENTS.at(-1) as Extract<StreamEvent, { type: "done" }>;
  for (const format of ["sse", "ndjson"] as const) {
    for (const disguise of [inheriting, hiding]) {
      for (let i = 0; i < EVENTS.length; i++) {
        const events = EVENTS.with(i, disguise(EVENTS[i] as StreamEvent));
        const message = await readStreamEvents(toResponse(events, { format })).result();
        assertEquals((message as FailedAssistantMessage).errorCode, "malformed_event");
      }
      const events = EVENTS.with(-1, { ...done, message: disguise(done.message) });
      const message = await readStreamEvents(toResponse(events, { format })).result();
      assertEquals((message as FailedAssistantMessage).errorCode, "malformed_event");
    }
    const once = [
      ...EVENTS.slice(0, -1).map(changing),
      changing({ ...done, message: changing(done.message) }),
    ];
    assertEquals(await readStreamEvents(toResponse(once, { format })).result(), MESSAGE);
  }
  const call = { type: "tool_call", id: "call_1", name: "lookup", arguments: {} } as const;
  const calling = toStreamEvents({ ...MESSAGE, content: [call] });
  const i = calling.findIndex(({ type }) => type === "tool_call_end");
  const end = { ...calling[i], toolCall: inheriting(call) } as StreamEvent;
  const message = await readStreamEvents(toResponse(calling.with(i, end))).result();
  assertEquals((message as FailedAssistantMessage).errorCode, "malformed_event");
});

Deno.test("toResponse ends in an error event where no reader would take the message", async () => {
  const failed: FailedAssistantMessage = {
    ...MESSAGE,
    stopReason: "error",
    errorMessage: "The model is away",
  };
  const cases: ReadonlyArray<readonly [AssistantMessage, object, string]> = [
    [MESSAGE, { usage: undefined }, "usage"],
    [MESSAGE, { usage: { ...USAGE, output: NaN } }, "a numeric usage.output"],
    [MESSAGE, { model: 7 }, "a string model"],
    [MESSAGE, { role: "user" }, 'role "assistant"'],
    // As an instance of a class has them, whose fields are no fields of what JSON writes.
    [MESSAGE, { usage: Object.create(USAGE) }, "a numeric usage.input"],
    [MESSAGE, { usage: { ...USAGE, toJSON: () => null } }, "usage"],
    [
      MESSAGE,
      { usage: { ...USAGE, cost: Object.create(USAGE.cost) } },
      "a numeric usage.cost.input",
    ],
    [failed, { errorMessage: undefined }, "a string errorMessage"],
  ];
  for (const [message, change, missing] of cases) {
    const events = toStreamEvents(message);
    const last = { ...events.at(-1), message: { ...message, ...change } } as StreamEvent;

    const read = await readStreamEvents(toResponse(events.with(-1, last))).result();

    assert(read.stopReason === "error");
    assertEquals(read.errorCode, "invalid_message");
    assertEquals(read.errorMessage, `Expected message with ${missing}`);
    assertEquals(read.content, MESSAGE.content);
  }
});

Deno.test("toResponse writes what map gives, and holds that to the rules", async () => {
  const secret: FailedAssistantMessage = {
    ...MESSAGE,
    stopReason: "error",
    errorMessage: "10.0.0.1 refused",
    errorDetails: { status: 502 },
    providerReplay: { api: "demo", data: {} },
  };
  const seen: string[] = [];
  const response = toResponse(toStreamEvents(secret), {
    map(event) {
      seen.push(event.type);
      if (event.type !== "error") return event;
      const { providerReplay: _, errorDetails: __, ...message } = event.message;
      return { ...event, message: { ...message, errorMessage: "The model is away" } };
    },
  });
  const { providerReplay: _, errorDetails: __, ...rest } = secret;
  assertEquals(await readStreamEvents(response).result(), {
    ...rest,
    errorMessage: "The model is away",
  });
  assertEquals(seen, toStreamEvents(secret).map(({ type }) => type));

  const doubling = toResponse(EVENTS, { map: () => EVENTS[0] as StreamEvent });
  const doubled = await readStreamEvents(doubling).result();
  assertEquals((doubled as FailedAssistantMessage).errorCode, "duplicate_start");

  let isLeft = false;
  async function* source() {
    try {
      yield* EVENTS;
      await Promise.resolve();
    } finally {
      isLeft = true;
    }
  }
  const throwing = toResponse(source(), {
    map(event) {
      if (event.type === "text_start") throw new Error("a secret");
      return event;
    },
  });
  const thrown = await readStreamEvents(throwing).result();
  assertEquals((thrown as FailedAssistantMessage).errorMessage, "The source of the stream failed");
  await turn();
  assert(isLeft);
  assertThrows(() => toResponse(EVENTS, { map: {} as never }), TypeError, "Expected map to be a");
});

Deno.test("toResponse leaves the source alone when an option is wrong", () => {
  for (
    const options of [
      { status: 204 },
      { status: 999 },
      { headers: { "no name": "x" } },
      { limits: { contentBlocks: -1 } },
      { heartbeat: 0 },
    ]
  ) {
    const source = new ReadableStream<StreamEvent>();
    assertThrows(() => toResponse(source, options));
    assert(!source.locked, JSON.stringify(options));
  }
});

Deno.test("toResponse lets the source go whatever it failed with, and where the clock throws", async () => {
  const unreadable = ["getPrototypeOf", "has", "get"].map((trap) =>
    new Proxy(new Error("hidden"), {
      [trap]: () => {
        throw new Error("trap");
      },
    })
  );
  for (const failure of [...unreadable, undefined, null]) {
    let returned = 0;
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(failure),
        return: () => Promise.resolve({ done: true as const, value: ++returned }),
      }),
    };
    const message = await readStreamEvents(toResponse(source)).result();
    assertEquals(
      (message as FailedAssistantMessage).errorMessage,
      "The source of the stream failed",
    );
    assertEquals(returned, 1);
  }
  let returned = 0;
  function* source(): Generator<StreamEvent> {
    try {
      yield { type: "start" };
      yield { type: "start" };
    } finally {
      returned++;
    }
  }
  const failure = new Error("no clock");
  const now = () => {
    throw failure;
  };
  assertStrictEquals(
    await assertRejects(() => toResponse(source(), { now }).text()),
    failure,
  );
  await turn();
  assertEquals(returned, 1);
});

Deno.test("toResponse refuses what cannot be iterated", () => {
  for (
    const [events, received] of [["abc", "a string"], [null, "null"], [undefined, "undefined"], [
      {},
      "an object",
    ]]
  ) {
    assertThrows(
      () => toResponse(events as unknown as StreamEvent[]),
      TypeError,
      `Expected events that can be iterated, received ${received}`,
    );
  }
});
