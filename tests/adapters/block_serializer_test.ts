import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  type AssistantContent,
  type AssistantMessage,
  createStreamEventValidator,
  type FailedAssistantMessage,
  type JsonObject,
  type ProviderReplay,
  type StreamEvent,
} from "../../mod.ts";
import type { AdapterOptions } from "../../src/adapters/_adapter.ts";
import { BlockSerializer, type SerializedBlock } from "../../src/adapters/_block_serializer.ts";
import { WireAdapter } from "../../src/adapters/_wire_adapter.ts";
import { arbitraryArguments, arbitraryText } from "../_arbitraries.ts";

type Step = (blocks: BlockSerializer) => void;

/** An adapter whose payloads are what to do with the serializer. */
class StepAdapter extends WireAdapter {
  protected override take(payload: unknown): void {
    (payload as Step)(this.blocks);
  }

  protected override takeEnd(): void {
    this.blocks.finish("stop");
  }

  protected override replay(): ProviderReplay | undefined {
    return undefined;
  }
}

const OPTIONS: AdapterOptions = { provider: "demo", model: "demo-1", now: () => 7 };

/** The events of some steps. Fails unless they are legal so far. */
function run(steps: readonly Step[], options: AdapterOptions = {}): StreamEvent[] {
  const validator = createStreamEventValidator();
  const events: StreamEvent[] = [];
  const adapter = new StepAdapter({ ...OPTIONS, ...options }, "nobody");
  for (const step of steps) {
    adapter.push(step, (event) => {
      validator.accept(event);
      events.push(event);
    });
  }
  return events;
}

/** The message of a stream that broke off. */
function failed(events: readonly StreamEvent[]): FailedAssistantMessage {
  const last = events.at(-1);
  assert(last?.type === "error");
  return last.message;
}

/** Events in short: the type, the block, and what it says. */
function brief(events: readonly StreamEvent[]): string[] {
  return events.map((event) => {
    switch (event.type) {
      case "start":
        return "start";
      case "text_delta":
      case "thinking_delta":
        return `${event.type} ${event.contentIndex} ${event.delta}`;
      case "tool_call_delta":
        return `${event.type} ${event.contentIndex} ${event.argumentsDelta}`;
      case "tool_call_start":
        return `${event.type} ${event.contentIndex} ${event.id} ${event.name}`;
      case "done":
      case "error":
        return `${event.type} ${event.reason}`;
      default:
        return `${event.type} ${event.contentIndex}`;
    }
  });
}

/** Opens a tool call that is known. */
function openCall(blocks: BlockSerializer, id: string, name = "look"): SerializedBlock {
  const call = blocks.open("tool_call");
  blocks.identify(call, id, name);
  return call;
}

Deno.test("BlockSerializer keeps one block open when blocks overlap", () => {
  const events = run([(blocks) => {
    const thinking = blocks.open("thinking");
    const text = blocks.open("text");
    blocks.append(text, "Hel");
    blocks.append(thinking, "hm");
    blocks.append(text, "lo");
    blocks.close(text);
    blocks.append(thinking, "!");
    blocks.close(thinking);
    blocks.finish("stop");
  }]);

  assertEquals(brief(events), [
    "start",
    "thinking_start 0",
    "thinking_delta 0 hm",
    "thinking_delta 0 !",
    "thinking_end 0",
    "text_start 1",
    "text_delta 1 Hello",
    "text_end 1",
    "done stop",
  ]);
});

Deno.test("BlockSerializer lets an empty block appear only when it is kept", () => {
  const events = run([(blocks) => {
    blocks.close(blocks.open("text"));
    const thinking = blocks.open("thinking");
    blocks.keep(thinking);
    blocks.close(thinking);
    blocks.open("text");
    blocks.finish("stop");
  }]);

  assertEquals(brief(events), ["start", "thinking_start 0", "thinking_end 0", "done stop"]);
});

Deno.test("BlockSerializer starts a tool call when its id and name are known", () => {
  const events = run([(blocks) => {
    const call = blocks.open("tool_call");
    blocks.append(call, "{");
    blocks.identify(call, "", "");
    blocks.identify(call, undefined, "look");
    blocks.append(call, "");
    blocks.identify(call, "a", undefined);
    blocks.identify(call, "b", "other");
    blocks.append(call, "}");
    blocks.close(call);
    blocks.finish("tool_use");
  }]);

  assertEquals(brief(events), [
    "start",
    "tool_call_start 0 a look",
    "tool_call_delta 0 {",
    "tool_call_delta 0 }",
    "tool_call_end 0",
    "done tool_use",
  ]);
});

