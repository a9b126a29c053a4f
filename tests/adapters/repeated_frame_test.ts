import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Adapter } from "../../src/adapters/_adapter.ts";
import { createAnthropicMessagesAdapter } from "../../src/adapters/anthropic_messages.ts";
import { createOpenAiChatAdapter } from "../../src/adapters/openai_chat.ts";
import { RepeatedFrame } from "../../src/adapters/_repeated_frame.ts";
import { bytesOf, cutAt, decode, readCases } from "./_bodies.ts";
import {
  arbitraryCuts,
  arbitraryFlips,
  arbitraryFrameDamage,
  bytesOfText,
  framesOf,
  textOfBytes,
} from "./_damage.ts";
import { readRecordings } from "./_recordings.ts";

/** How a provider writes a frame, around the JSON text of what it says. */
interface Wire {
  readonly create: () => Adapter;
  readonly write: (text: string, filler: number) => string;
}

const CHAT = '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m-1",' +
  '"choices":[{"index":0,"delta":{"content":';
const MESSAGES = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":';

const WIRES: readonly Wire[] = [
  {
    create: createOpenAiChatAdapter,
    write: (text) => `${CHAT}${text}},"logprobs":null,"finish_reason":null}]}`,
  },
  // A text of any length hides how long the other is.
  {
    create: createOpenAiChatAdapter,
    write: (text, filler) =>
      `${CHAT}${text}},"finish_reason":null}],"usage":null,"obfuscation":"${
        "xY9".repeat(filler)
      }"}`,
  },
  {
    create: createOpenAiChatAdapter,
    write: (text, filler) =>
      `{"obfuscation":"aB","choices": [{"delta": {"content" : ${text}}}]${" ".repeat(filler)}}`,
  },
  { create: createAnthropicMessagesAdapter, write: (text) => `${MESSAGES}${text}}}` },
  {
    create: createAnthropicMessagesAdapter,
    write: (text, filler) => `${MESSAGES}${text}}${" ".repeat(filler)}}`,
  },
  {
    create: createAnthropicMessagesAdapter,
    write: (text) =>
      `{"delta": {"partial_json": ${text}, "type": "input_json_delta"}, "type": "content_block_delta"}`,
  },
];

/** Reads frames, if they are like the one that it has seen. */
function reading(adapter: Adapter, seen: string): (raw: string) => unknown {
  let payload: unknown;
  const frame = new RepeatedFrame(adapter, (taken) => payload = taken);
  frame.expect(seen, JSON.parse(seen.replace(/^(event: e\n)?data: /, "")));
  return (raw) => {
    payload = undefined;
    const text = `{}${raw}}`;
    assertEquals(frame.take(text, 2, text.length - 1), payload !== undefined);
    return payload;
  };
}

function expecting({ create, write }: Wire, text = "Hello", filler = 1): (raw: string) => unknown {
  return reading(create(), write(JSON.stringify(text), filler));
}

function takes(frame: RepeatedFrame, raw: string): boolean {
  return frame.take(raw, 0, raw.length);
}

/** What `JSON.parse` makes of a frame; nothing, where it throws. */
function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/** A frame may be left to `JSON.parse`; where it is not, the value is the same. */
function assertSame(read: (raw: string) => unknown, data: string): void {
  const payload = read(data);
  if (payload !== undefined) assertEquals(ignoringFiller(payload), ignoringFiller(parsed(data)));
}

/** The payload as its readers see it: none of them reads what says nothing. */
function ignoringFiller(payload: unknown): unknown {
  return { ...payload as Record<string, unknown>, obfuscation: "" };
}

const arbitraryWire = fc.constantFrom(...WIRES);
const arbitraryText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 24 }),
  fc.string({ unit: fc.constantFrom('"', "\\", "/", "\b", "\f", "\n", "\r", "\t", "\ud83d", "a") }),
);

Deno.test("RepeatedFrame reads every frame that differs from one before in its text and filler", () => {
  fc.assert(
    fc.property(arbitraryWire, arbitraryText, fc.nat(9), fc.nat(9), (wire, text, first, second) => {
      const data = wire.write(JSON.stringify(text), second);
      assertEquals(
        ignoringFiller(expecting(wire, "Hello", first)(data)),
        ignoringFiller(parsed(data)),
      );
    }),
    { numRuns: 1000 },
  );
});

