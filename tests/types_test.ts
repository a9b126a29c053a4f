import { assertEquals } from "@std/assert";
import type { AssertTrue, IsExact } from "@std/testing/types";
import type { JsonParseStream } from "@std/json";
import ts from "typescript";
import {
  type AssistantMessage,
  type DoneEvent,
  type FailedAssistantMessage,
  type FailedAssistantMessageOf,
  type StreamEvent,
  StreamEventValidatorStream,
  type SuccessfulAssistantMessage,
  type TextDeltaEvent,
} from "../mod.ts";
import { StreamEventDecoderStream } from "../src/wire/mod.ts";

/** A consumer's exhaustive switch: a thirteenth event would not compile. */
function describe(event: StreamEvent): string {
  switch (event.type) {
    case "start":
      return "start";
    case "text_start":
    case "thinking_start":
      return `${event.type} ${event.contentIndex}`;
    case "text_delta":
    case "thinking_delta":
      return event.delta;
    case "text_end":
    case "thinking_end":
      return event.content;
    case "tool_call_start":
      return event.name;
    case "tool_call_delta":
      return event.argumentsDelta;
    case "tool_call_end":
      return event.toolCall.id;
    case "done":
      return event.message.stopReason;
    case "error":
      return event.message.errorMessage;
    default: {
      const unknown: never = event;
      return unknown;
    }
  }
}

Deno.test("StreamEvent narrows by its type", () => {
  const event = { type: "text_delta", contentIndex: 0, delta: "Hi" } as StreamEvent;
  assertEquals(describe(event), "Hi");
  if (event.type === "text_delta") {
    type _Narrowed = AssertTrue<IsExact<typeof event, TextDeltaEvent>>;
    assertEquals(event.delta.length, 2);
  }
  type _Done = AssertTrue<IsExact<DoneEvent["message"], SuccessfulAssistantMessage>>;
});

Deno.test("AssistantMessage narrows by its stop reason", () => {
  const message = { stopReason: "error", errorMessage: "x" } as AssistantMessage;
  if (message.stopReason === "error") {
    type _Failed = AssertTrue<IsExact<typeof message, FailedAssistantMessageOf<"error">>>;
    assertEquals(message.errorMessage, "x");
  }
  // Readable before anyone asked, and settled by either way to ask.
  assertEquals(message.errorCode, undefined);
  const whole = (message: AssistantMessage): SuccessfulAssistantMessage | undefined => {
    if (message.stopReason === "error" || message.stopReason === "aborted") return undefined;
    type _Whole = AssertTrue<IsExact<typeof message, SuccessfulAssistantMessage>>;
    return message;
  };
  const broken = (message: AssistantMessage): FailedAssistantMessage | undefined =>
    message.errorMessage === undefined ? undefined : message;
  assertEquals([whole(message), broken(message)], [undefined, message]);
});

Deno.test("StreamEventValidatorStream fits where streams of events do, and nowhere else", () => {
  const stream: TransformStream<StreamEvent, StreamEvent> = new StreamEventValidatorStream();
  assertEquals(stream instanceof TransformStream, true);

  // Compiled, never called.
  const compile = (
    bytes: ReadableStream<Uint8Array>,
    events: ReadableStream<StreamEvent>,
    values: JsonParseStream,
    response: Response & { readonly body: ReadableStream<Uint8Array<ArrayBuffer>> },
  ): Array<ReadableStream<StreamEvent>> => [
    events.pipeThrough(new StreamEventValidatorStream()),
    values.readable.pipeThrough(new StreamEventValidatorStream()),
    response.body.pipeThrough(StreamEventDecoderStream.for(response)),
    bytes.pipeThrough(new StreamEventDecoderStream({ format: "sse" })),
    // @ts-expect-error -- bytes want a decoder first
    bytes.pipeThrough(new StreamEventValidatorStream()),
  ];
  assertEquals(typeof compile, "function");
});

/** The members of a union of strings, and the names in the list of its doc comment. */
async function documentedUnion(file: string, name: string) {
  const text = await Deno.readTextFile(new URL(`../src/${file}`, import.meta.url));
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const alias = source.statements.find((node) =>
    ts.isTypeAliasDeclaration(node) && node.name.text === name
  ) as ts.TypeAliasDeclaration;
  const members = (alias.type as ts.UnionTypeNode).types.map((type) => type.getText().slice(1, -1));
  const doc = ts.getTextOfJSDocComment(ts.getJSDocCommentsAndTags(alias)[0]?.comment) ?? "";
  return { members, items: doc.split(/^- /m).slice(1) };
}

Deno.test("the doc of the codes explains each of them, where declaration files keep it", async () => {
  const nameOf = (item: string) => /^`(\w+)`: \S/.exec(item)?.[1];
  const decode = await documentedUnion("wire/stream_decode_error.ts", "StreamDecodeErrorCode");
  assertEquals(decode.items.map(nameOf), decode.members);
  const assistant = await documentedUnion("types.ts", "AssistantErrorCode");
  assertEquals(assistant.items.map(nameOf), assistant.members);
  // The README promises that it says this of each.
  assertEquals(assistant.items.filter((item) => !/\bretry\b/.test(item)), []);
});