Deno.test("BlockSerializer takes arguments that come as an object, or not at all", () => {
  const events = run([(blocks) => {
    blocks.closeToolCall(openCall(blocks, "a"), { city: "Oslo" });
    blocks.closeToolCall(openCall(blocks, "b"));
    blocks.finish("stop");
  }]);

  const last = events.at(-1);
  assert(last?.type === "done");
  assertEquals(last.reason, "tool_use");
  assertEquals(last.message.content, [
    { type: "tool_call", id: "a", name: "look", arguments: { city: "Oslo" } },
    { type: "tool_call", id: "b", name: "look", arguments: {} },
  ]);
});

Deno.test("BlockSerializer keeps its message when whoever runs a tool call fills in its arguments", () => {
  const validator = createStreamEventValidator();
  const given = { list: [{ x: 1 }] };
  let message: AssistantMessage | undefined;
  const blocks = new BlockSerializer({}, "acme");
  blocks.emit = (event) => {
    validator.accept(event);
    if (event.type === "done") ({ message } = event);
    if (event.type !== "tool_call_end") return;
    // As validators of JSON Schema do that know defaults.
    const args = event.toolCall.arguments as Record<string, unknown>;
    args.unit = "km";
    (args.list as unknown[]).push({});
  };

  blocks.closeToolCall(openCall(blocks, "a"), given);
  const call = openCall(blocks, "b");
  blocks.append(call, '{"list":[]}');
  blocks.closeToolCall(call);
  blocks.finish("tool_use");

  assertEquals(message?.content, [
    { type: "tool_call", id: "a", name: "look", arguments: { list: [{ x: 1 }] } },
    { type: "tool_call", id: "b", name: "look", arguments: { list: [] } },
  ]);
  assertEquals(given, { list: [{ x: 1 }] });
});

Deno.test("BlockSerializer gives every message a usage of its own", () => {
  const usageOf = () => {
    const last = run([(blocks) => blocks.finish("stop")]).at(-1);
    assert(last?.type === "done");
    return last.message.usage;
  };
  const before = usageOf();
  Object.assign(before.cost, { total: 1 });

  assertEquals(usageOf().cost.total, 0);
});

// As on a page that a local network serves over HTTP.
Deno.test("BlockSerializer makes an id where there is no crypto.randomUUID()", () => {
  const own = Object.getOwnPropertyDescriptor(crypto, "randomUUID");
  Object.defineProperty(crypto, "randomUUID", { value: undefined, configurable: true });
  try {
    const [first, second] = run([(blocks) => {
      for (let i = 0; i < 2; i++) {
        const call = blocks.open("tool_call");
        blocks.identify(call, undefined, "look");
        blocks.close(call);
      }
      blocks.finish("tool_use");
    }]).flatMap((event) => event.type === "tool_call_start" ? [event.id] : []);
    for (const id of [first, second]) assert(/^call_[0-9a-f]{32}$/.test(id as string), id);
    assert(first !== second);
  } finally {
    if (own) Object.defineProperty(crypto, "randomUUID", own);
    else delete (crypto as { randomUUID?: unknown }).randomUUID;
  }
});

Deno.test("BlockSerializer makes ids that no other call has when createId repeats itself", () => {
  const events = run([(blocks) => {
    openCall(blocks, "same");
    const calls = [0, 1].map(() => blocks.open("tool_call"));
    for (const call of calls) {
      blocks.identify(call, undefined, "look");
      blocks.close(call);
    }
    blocks.close(openCall(blocks, "same_3"));
  }, (blocks) => {
    blocks.fail("error", "truncated", "Cut");
  }], { createId: () => "same" });
  assertEquals(brief(events), ["start", "tool_call_start 0 same look", "error error"]);

  const whole = run([(blocks) => {
    for (let i = 0; i < 3; i++) {
      const call = blocks.open("tool_call");
      blocks.identify(call, undefined, "look");
      blocks.close(call);
    }
    blocks.finish("tool_use");
  }], { createId: () => "same" });
  const starts = whole.flatMap((event) => event.type === "tool_call_start" ? [event.id] : []);
  assertEquals(starts, ["same", "same_2", "same_3"]);
});

