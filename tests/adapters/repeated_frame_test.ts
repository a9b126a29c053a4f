import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Adapter } from "../../src/adapters/_adapter.ts";
import { createAnthropicMessagesAdapter } from "../../src/adapters/anthropic_messages.ts";
import { createOpenAiChatAdapter } from "../../src/adapters/openai_chat.ts";
import { RepeatedFrame } from "../../src/adapters/_repeated_frame.ts";

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

/** One that has seen a frame. */
function expecting({ create, write }: Wire, text = "Hello", filler = 1): RepeatedFrame {
  const frame = new RepeatedFrame(create());
  const data = write(JSON.stringify(text), filler);
  frame.expect(data, JSON.parse(data));
  return frame;
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
function assertSame(frame: RepeatedFrame, data: string): void {
  const payload = frame.read(data);
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
        ignoringFiller(expecting(wire, "Hello", first).read(data)),
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
    const frame = new RepeatedFrame(createOpenAiChatAdapter());
    frame.expect(data, JSON.parse(data));
    assertEquals(frame.read(data), undefined);
  }
});

Deno.test("RepeatedFrame leaves a frame alone that ends before it does", () => {
  for (const wire of WIRES) {
    const data = wire.write('"Hello"', 1);
    const frame = expecting(wire);
    for (let end = 0; end < data.length; end++) {
      assertEquals(frame.read(data.slice(0, end)), undefined);
      assertSame(frame, `${data.slice(0, end)}}`);
      assertSame(frame, `${data.slice(0, end)}"}`);
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
  const frame = new RepeatedFrame(adapter);
  const take = (data: string) => {
    if (frame.read(data) === undefined) frame.expect(data, JSON.parse(data));
  };
  for (let i = 0; i < 100; i++) take(`{"at":${i},"say":"Hello"}`);
  assertEquals(asked, 4);

  const kept = new RepeatedFrame(adapter);
  for (let i = 0; i < 100; i++) {
    const data = `{"at":${i},"say":"Hello"}`;
    kept.expect(data, JSON.parse(data));
    assertEquals(kept.read(data), JSON.parse(data));
  }
});