Deno.test("RepeatedFrame is right or silent about a frame that is damaged", () => {
  const arbitraryDamage = fc.tuple(
    fc.nat(200),
    fc.nat(2),
    fc.constantFrom("", '"', "\\", "}", "{", "]", ",", ":", "0", " ", "\n", "\0", '","a":"'),
  );
  fc.assert(
    fc.property(
      arbitraryWire,
      arbitraryText,
      fc.array(arbitraryDamage, { maxLength: 3 }),
      (wire, text, damages) => {
        let data = wire.write(JSON.stringify(text), 3);
        for (const [at, removed, inserted] of damages) {
          data = data.slice(0, at) + inserted + data.slice(at + removed);
        }
        assertSame(expecting(wire), data);
      },
    ),
    { numRuns: 5000 },
  );
});

Deno.test("RepeatedFrame is right or silent about whatever stands between the quotes", () => {
  const raw = (units: readonly string[]) =>
    fc.array(fc.constantFrom(...units), { maxLength: 8 }).map((parts) => parts.join(""));
  const inText = raw([
    '"',
    "\\",
    "\\\\",
    '\\"',
    "\\/",
    "\\n",
    "\\u0041",
    "\\u",
    "a",
    "\n",
    '","b":"',
  ]);
  const inFiller = raw([
    '"',
    "\\",
    '\\"',
    "\\n",
    "\n",
    "a",
    " ",
    '","b":"',
    '","obfuscation":"',
    "}",
  ]);
  fc.assert(
    fc.property(arbitraryWire, inText, inFiller, (wire, text, filler) => {
      const data = wire.write(`"${text}"`, 0);
      assertSame(expecting(wire), data);
      assertSame(expecting(wire), data.replace('"obfuscation":"', `$&${filler}`));
      assertSame(expecting(wire), data.replace(/\}$/, `${filler}$&`));
    }),
    { numRuns: 5000 },
  );
});

Deno.test("RepeatedFrame leaves frames alone where the text may stand in more than one place", () => {
  const texts = [
    '{"choices":[{"delta":{"content":"a"},"message":{"content":"a"}}]}',
    '{"choices":[{"delta":{"content":"content"}}]}',
    '{"choices":[{"delta":{"content":"b","content":"a"}}]}',
    '{"choices":[{"delta":{"c\\u006fntent":"a"}}],"content":"a"}',
    '{"choices":[{"delta":{"content":"\\u0061"}}]}',
    '{"choices":[{"delta":{"content":["a"]}}]}',
    '{"choices":[{"delta":{"content":null}}]}',
    '{"choices":[{"delta":{}}],"content":"a"}',
    '{"choices":[]}',
    '{"content":"a"}',
    '"content"',
    "null",
  ];
  for (const data of texts) {
    assertEquals(reading(createOpenAiChatAdapter(), data)(data), undefined, data);
  }
});

Deno.test("RepeatedFrame leaves a frame alone that ends before it does", () => {
  for (const wire of WIRES) {
    const data = wire.write('"Hello"', 1);
    const read = expecting(wire);
    for (let end = 0; end < data.length; end++) {
      assertEquals(read(data.slice(0, end)), undefined);
      assertSame(read, `${data.slice(0, end)}}`);
      assertSame(read, `${data.slice(0, end)}"}`);
    }
  }
});

Deno.test("RepeatedFrame reads server-sent events, and knows how many lines they have", () => {
  for (const [before, lines] of [["data: ", 2], ["event: e\ndata: ", 3], ["", 2]] as const) {
    for (const { create, write } of WIRES) {
      const said: unknown[] = [];
      const adapter = create();
      const frame = new RepeatedFrame(adapter, (payload) => {
        const { holder, key } = adapter.textIn?.(payload) ?? {};
        if (holder && key) said.push(holder[key]);
      });
      const data = write('"Hello"', 2);
      frame.expect(`${before}${data}\n\n`, JSON.parse(data));
      assertEquals(frame.isOpen, true);
      assertEquals(frame.lines, lines);
      assertEquals(takes(frame, `${before}${write('"a\\n\\u0062"', 7)}\n\n`), true);
      assertEquals(takes(frame, `${before}${write('"\n\ndata: "', 7)}\n\n`), false);
      assertEquals(takes(frame, `${before}${write('"a"', 7)}\n`), false);
      assertEquals(takes(frame, `data: 1\n${before}${write('"a"', 7)}\n\n`), false);
      assertEquals(said, ["a\nb"]);
    }
  }
});