/** What cannot end well, and what is said of it. */
const FAILURES: readonly [name: string, step: Step, code: string, message: string][] = [
  [
    "arguments that are not JSON",
    (blocks) => {
      const call = openCall(blocks, "a");
      blocks.append(call, "{");
      blocks.close(call);
    },
    "invalid_tool_arguments",
    'Expected the arguments of tool "look" to be valid JSON',
  ],
  [
    "arguments that are no object",
    (blocks) => {
      const call = openCall(blocks, "a");
      blocks.append(call, '"{}"');
      blocks.close(call);
    },
    "invalid_tool_arguments",
    'Expected the arguments of tool "look" to be a JSON object, received a string',
  ],
  [
    "arguments in two ways",
    (blocks) => {
      const call = openCall(blocks, "a");
      blocks.append(call, "{}");
      blocks.closeToolCall(call, {});
    },
    "invalid_tool_arguments",
    'Expected the arguments of tool "look" as text or as an object, received both',
  ],
  [
    "arguments that JSON cannot hold",
    (blocks) => blocks.closeToolCall(openCall(blocks, "a"), { at: new Date() } as never),
    "invalid_tool_arguments",
    'Expected the arguments of tool "look" to hold nothing but JSON',
  ],
  [
    "arguments that nest too deep",
    (blocks) => {
      const call = openCall(blocks, "a");
      blocks.append(call, '{"a":'.repeat(9) + "1" + "}".repeat(9));
      blocks.close(call);
    },
    "limit_exceeded",
    'Expected the arguments of tool "look" to nest at most 8 levels deep',
  ],
  [
    "a call without a name",
    (blocks) => {
      const call = blocks.open("tool_call");
      blocks.identify(call, "a", undefined);
      blocks.close(call);
    },
    "ambiguous_tool_call",
    "Expected a tool call to have a name",
  ],
  [
    "an id that is taken",
    (blocks) => {
      blocks.close(openCall(blocks, "a"));
      openCall(blocks, "a");
    },
    "ambiguous_tool_call",
    'Expected another id for a second tool call, received "a" again',
  ],
  [
    "an open call at the end",
    (blocks) => {
      openCall(blocks, "a");
      blocks.finish("tool_use");
    },
    "wire_order",
    'Expected the end of the call of tool "look" before the end of the response',
  ],
  [
    "an open call at the output limit",
    (blocks) => {
      blocks.open("tool_call");
      blocks.finish("length");
    },
    "output_limit",
    "The output limit cut a tool call",
  ],
  [
    "a stop for a tool call that is not there",
    (blocks) => blocks.finish("tool_use"),
    "missing_tool_call",
    "Expected a tool call, since the response stopped for one",
  ],
  [
    "a piece for a closed block",
    (blocks) => {
      const text = blocks.open("text");
      blocks.close(text);
      blocks.append(text, "more");
    },
    "wire_order",
    "Expected nothing more for a block after its end",
  ],
  [
    "too many blocks",
    (blocks) => {
      for (let i = 0; i < 5; i++) blocks.open("text");
    },
    "limit_exceeded",
    "Expected at most 4 blocks",
  ],
  [
    "too much text",
    (blocks) => blocks.append(blocks.open("text"), "x".repeat(101)),
    "limit_exceeded",
    "Expected at most 100 UTF-16 code units in a message",
  ],
  [
    "too much beside the text",
    (blocks) => blocks.count(101),
    "limit_exceeded",
    "Expected at most 100 UTF-16 code units in a message",
  ],
  [
    "too much that waits",
    (blocks) => {
      blocks.append(blocks.open("text"), "x");
      blocks.append(blocks.open("text"), "0123456789!");
    },
    "limit_exceeded",
    "Expected at most 10 UTF-16 code units to wait for an earlier block",
  ],
  [
    "an id that is none",
    (blocks) => {
      const call = blocks.open("tool_call");
      blocks.identify(call, undefined, "look");
      blocks.close(call);
    },
    "malformed_frame",
    "Unexpected frame: Expected createId() to return a non-empty string, received an empty one",
  ],
];

const LIMITS = { contentBlocks: 4, messageLength: 100, argumentsDepth: 8, waitingLength: 10 };

for (const [name, step, code, message] of FAILURES) {
  Deno.test(`BlockSerializer ends in an error when there is ${name}`, () => {
    const { errorCode, errorMessage } = failed(
      run([step], { limits: LIMITS, createId: () => "" }),
    );

    assertEquals([errorCode, errorMessage], [code, message]);
  });
}

Deno.test("BlockSerializer keeps what is safe when the response breaks off", () => {
  const { content } = failed(run([(blocks) => {
    blocks.append(blocks.open("text"), "open");
    const whole = openCall(blocks, "a");
    blocks.append(whole, "{}");
    blocks.close(whole);
    blocks.append(openCall(blocks, "b"), '{"half":');
    blocks.append(blocks.open("thinking"), "half a pair \ud83d");
    blocks.fail("aborted", "aborted", "Stopped");
  }]));

  assertEquals(content, [
    { type: "text", text: "open" },
    { type: "tool_call", id: "a", name: "look", arguments: {} },
    { type: "thinking", thinking: "half a pair \ud83d" },
  ]);
});

