/** Errors that come in the middle of server-sent events, and not as one of them is written. */

import { assert, assertEquals } from "@std/assert";
import type { Adapter } from "../../src/adapters/_adapter.ts";
import { createAnthropicMessagesAdapter } from "../../src/adapters/anthropic_messages.ts";
import { createGeminiAdapter } from "../../src/adapters/gemini.ts";
import { createOpenAiChatAdapter } from "../../src/adapters/openai_chat.ts";
import { createOpenAiResponsesAdapter } from "../../src/adapters/openai_responses.ts";
import { cutAt, outcomeOf } from "./_bodies.ts";
import { readRecordings } from "./_recordings.ts";

const ADAPTERS: Readonly<Record<string, () => Adapter>> = {
  "anthropic": () => createAnthropicMessagesAdapter({ now: () => 0 }),
  "gemini": () => createGeminiAdapter({ now: () => 0 }),
  "openai-chat": () => createOpenAiChatAdapter({ now: () => 0 }),
  "openai-responses": () => createOpenAiResponsesAdapter({ now: () => 0 }),
};

const ERROR = { error: { code: 503, message: "Overloaded", status: "UNAVAILABLE" } };
const COMPACT = JSON.stringify(ERROR);
const PRETTY = JSON.stringify(ERROR, undefined, 2);

/** How the error is written. */
const STRAYS: Readonly<Record<string, string>> = {
  "on one line": `${COMPACT}\n`,
  "on many lines": `${PRETTY}\n`,
  "on lines that end as on Windows": `${PRETTY.replaceAll("\n", "\r\n")}\r\n`,
  "without the end of its line": PRETTY,
  "twice": `${PRETTY}\n${PRETTY}\n`,
  "behind another value": `{\n  "level": "info"\n}\n${PRETTY}\n`,
  "behind a line of another value": `{"level":"info"}\n${COMPACT}\n`,
  "on many lines behind a line of another value": `{"level":"info"}\n${PRETTY}\n`,
  "behind one that is none": `{\n}}\n${PRETTY}\n`,
  "behind half of another": `{\n  "level":\n\n${PRETTY}\n`,
};

/** The frames of a recorded response up to its middle. */
function halfOf(wire: string): string {
  const body = readRecordings(wire).find(({ name }) => name === "text")?.body;
  const frames = new TextDecoder().decode(body).replaceAll("\r\n", "\n").split(/(?<=\n\n)/);
  return frames.slice(0, frames.length >> 1).join("");
}

const encoder = new TextEncoder();

for (const [wire, create] of Object.entries(ADAPTERS)) {
  const half = halfOf(wire);
  const { message: cut } = outcomeOf(create(), [encoder.encode(half)]);

  for (const [how, stray] of Object.entries(STRAYS)) {
    Deno.test(`BodyDecoder finds an error among events of ${wire} that is written ${how}`, () => {
      const body = encoder.encode(half + stray);
      const { message } = outcomeOf(create(), [body]);

      assert(message.stopReason === "error" && cut.stopReason === "error");
      assertEquals([cut.errorCode, message.errorCode], ["truncated", "provider_error"]);
      assertEquals(message.errorMessage, "Overloaded");
      assertEquals(message.errorDetails, { providerErrorType: "UNAVAILABLE", status: 503 });
      assertEquals(message.content, cut.content);
      for (let at = half.length; at < body.length; at++) {
        assertEquals(outcomeOf(create(), cutAt(body, [at])).message, message);
      }
    });
  }

  Deno.test(`BodyDecoder takes the event of ${wire} around an error first`, () => {
    const within = `${half.slice(0, -1)}${COMPACT}\n`;
    for (const body of [within, `${within}\n`, `${within}\n${half}`, `${half}data\n${COMPACT}`]) {
      const { message } = outcomeOf(create(), [encoder.encode(body)]);

      assertEquals(message.errorMessage, "Overloaded");
      assertEquals(message.content, cut.content);
    }
  });

  Deno.test(`BodyDecoder leaves alone what is no error among events of ${wire}`, () => {
    const strays = [
      '{"level":"info"}',
      '{"error":null}',
      '{"error":""}',
      '{"level":"info",\n"error":',
      `x: ${COMPACT}`,
      `: ${COMPACT}`,
      `[${COMPACT}]`,
      `{\n${" ".repeat(70_000)}\n${PRETTY.slice(1)}`,
    ];
    for (const stray of strays) {
      const { message } = outcomeOf(create(), [encoder.encode(`${half}${stray}\n\n`)]);

      assertEquals(message, cut);
    }
  });

  const named: readonly (readonly [data: string, message: string])[] = [
    ["upstream  gone\ndata: away", "upstream gone away"],
    ["{half", "{half"],
    ['"Busy"', "Busy"],
    ['{"message":"Busy","code":529}', "Busy"],
  ];
  for (const [data, errorMessage] of named) {
    Deno.test(`BodyDecoder believes an event of ${wire} that is named error, with ${data}`, () => {
      const body = `${half}event: error\ndata: ${data}\n\n`;
      const { message } = outcomeOf(create(), [encoder.encode(body)]);

      assert(message.stopReason === "error");
      assertEquals(message.errorCode, "provider_error");
      assertEquals(message.errorMessage, errorMessage);
      assertEquals(message.content, cut.content);
    });
  }

  Deno.test(`BodyDecoder is truncated when the body ends in an event of ${wire} named error`, () => {
    const body = `${half}event: error\ndata: {"error":`;
    const { message } = outcomeOf(create(), [encoder.encode(body)]);

    assertEquals(message.stopReason === "error" && message.errorCode, "truncated");
  });

  Deno.test(`BodyDecoder looks for an error of ${wire} in linear time`, () => {
    const stray = `{"list":[1${",1".repeat(29_000)}\n${"}\n".repeat(3_000)}`;
    const body = encoder.encode(half + stray.repeat(20));
    const begin = performance.now();
    const { message } = outcomeOf(create(), [body]);

    assert(performance.now() - begin < 2_000);
    assertEquals(message, cut);
  });
}