Deno.test("RepeatedFrame gives up where no frame is like the one before", () => {
  let asked = 0;
  const textIn = (payload: unknown) => {
    asked++;
    return { holder: payload as Record<string, unknown>, key: "say" };
  };
  const adapter: Adapter = { isFinished: false, push() {}, end() {}, fail() {}, textIn };
  const frame = new RepeatedFrame(adapter, () => {});
  for (let i = 0; i < 100; i++) {
    const data = `{"at":${i},"say":"Hello"}`;
    assertEquals(takes(frame, data), false);
    frame.expect(data, JSON.parse(data));
  }
  assertEquals(asked, 4);
  assertEquals(frame.isOpen, false);

  const kept = new RepeatedFrame(adapter, () => {});
  for (let i = 0; i < 100; i++) {
    const data = `{"at":${i},"say":"Hello"}`;
    kept.expect(data, JSON.parse(data));
    assertEquals(takes(kept, data), true);
  }
});

Deno.test("RepeatedFrame remembers nothing for an adapter that does not say where the text is", () => {
  const frame = new RepeatedFrame({ isFinished: false, push() {}, end() {}, fail() {} }, () => {});
  frame.expect('{"say":"Hello"}', { say: "Hello" });
  assertEquals(frame.isOpen, false);
  assertEquals(takes(frame, '{"say":"Hello"}'), false);
});

const OPTIONS = { now: () => 0, createId: () => "made_up" };
const ADAPTERS = [
  ["anthropic", () => createAnthropicMessagesAdapter(OPTIONS)],
  ["openai-chat", () => createOpenAiChatAdapter(OPTIONS)],
] as const;

/** The same adapter, for a decoder that parses every frame. */
function parsingAll(adapter: Adapter): Adapter {
  return {
    get isFinished() {
      return adapter.isFinished;
    },
    push: (payload, emit) => adapter.push(payload, emit),
    end: (emit) => adapter.end(emit),
    fail: (cause, emit) => adapter.fail(cause, emit),
  };
}

for (const [wire, create] of ADAPTERS) {
  const recordings = readRecordings(wire).map(({ body }) => textOfBytes(body));
  const bodies = [...recordings, ...readCases(wire).map((item) => textOfBytes(bytesOf(item)))];

  Deno.test(`${wire} has the same events where every frame is parsed, whatever is damaged`, () => {
    const damaged = fc.constantFrom(...bodies)
      .chain((body) => fc.oneof(arbitraryFlips(body, 4), arbitraryFrameDamage(body, 3)))
      .chain((body) => fc.tuple(fc.constant(body), arbitraryCuts(body.length)));
    fc.assert(
      fc.property(damaged, ([body, cuts]) => {
        const bytes = bytesOfText(body);
        assertEquals(decode(create(), cutAt(bytes, cuts)), decode(parsingAll(create()), [bytes]));
      }),
      { numRuns: Number(Deno.env.get("PROPERTY_RUNS") ?? 1_500) },
    );
  });

  Deno.test(`${wire} does not parse what it has seen in its recordings`, () => {
    let parsed = 0;
    let frames = 0;
    for (const body of recordings) {
      const adapter = create();
      const push = adapter.push.bind(adapter);
      const payloads = new Set<unknown>();
      adapter.push = (payload, emit) => {
        frames++;
        payloads.add(payload);
        push(payload, emit);
      };
      decode(adapter, [bytesOfText(body)]);
      parsed += payloads.size;
      assert(framesOf(body).length >= payloads.size);
    }
    assert(parsed < 0.9 * frames, `${parsed} of ${frames}`);
  });
}