Deno.test("BlockSerializer leaves out a call that it began when the response breaks off", () => {
  const events = run([(blocks) => {
    const text = blocks.open("text");
    blocks.append(text, "Hi");
    blocks.close(text);
    blocks.append(openCall(blocks, "a"), '{"half":');
    blocks.fail("error", "truncated", "Cut", { status: 200 });
  }]);

  assertEquals(failed(events), {
    role: "assistant",
    content: [{ type: "text", text: "Hi" }],
    provider: "demo",
    model: "demo-1",
    usage: {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    timestamp: 7,
    stopReason: "error",
    errorMessage: "Cut",
    errorCode: "truncated",
    errorDetails: { status: 200 },
  });
});

Deno.test("BlockSerializer puts the halves of a surrogate pair together", () => {
  const events = run([(blocks) => {
    const text = blocks.open("text");
    blocks.append(text, "a\ud83d");
    blocks.append(text, "\ude00b");
    blocks.finish("length");
  }]);

  assertEquals(brief(events).slice(2), [
    "text_delta 0 a",
    "text_delta 0 \ud83d\ude00b",
    "text_end 0",
    "done length",
  ]);
});

Deno.test("BlockSerializer refuses options of the wrong kind", () => {
  const create = (options: unknown) => () => new StepAdapter(options as AdapterOptions, "nobody");

  const limit = assertThrows(create({ limits: { waitingLength: "1" } }), TypeError);
  const range = assertThrows(create({ limits: { contentBlocks: -1 } }), RangeError);
  const now = assertThrows(create({ now: () => NaN }), TypeError);

  assertEquals(limit.message, 'Expected limit "waitingLength" to be a number, received a string');
  assertEquals(
    range.message,
    'Expected limit "contentBlocks" to be a whole number from 0 on or Infinity, received -1',
  );
  assertEquals(now.message, "Expected now() to return a finite number, received a number");
});

Deno.test("WireAdapter gives back what its taker throws, after the events", () => {
  const adapter = new StepAdapter(OPTIONS, "nobody");
  const types: string[] = [];

  const error = assertThrows(() =>
    adapter.push((blocks: BlockSerializer) => blocks.finish("stop"), (event) => {
      types.push(event.type);
      throw new Error(event.type);
    })
  );

  assertEquals(error.message, "start");
  assertEquals(types, ["start", "done"]);
});

/** Why a body can break, and what is said of it. */
const CAUSES: readonly [cause: unknown, reason: string, code: string, message: string][] = [
  [new DOMException("Gone", "AbortError"), "aborted", "aborted", "Gone"],
  [new DOMException("Late", "TimeoutError"), "error", "idle_timeout", "Late"],
  [
    new TypeError("fetch failed", { cause: new Error("ECONNRESET") }),
    "error",
    "network_error",
    "The connection broke: fetch failed: ECONNRESET",
  ],
  ["reset", "error", "network_error", "The connection broke: reset"],
  [undefined, "error", "network_error", "The connection broke: undefined"],
  [
    Object.assign(Object.create(Error.prototype), { name: "Odd" }),
    "error",
    "network_error",
    "The connection broke: Odd",
  ],
  [
    Object.create(Error.prototype, {
      name: {
        get() {
          throw 0;
        },
      },
    }),
    "error",
    "network_error",
    "The connection broke: an error that cannot be read",
  ],
];

Deno.test("WireAdapter says what broke a body", () => {
  for (const [cause, reason, code, message] of CAUSES) {
    const events: StreamEvent[] = [];
    new StepAdapter(OPTIONS, "nobody").fail(cause, (event) => events.push(event));

    const { stopReason, errorCode, errorMessage } = failed(events);
    assertEquals([stopReason, errorCode, errorMessage], [reason, code, message]);
  }
});

/** A call on the serializer, made of numbers and texts. */
function arbitraryStep(): fc.Arbitrary<(handles: SerializedBlock[]) => Step> {
  const kind = fc.constantFrom<AssistantContent["type"]>("text", "thinking", "tool_call");
  const at = fc.nat({ max: 5 });
  const name = fc.constantFrom(undefined, "", "a", "b", "c", "made_up");
  const piece = fc.oneof(
    arbitraryText(),
    fc.constantFrom("", "{}", "{", "}", '{"a":', "1}", "\ud83d", "\ude00", "[]"),
  );
  const onHandle = (
    act: (blocks: BlockSerializer, handle: SerializedBlock) => void,
    index: number,
  ) =>
  (handles: SerializedBlock[]): Step =>
  (blocks) => {
    const handle = handles[index % Math.max(1, handles.length)];
    if (handle) act(blocks, handle);
  };
  return fc.oneof(
    {
      weight: 4,
      arbitrary: kind.map((kind) => (handles: SerializedBlock[]): Step => (b) =>
        handles.push(b.open(kind))
      ),
    },
    {
      weight: 6,
      arbitrary: fc.tuple(at, piece).map(([i, text]) => onHandle((b, h) => b.append(h, text), i)),
    },
    {
      weight: 4,
      arbitrary: fc.tuple(at, name, name).map(([i, id, name]) =>
        onHandle((b, h) => b.identify(h, id, name), i)
      ),
    },
    { weight: 3, arbitrary: at.map((i) => onHandle((b, h) => b.close(h), i)) },
    { weight: 1, arbitrary: at.map((i) => onHandle((b, h) => b.keep(h), i)) },
    {
      weight: 2,
      arbitrary: fc.tuple(at, arbitraryArguments()).map(([i, value]) =>
        onHandle((b, h) => b.closeToolCall(h, value), i)
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Step>(
        (b) => b.start(),
        (b) => b.finish("stop"),
        (b) => b.finish("tool_use"),
        (b) => b.finish("length"),
        (b) => b.fail("error", "truncated", "Cut"),
        () => {
          throw new TypeError("A fault of the adapter");
        },
      ).map((step) => () => step),
    },
  );
}

Deno.test("BlockSerializer makes a legal stream whatever is called", () => {
  const options = {
    ...OPTIONS,
    createId: () => "made_up",
    limits: { waitingLength: 40, messageLength: 200 },
  };
  const endings = fc.constantFrom("end", "fail");
  fc.assert(
    fc.property(fc.array(arbitraryStep(), { maxLength: 24 }), endings, (steps, ending) => {
      const validator = createStreamEventValidator();
      const emit = (event: StreamEvent) => validator.accept(event);
      const adapter = new StepAdapter(options, "nobody");
      const handles: SerializedBlock[] = [];
      // Several steps in one payload go on after a terminal event, too.
      for (let i = 0; i < steps.length; i += 3) {
        const some = steps.slice(i, i + 3);
        adapter.push((blocks: BlockSerializer) => {
          for (const step of some) step(handles)(blocks);
        }, emit);
      }
      if (ending === "end") adapter.end(emit);
      else adapter.fail(new Error("reset"), emit);
      assert(adapter.isFinished);
      validator.end();
    }),
    { numRuns: 5_000 },
  );
});

Deno.test("BlockSerializer refuses an id, a name and a text that are no strings", () => {
  for (const value of [5, true, ["f"], { length: 1 }]) {
    const wrong = value as unknown as string;
    const steps: [string, Step][] = [
      ["the id of a tool call", (blocks) => blocks.identify(blocks.open("tool_call"), wrong, "f")],
      [
        "the name of a tool call",
        (blocks) => blocks.identify(blocks.open("tool_call"), "a", wrong),
      ],
      ["the text of a block", (blocks) => blocks.append(blocks.open("text"), wrong)],
    ];
    for (const [what, step] of steps) {
      const last = run([step]).at(-1);
      assert(last?.type === "error", what);
      assertEquals(last.message.errorCode, "malformed_frame");
      assert(last.message.errorMessage.startsWith(`Expected ${what} to be a string, received `));
    }
  }
});

Deno.test("BlockSerializer gives the message arguments of its own where the wire's go back", () => {
  for (const isFailed of [false, true]) {
    const input: JsonObject = { city: "Oslo" };
    const events: StreamEvent[] = [];
    const blocks = new BlockSerializer({}, "acme");
    blocks.emit = (event) => events.push(event);
    const call = blocks.open("tool_call");
    blocks.identify(call, "call_1", "lookup");
    blocks.closeToolCall(call, input);
    const replay = { api: "acme", data: [input] };
    if (isFailed) blocks.fail("error", "truncated", "cut", undefined, replay);
    else blocks.finish("stop", replay);

    const last = events.at(-1);
    assert(last?.type === "done" || last?.type === "error");
    const [block] = last.message.content;
    assert(block?.type === "tool_call");
    (block.arguments as Record<string, unknown>).unit = "celsius";

    assertEquals(last.message.providerReplay, { api: "acme", data: [{ city: "Oslo" }] });
  }
});
