/** Feeds bodies to adapters, in whatever pieces, and holds what comes out to the protocol. */

import { assert, assertEquals } from "@std/assert";
import {
  type AssistantContent,
  type AssistantMessage,
  createStreamEventValidator,
  type StreamEvent,
} from "../../mod.ts";
import type { Adapter } from "../../src/adapters/_adapter.ts";
import { BodyDecoder } from "../../src/adapters/_body_decoder.ts";
import type { StreamEventFormat } from "../../src/wire/_frame_parser.ts";
import { assertExpected } from "./_payloads.ts";

/** A stream that really went wrong, rebuilt; see `tests/cases`. */
export interface WireCase {
  readonly id: string;
  readonly input: string;
  readonly input_b64?: string;
  readonly splits?: readonly number[];
  readonly expected: "accept" | "reject" | "truncated";
  readonly terminal: string | null;
  readonly final: readonly Record<string, unknown>[] | null;
  readonly safe?: readonly unknown[];
}

/** What became of a body. */
export interface Outcome {
  readonly terminal: string;
  readonly message: AssistantMessage;
}

/** Reads the cases of one wire format. */
export function readCases(wire: string): WireCase[] {
  const url = new URL(`../cases/${wire}.jsonl`, import.meta.url);
  return Deno.readTextFileSync(url).trim().split("\n").map((line) => JSON.parse(line));
}

/** The bytes of a case. */
export function bytesOf({ input, input_b64 }: WireCase): Uint8Array {
  return input_b64 === undefined
    ? new TextEncoder().encode(input)
    : Uint8Array.from(atob(input_b64), (char) => char.charCodeAt(0));
}

/** Cuts a body before each of the offsets. */
export function* cutAt(body: Uint8Array, offsets: readonly number[]): Generator<Uint8Array> {
  let start = 0;
  for (const offset of [...offsets, body.length]) {
    yield body.subarray(start, offset);
    start = offset;
  }
}

/** The events of a body. Fails unless they are a legal stream whose one terminal event is the last. */
export function decode(
  adapter: Adapter,
  chunks: Iterable<Uint8Array>,
  format: StreamEventFormat = "sse",
): StreamEvent[] {
  const decoder = new BodyDecoder(adapter, format);
  const validator = createStreamEventValidator();
  const events: StreamEvent[] = [];
  const emit = (event: StreamEvent) => {
    validator.accept(event);
    events.push(event);
  };
  for (const chunk of chunks) decoder.push(chunk, emit);
  decoder.end(emit);
  validator.end();
  assertExpected(events);
  return events;
}

/** What became of a body. */
export function outcomeOf(
  adapter: Adapter,
  chunks: Iterable<Uint8Array>,
  format?: StreamEventFormat,
): Outcome {
  const last = decode(adapter, chunks, format).at(-1);
  assert(last?.type === "done" || last?.type === "error");
  return { terminal: `${last.type}:${last.reason}`, message: last.message };
}

/** The content, with the ids that are anybody's choice taken out. */
function withoutFreeIds(
  content: readonly unknown[],
  expected: readonly Record<string, unknown>[],
): unknown[] {
  return content.map((block, at) => {
    const { type, id } = block as Record<string, unknown>;
    const isFree = type === "tool_call" && expected[at]?.id === null;
    if (isFree) assert(typeof id === "string" && id !== "");
    return isFree ? { ...block as object, id: null } : block;
  });
}

/** Fails unless the outcome is what the case expects. */
export function assertVerdict(wireCase: WireCase, { terminal, message }: Outcome): void {
  const { expected, final, safe } = wireCase;
  const content = expected === "accept" ? final : safe;
  assertEquals(terminal, expected === "accept" ? wireCase.terminal : "error:error");
  if (message.stopReason === "error") assert(message.errorMessage !== "" && message.errorCode);
  if (content) {
    const expectedContent = content as readonly Record<string, unknown>[];
    assertEquals(withoutFreeIds(message.content, expectedContent), [...expectedContent]);
  }
}

/** Fails unless a body that was cut ends as the whole one, or in an error with a part of it. */
export function assertCut(cut: Outcome, whole: Outcome): void {
  const { content } = whole.message;
  if (cut.terminal.startsWith("done:")) {
    assertEquals(cut.terminal, whole.terminal);
    assertEquals(cut.message.content, content);
  } else {
    assertPart(cut.message.content, content);
  }
}

/** Fails unless the content is what had come of the whole at some time. */
export function assertPart(
  content: readonly AssistantContent[],
  whole: readonly AssistantContent[],
): void {
  for (const [at, block] of content.entries()) {
    const expected = whole[at];
    const isLast = at === content.length - 1;
    if (isLast && block.type === "text" && expected?.type === "text") {
      assert(expected.text.startsWith(block.text));
    } else if (isLast && block.type === "thinking" && expected?.type === "thinking") {
      assert(expected.thinking.startsWith(block.thinking));
    } else {
      assertEquals(block, expected);
    }
  }
}
