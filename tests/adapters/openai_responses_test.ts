import { assert, assertEquals } from "@std/assert";
import type { JsonValue, StreamEvent } from "../../mod.ts";
import { createOpenAiResponsesAdapter } from "../../src/adapters/openai_responses.ts";
import { testCases } from "./_case_suite.ts";
import { eventsOf, messageOf } from "./_payloads.ts";

const create = () => createOpenAiResponsesAdapter({ now: () => 0, createId: () => "made_up" });

testCases({ name: "OpenAiResponsesAdapter", wire: "openai-responses", create, count: 11 });

/** An event of the wire. */
function event(type: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { type: `response.${type}`, ...fields };
}

/** The end of a response. */
function completed(
  output: readonly unknown[] = [],
  fields: Record<string, unknown> = {},
): Record<string, unknown> {
  return event("completed", { response: { id: "resp_1", status: "completed", output, ...fields } });
}

function incomplete(reason: string, output: readonly unknown[] = []): Record<string, unknown> {
  const response = { status: "incomplete", incomplete_details: { reason }, output };
  return event("incomplete", { response });
}

/** A message item with parts of text. */
function message(id: string, ...texts: readonly string[]): Record<string, unknown> {
  const content = texts.map((text) => ({ type: "output_text", text, annotations: [] }));
  return { type: "message", id, role: "assistant", status: "completed", content };
}

/** An item that calls a tool. */
function call(
  id: string,
  args: unknown,
  fields: Record<string, unknown> = {},
): Record<string, unknown> {
  const item = { type: "function_call", id: `fc_${id}`, call_id: id, name: "f", arguments: args };
  return { ...item, status: "completed", ...fields };
}

/** An item that calls a tool whose input is free text. */
function customCall(input: unknown): Record<string, unknown> {
  return { type: "custom_tool_call", id: "ct", call_id: "a", name: "sh", input };
}

/** A search on X: a custom tool's call by its looks, but the provider has run it. */
function xaiSearch(input: string): Record<string, unknown> {
  const item = { type: "custom_tool_call", id: "ctc", call_id: "xs_call_1" };
  return { ...item, name: "x_keyword_search", input, status: "completed" };
}

const added = (output_index: number, item: unknown) =>
  event("output_item.added", { output_index, item });
const done = (output_index: number, item: unknown) =>
  event("output_item.done", { output_index, item });
const text = (output_index: number, content_index: number, delta: string, sequence?: number) =>
  event("output_text.delta", {
    output_index,
    content_index,
    item_id: "any",
    delta,
    ...(sequence !== undefined && { sequence_number: sequence }),
  });
const args = (output_index: number, delta: string) =>
  event("function_call_arguments.delta", { output_index, delta });
const argsDone = (output_index: number, whole: unknown) =>
  event("function_call_arguments.done", { output_index, arguments: whole });

/** What an adapter makes of events: the reason and the content, or what was wrong. */
function verdictOf(payloads: readonly unknown[]): unknown[] {
  const result = messageOf(create(), payloads);
  return [
    result.stopReason === "error" ? result.errorCode : result.stopReason,
    ...result.content.map((block) =>
      block.type === "text"
        ? block.text
        : block.type === "thinking"
        ? { thinking: block.thinking }
        : { [block.name]: block.arguments, id: block.id }
    ),
  ];
}

const VERDICTS: Readonly<Record<string, readonly [readonly unknown[], ...unknown[]]>> = {
  "has nothing but its end": [
    [completed([message("m", "Hi", "you"), call("a", '{"x":1}')])],
    "tool_use",
    "Hi",
    "you",
    { f: { x: 1 }, id: "a" },
  ],
  "has nothing": [[completed()], "stop"],
  "interleaves items": [
    [
      added(0, message("m")),
      event("content_part.added", {
        output_index: 0,
        content_index: 0,
        part: { type: "output_text", text: "" },
      }),
      added(1, call("a", "")),
      args(1, '{"x"'),
      text(0, 0, "H"),
      args(1, ":1}"),
      text(0, 0, "i"),
      done(1, call("a", '{"x":1}')),
      done(0, message("m", "Hi")),
      completed(),
    ],
    "tool_use",
    "Hi",
    { f: { x: 1 }, id: "a" },
  ],
  "changes the ids with every event": [
    [
      added(0, message("m1")),
      event("output_text.delta", { output_index: 0, content_index: 0, item_id: "m2", delta: "Hi" }),
      done(0, message("m3", "Hi")),
      completed([message("m4", "Hi")]),
    ],
    "stop",
    "Hi",
  ],
  "puts all items in one place": [
    [
      added(0, message("m")),
      text(0, 0, "Hi"),
      done(0, message("m", "Hi")),
      added(0, call("a", "")),
      args(0, "{}"),
      done(0, call("a", "{}")),
      completed([message("m", "Hi"), call("a", "{}")]),
    ],
    "tool_use",
    "Hi",
    { f: {}, id: "a" },
  ],
  "gives no positions but ids": [
    [
      event("output_item.added", { item: message("m") }),
      event("output_text.delta", { item_id: "m", content_index: 0, delta: "Hi" }),
      event("output_item.added", { item: call("a", "") }),
      event("function_call_arguments.delta", { item_id: "fc_a", delta: "{}" }),
      event("output_item.done", { item: call("a", "{}") }),
      completed([message("m", "Hi"), call("a", "{}")]),
    ],
    "tool_use",
    "Hi",
    { f: {}, id: "a" },
  ],
  "gives positions with some events only": [
    [
      event("output_item.added", { item: message("m") }),
      event("output_text.delta", { output_index: 0, item_id: "m", delta: "Hi" }),
      done(0, message("m", "Hi")),
      completed([message("m", "Hi")]),
    ],
    "stop",
    "Hi",
  ],
  "begins a call in the place of a message, neither with an id": [
    [
      added(0, { type: "message" }),
      added(0, { type: "function_call", call_id: "a", name: "f" }),
      completed(),
    ],
    "wire_order",
  ],
  "ends an item with another text than its part": [
    [
      added(0, message("m")),
      text(0, 0, "Hi"),
      event("output_text.done", { output_index: 0, content_index: 0, text: "Hi" }),
      event("output_text.done", { output_index: 0, content_index: 0 }),
      done(0, message("m", "Ho")),
      completed(),
    ],
    "wire_order",
    "Hi",
  ],
  "gives neither positions nor ids": [
    [added(0, call("a", "")), event("function_call_arguments.delta", { delta: "{}" })],
    "ambiguous_tool_call",
  ],
  "has no opener but a repeat of the whole": [
    [text(0, 0, "H"), text(0, 0, "i"), completed([message("m", "Hi")])],
    "stop",
    "Hi",
  ],
  "has neither an opener nor a repeat": [[text(0, 0, "Hi"), completed()], "wire_order", "Hi"],
  "has no opener of a call but a repeat of it": [
    [args(0, '{"x"'), args(0, ":1}"), argsDone(0, '{"x":1}'), completed([call("a", '{"x":1}')])],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "repeats nothing": [
    [added(0, message("m")), text(0, 0, "Hi"), completed()],
    "stop",
    "Hi",
  ],
  "lost a delta": [
    [added(0, message("m")), text(0, 0, "H"), done(0, message("m", "Hi")), completed()],
    "wire_order",
    "H",
  ],
  "says an opener and an item twice": [
    [
      added(0, message("m")),
      added(0, message("m")),
      text(0, 0, "Hi"),
      done(0, message("m", "Hi")),
      done(0, message("m", "Hi")),
      completed(),
    ],
    "stop",
    "Hi",
  ],
  "has text in the opener, repeated by the deltas": [
    [added(0, message("m", "H")), text(0, 0, "Hi"), done(0, message("m", "Hi")), completed()],
    "stop",
    "Hi",
  ],
  "has text in the opener, continued by the deltas": [
    [added(0, message("m", "H")), text(0, 0, "i"), done(0, message("m", "Hi")), completed()],
    "stop",
    "Hi",
  ],
  "has text in the opener only": [
    [added(0, message("m", "Hi")), completed()],
    "stop",
    "Hi",
  ],
  "has another text in the opener than at the end": [
    [added(0, message("m", "Xi")), done(0, message("m", "Hi")), completed()],
    "wire_order",
  ],
  "has text in the opener and deltas that nothing repeats": [
    [added(0, message("m", "H")), text(0, 0, "i"), completed()],
    "wire_order",
  ],
  "has arguments in the opener": [
    [added(0, call("a", '{"x":1}')), done(0, call("a", '{"x":1}')), completed()],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "has arguments in the opener, and again in the deltas": [
    [
      added(0, call("a", '{"x":1}')),
      args(0, '{"x":1}'),
      argsDone(0, '{"x":1}'),
      done(0, call("a", '{"x":1}')),
      completed(),
    ],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "writes the same arguments otherwise": [
    [added(0, call("a", "")), args(0, '{ "x": 1 }'), done(0, call("a", '{"x":1}')), completed()],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "has an object as the arguments": [
    [added(0, call("a", null)), done(0, call("a", { x: 1 })), completed()],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "has other arguments at the end": [
    [added(0, call("a", "")), args(0, '{"x":1}'), done(0, call("a", '{"x":2}')), completed()],
    "wire_order",
  ],
  "has an object as the arguments, and then a text that spells it": [
    [done(0, call("a", { x: 1 })), completed([call("a", '{"x":1}')])],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "has an object as the arguments, and then a text that spells another": [
    [done(0, call("a", { x: 1 })), completed([call("a", '{"x":2}')])],
    "wire_order",
    { f: { x: 1 }, id: "a" },
  ],
  "says the end of a call twice": [
    [done(0, call("a", "{}")), done(0, call("a", "{}")), completed()],
    "tool_use",
    { f: {}, id: "a" },
  ],
  "opens a part that stays empty and is not repeated": [
    [
      added(0, message("m")),
      text(0, 0, "Hi"),
      text(0, 1, ""),
      done(0, message("m", "Hi")),
      completed(),
    ],
    "stop",
    "Hi",
  ],
  "has an empty delta for nothing": [[text(0, 0, ""), completed()], "stop"],
  "has no arguments at all": [
    [added(0, call("a", null)), done(0, call("a", null)), completed()],
    "tool_use",
    { f: {}, id: "a" },
  ],
  "has the arguments in its end only": [
    [added(0, call("a", "")), done(0, call("a", undefined)), completed([call("a", '{"x":1}')])],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "never ends a call": [
    [added(0, call("a", "")), args(0, '{"x":1}'), completed()],
    "wire_order",
  ],
  "has arguments that are no object": [
    [added(0, call("a", "")), args(0, "[]"), done(0, call("a", "[]")), completed()],
    "invalid_tool_arguments",
  ],
  "changes the tool of a call": [
    [added(0, call("a", "")), done(0, call("a", "{}", { name: "g" })), completed()],
    "wire_order",
  ],
  "changes the call_id of a call": [
    [added(0, call("a", "")), done(0, call("b", "{}", { id: "fc_a" })), completed()],
    "wire_order",
  ],
  "has a call without call_id": [
    [done(0, call("a", "{}", { call_id: undefined })), completed()],
    "tool_use",
    { f: {}, id: "fc_a" },
  ],
  "gives two calls one call_id": [
    [done(0, call("a", "{}")), done(1, call("a", "{}", { id: "fc_b" })), completed()],
    "ambiguous_tool_call",
    { f: {}, id: "a" },
  ],
  "is cut by the limit within a call": [
    [
      added(0, call("a", "")),
      args(0, '{"x":'),
      done(0, call("a", '{"x":', { status: "incomplete" })),
      incomplete("max_output_tokens"),
    ],
    "output_limit",
  ],
  "is cut by the limit before the end of a call": [
    [added(0, call("a", "")), args(0, '{"x":1}'), incomplete("max_output_tokens")],
    "output_limit",
  ],
  "is cut by the limit after a call": [
    [
      done(0, call("a", "{}")),
      text(1, 0, "H"),
      incomplete("max_output_tokens", [
        call("a", "{}"),
        { ...message("m", "H"), status: "incomplete" },
      ]),
    ],
    "length",
    { f: {}, id: "a" },
    "H",
  ],
  "is filtered": [
    [added(0, message("m")), text(0, 0, "Well"), incomplete("content_filter")],
    "content_filter",
    "Well",
  ],
  "is incomplete for an unknown reason": [
    [added(0, message("m")), text(0, 0, "Well"), incomplete("steered")],
    "unknown_stop_reason",
    "Well",
  ],
  "completes with an incomplete item": [
    [completed([{ ...message("m", "Hi"), status: "incomplete" }])],
    "wire_order",
  ],
  "has a status that nobody knows": [[completed([], { status: "queued" })], "unknown_stop_reason"],
  "is the rest of a stream that broke within a text": [
    [
      text(1, 0, "lo", 7),
      event("output_text.done", { output_index: 1, content_index: 0, text: "Hello" }),
      done(1, message("m", "Hello")),
      added(2, call("a", "")),
      args(2, "{}"),
      done(2, call("a", "{}")),
      completed([
        { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: "Hm" }] },
        message("m", "Hello"),
        call("a", "{}"),
      ]),
    ],
    "tool_use",
    { thinking: "Hm" },
    "Hello",
    { f: {}, id: "a" },
  ],
  "is the rest of a stream, and its end repeats nothing": [
    [text(1, 0, "lo", 7), done(1, message("m", "Hello")), completed()],
    "wire_order",
  ],
  "is the rest of a stream, and ends as a session does": [
    [
      { type: "keepalive" },
      text(0, 0, "lo", 7),
      event("done", { response: { status: "completed", output: [message("m", "Hello")] } }),
    ],
    "stop",
    "Hello",
  ],
  "is the rest of a stream that is cut by the limit": [
    [
      text(0, 0, "lo", 7),
      incomplete("max_output_tokens", [{ ...message("m", "Hello"), status: "incomplete" }]),
    ],
    "length",
    "Hello",
  ],
  "is the rest of a stream that breaks once more": [[text(0, 0, "lo", 7)], "truncated"],
  "is the rest of a stream that had not begun": [
    [
      event("in_progress", { sequence_number: 1, response: { id: "resp_1" } }),
      added(0, message("m")),
      text(0, 0, "Hi"),
      completed(),
    ],
    "stop",
    "Hi",
  ],
  "numbers its events from 1 and has no opener": [
    [
      { ...added(0, message("m")), sequence_number: 1 },
      text(0, 0, "Hi", 2),
      completed(),
    ],
    "stop",
    "Hi",
  ],
  "is cancelled": [
    [added(0, message("m")), text(0, 0, "Hi"), event("cancelled", { response: {} })],
    "provider_error",
    "Hi",
  ],
  "waits for an approval": [
    [done(0, { type: "mcp_approval_request", id: "ap" }), completed()],
    "paused",
  ],
  "runs a shell itself": [
    [
      done(0, { type: "shell_call", id: "sh", call_id: "c1", action: { commands: ["ls"] } }),
      done(1, { type: "shell_call_output", id: "so", call_id: "c1", output: [] }),
      done(2, message("m", "Hi")),
      completed(),
    ],
    "stop",
    "Hi",
  ],
  "waits for one shell after it has run another": [
    [
      done(0, { type: "shell_call", id: "sh1", call_id: "c1" }),
      done(1, { type: "shell_call_output", id: "so", call_id: "c1", output: [] }),
      done(2, { type: "shell_call", id: "sh2", call_id: "c2" }),
      completed(),
    ],
    "paused",
  ],
  "waits for a shell, neither it nor an output with a call_id": [
    [
      done(0, { type: "shell_call", id: "sh1" }),
      done(1, { type: "shell_call_output", id: "so" }),
      completed(),
    ],
    "paused",
  ],
  "searches for tools": [
    [
      done(0, { type: "tool_search_call", id: "ts", call_id: null, execution: "server" }),
      done(1, { type: "tool_search_output", id: "to", call_id: null, execution: "server" }),
      done(2, call("a", "{}")),
      completed(),
    ],
    "tool_use",
    { f: {}, id: "a" },
  ],
  "waits for the client to search for tools": [
    [
      done(0, { type: "tool_search_call", id: "ts", call_id: "c1", execution: "client" }),
      completed(),
    ],
    "paused",
  ],
  "has a search that xAI ran": [
    [
      added(0, xaiSearch("")),
      event("custom_tool_call_input.delta", { output_index: 0, item_id: "ctc", delta: '{"query"' }),
      event("custom_tool_call_input.done", { output_index: 0, item_id: "ctc", input: "{}" }),
      done(0, xaiSearch('{"query":"x"}')),
      added(1, message("m")),
      text(1, 0, "Hi"),
      done(1, message("m", "Hi")),
      completed([xaiSearch('{"query":"x"}'), message("m", "Hi")]),
    ],
    "stop",
    "Hi",
  ],
  "calls a custom tool": [
    [
      added(0, { type: "custom_tool_call", id: "ct", call_id: "a", name: "sh", input: "" }),
      event("custom_tool_call_input.delta", { output_index: 0, delta: "ls " }),
      event("custom_tool_call_input.delta", { output_index: 0, delta: "-l" }),
      event("custom_tool_call_input.done", { output_index: 0, input: "ls -l" }),
      done(0, { type: "custom_tool_call", id: "ct", call_id: "a", name: "sh", input: "ls -l" }),
      completed(),
    ],
    "tool_use",
    { sh: { input: "ls -l" }, id: "a" },
  ],
  "has the input of a custom tool in the opener, repeated by the deltas": [
    [
      added(0, customCall("ls")),
      event("custom_tool_call_input.delta", { output_index: 0, delta: "ls" }),
      done(0, customCall("ls")),
      completed(),
    ],
    "tool_use",
    { sh: { input: "ls" }, id: "a" },
  ],
  "has the input of a custom tool in the opener, continued by the deltas": [
    [
      added(0, customCall("l")),
      event("custom_tool_call_input.delta", { output_index: 0, delta: "s" }),
      done(0, customCall("ls")),
      completed(),
    ],
    "tool_use",
    { sh: { input: "ls" }, id: "a" },
  ],
  "has the input of a custom tool at its end only": [
    [added(0, customCall("")), done(0, customCall("ls")), completed()],
    "tool_use",
    { sh: { input: "ls" }, id: "a" },
  ],
  "never repeats the input of a custom tool": [
    [
      added(0, customCall("")),
      event("custom_tool_call_input.delta", { output_index: 0, delta: "ls" }),
      done(0, customCall(null)),
      completed(),
    ],
    "tool_use",
    { sh: { input: "ls" }, id: "a" },
  ],
  "lost a piece of a custom tool's input": [
    [
      added(0, { type: "custom_tool_call", id: "ct", call_id: "a", name: "sh", input: "" }),
      event("custom_tool_call_input.delta", { output_index: 0, delta: "ls" }),
      done(0, { type: "custom_tool_call", id: "ct", call_id: "a", name: "sh", input: "ls -l" }),
      completed(),
    ],
    "wire_order",
  ],
  "has reasoning as text": [
    [
      added(0, { type: "reasoning", id: "rs", summary: [] }),
      event("reasoning_text.delta", { output_index: 0, content_index: 0, delta: "Hm" }),
      event("reasoning_text.done", { output_index: 0, content_index: 0, text: "Hm" }),
      done(0, {
        type: "reasoning",
        id: "rs",
        summary: [],
        content: [{ type: "reasoning_text", text: "Hm" }],
      }),
      completed(),
    ],
    "stop",
    { thinking: "Hm" },
  ],
  "has an object as the arguments, after deltas that spell it": [
    [added(0, call("a", "")), args(0, '{"x":1}'), done(0, call("a", { x: 1 })), completed()],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "has an object as the arguments, after deltas that spell another": [
    [added(0, call("a", "")), args(0, '{"x":1}'), done(0, call("a", { x: 2 })), completed()],
    "wire_order",
  ],
  "has an object as the arguments, after a text that is another": [
    [
      added(0, call("a", '{"x":1}')),
      argsDone(0, '{"x":1}'),
      done(0, call("a", { x: 2 })),
      completed(),
    ],
    "wire_order",
  ],
  "has an object as the arguments, after a text that is the same": [
    [
      added(0, call("a", '{"x":1}')),
      argsDone(0, '{"x":1}'),
      done(0, call("a", { x: 1 })),
      completed([call("a", '{"x": 1}')]),
    ],
    "tool_use",
    { f: { x: 1 }, id: "a" },
  ],
  "gives all items one id": [
    [
      added(0, message("m")),
      text(0, 0, "Hi"),
      done(0, message("m", "Hi")),
      added(1, message("m")),
      text(1, 0, "you"),
      done(0, message("m", "Hi")),
      done(1, message("m", "you")),
      completed([message("m", "Hi"), message("m", "you")]),
    ],
    "stop",
    "Hi",
    "you",
  ],
  "has an array as the arguments": [
    [done(0, call("a", [1])), completed()],
    "invalid_tool_arguments",
  ],
  "has a part that the repeat of its item lacks": [
    [
      added(0, message("m")),
      text(0, 0, "Hi"),
      text(0, 1, "Ho"),
      done(0, message("m", "Hi")),
      completed(),
    ],
    "wire_order",
    "Hi",
    "Ho",
  ],
  "ends an item at another position than it has": [
    [added(1, message("m")), text(1, 0, "Hi"), done(0, message("m", "Hi")), completed()],
    "wire_order",
    "Hi",
  ],
  "goes on after the end of a part": [
    [
      added(0, message("m")),
      text(0, 0, "Hi"),
      event("output_text.done", { output_index: 0, content_index: 0, text: "Hi" }),
      text(0, 0, "!"),
    ],
    "wire_order",
    "Hi",
  ],
  "goes on after the end of a call's arguments": [
    [
      added(0, call("a", "")),
      args(0, "{}"),
      argsDone(0, "{}"),
      args(0, " "),
      done(0, call("a", undefined)),
      completed(),
    ],
    "wire_order",
  ],
  "ends a part with another text": [
    [
      added(0, message("m")),
      text(0, 0, "Hi"),
      event("content_part.done", {
        output_index: 0,
        content_index: 0,
        part: { type: "output_text", text: "Ho" },
      }),
    ],
    "wire_order",
    "Hi",
  ],
  "has a part that the events cannot express": [
    [
      added(0, message("m")),
      event("content_part.added", { output_index: 0, content_index: 0, part: { type: "audio" } }),
      event("content_part.done", { output_index: 0, content_index: 0, part: { type: "audio" } }),
      text(0, 1, "Hi"),
      completed(),
    ],
    "stop",
    "Hi",
  ],
  "has an empty delta after the end of its part": [
    [
      added(0, message("m")),
      text(0, 0, "Hi"),
      event("output_text.done", { output_index: 0, content_index: 0, text: "Hi" }),
      text(0, 0, ""),
      completed(),
    ],
    "stop",
    "Hi",
  ],
  "has neither opener nor position but an id that is repeated": [
    [
      event("output_text.delta", { item_id: "m", content_index: 0, delta: "Hi" }),
      completed([message("m", "Hi")]),
    ],
    "stop",
    "Hi",
  ],
  "begins an item in the place of one that has not ended": [
    [added(0, message("m")), text(0, 0, "Hi"), added(0, message("n"))],
    "wire_order",
    "Hi",
  ],
  "sends text for a call": [[added(0, call("a", "")), text(0, 0, "Hi")], "wire_order"],
  "has an event without a type": [[{ delta: "Hi" }, completed()], "malformed_frame"],
  "has events that nobody knows": [
    [
      { type: "keepalive" },
      event("new_thing", { x: 1 }),
      completed([message("m", "Hi")]),
      "[DONE]",
    ],
    "stop",
    "Hi",
  ],
  "ends by [DONE] without its end": [
    [added(0, message("m")), text(0, 0, "Hi"), "[DONE]"],
    "truncated",
    "Hi",
  ],
};

for (const [name, [payloads, ...expected]] of Object.entries(VERDICTS)) {
  Deno.test(`OpenAiResponsesAdapter gives its verdict when the response ${name}`, () => {
    assertEquals(verdictOf(payloads), expected);
  });
}

const ERRORS: Readonly<Record<string, readonly [unknown, string, unknown]>> = {
  "flat": [
    { type: "error", code: "server_error", message: "Gone", param: null },
    "Gone",
    { providerErrorType: "server_error" },
  ],
  "nested": [
    { type: "error", error: { type: "overloaded", code: "busy", message: "Later" } },
    "Later",
    { providerErrorType: "overloaded", providerErrorCode: "busy" },
  ],
  "nested, with a status and the request's id beside it": [
    {
      type: "error",
      status: 400,
      request_id: "req_1",
      error: {
        type: "invalid_request_error",
        code: "context_length_exceeded",
        message: "Too long",
      },
    },
    "Too long",
    {
      providerErrorType: "invalid_request_error",
      providerErrorCode: "context_length_exceeded",
      status: 400,
      requestId: "req_1",
    },
  ],
  "a text": [{ type: "error", error: "Gone" }, "Gone", undefined],
  "without a type": [{ error: { message: "Later", code: 503 } }, "Later", { status: 503 }],
  "in the response": [
    event("failed", {
      response: { status: "failed", error: { code: "rate_limit_exceeded", message: "Slow down" } },
    }),
    "Slow down",
    { providerErrorType: "rate_limit_exceeded" },
  ],
};

for (const [name, [payload, errorMessage, errorDetails]] of Object.entries(ERRORS)) {
  Deno.test(`OpenAiResponsesAdapter keeps an error that is ${name}`, () => {
    const result = messageOf(create(), [added(0, message("m")), text(0, 0, "Hi"), payload]);

    assertEquals(result.content, [{ type: "text", text: "Hi" }]);
    assert(result.stopReason === "error");
    assertEquals(result.errorCode, "provider_error");
    assertEquals(result.errorMessage, errorMessage);
    assertEquals(result.errorDetails, errorDetails);
  });
}

Deno.test("OpenAiResponsesAdapter keeps the items for the next turn, encrypted reasoning among them", () => {
  const reasoning = { type: "reasoning", id: "rs", summary: [], encrypted_content: "secret" };
  const search = { type: "web_search_call", id: "ws", status: "completed" };
  const answer = message("m", "Hi");

  const result = messageOf(create(), [
    added(0, { ...reasoning, encrypted_content: "early" }),
    done(0, reasoning),
    done(1, search),
    done(2, answer),
    // Some servers leave it out here.
    completed([{ ...reasoning, encrypted_content: null }, search, answer]),
  ]);

  assertEquals(result.content, [{ type: "text", text: "Hi" }]);
  assertEquals(result.providerReplay, {
    api: "openai-responses",
    data: { id: "resp_1", output: [reasoning, search, answer] as JsonValue[] },
  });
});

Deno.test("OpenAiResponsesAdapter keeps a search that xAI ran for the next turn", () => {
  const result = messageOf(create(), [done(0, xaiSearch("{}")), completed([xaiSearch("{}")])]);

  assertEquals(result.content, []);
  assertEquals(result.providerReplay?.data, {
    id: "resp_1",
    output: [xaiSearch("{}") as JsonValue],
  });
});

Deno.test("OpenAiResponsesAdapter streams the parts of each kind as they come", () => {
  const events = eventsOf(create(), [
    added(0, { type: "reasoning", id: "rs", summary: [] }),
    event("reasoning_summary_text.delta", { output_index: 0, summary_index: 0, delta: "So" }),
    event("reasoning_summary_text.delta", { output_index: 0, summary_index: 1, delta: "Hm" }),
    added(1, call("a", "")),
    event("reasoning_summary_text.done", { output_index: 0, summary_index: 0, text: "So" }),
    event("reasoning_summary_text.done", { output_index: 0, summary_index: 1, text: "Hm" }),
    args(1, "{}"),
    done(1, call("a", "{}")),
    completed(),
  ]);

  assertEquals(events.map(({ type }) => type), [
    "start",
    "thinking_start",
    "thinking_delta",
    "thinking_end",
    "thinking_start",
    "thinking_delta",
    "thinking_end",
    "tool_call_start",
    "tool_call_delta",
    "tool_call_end",
    "done",
  ]);
});

Deno.test("OpenAiResponsesAdapter holds no more of a custom tool's input than it may", () => {
  const delta = "0".repeat(1_048_576);
  const item = { type: "custom_tool_call", id: "ct", call_id: "a", name: "sh", input: "" };

  const verdict = verdictOf([
    added(0, item),
    ...Array.from(
      { length: 17 },
      () => event("custom_tool_call_input.delta", { output_index: 0, delta }),
    ),
  ]);

  assertEquals(verdict, ["limit_exceeded"]);
});

Deno.test("OpenAiResponsesAdapter ends a call with its item", () => {
  const events: StreamEvent[] = [];
  const emit = (event: StreamEvent) => events.push(event);
  const adapter = create();

  adapter.push(added(0, call("a", "")), emit);
  adapter.push(args(0, "{}"), emit);
  adapter.push(done(0, call("a", "{}")), emit);

  assertEquals(events.at(-1)?.type, "tool_call_end");
});

Deno.test("OpenAiResponsesAdapter leaves Object.prototype alone", () => {
  verdictOf([
    JSON.parse(
      '{"type":"response.output_item.added","output_index":"__proto__","item":' +
        '{"type":"reasoning","id":"__proto__","summary":[],"__proto__":{"polluted":1}}}',
    ),
    completed(),
  ]);

  assertEquals(({} as Record<string, unknown>).polluted, undefined);
});

const MALFORMED: readonly unknown[] = [
  null,
  [],
  { no: "type" },
  event("output_item.added", { item: "m" }),
  event("output_item.added", { item: {} }),
  event("output_item.done", { item: null }),
  event("content_part.added", { output_index: 0, part: 1 }),
  event("output_text.delta", { output_index: 0, delta: 1 }),
  event("output_text.delta", { output_index: {}, delta: "Hi" }),
  event("output_text.done", { output_index: 0, text: 1 }),
  event("output_item.done", { output_index: 0, item: { type: "message", content: [1] } }),
  event("output_item.added", { output_index: 1, item: call("a", "", { name: 1 }) }),
  completed([1]),
  completed([{}]),
];

for (const payload of MALFORMED) {
  Deno.test(`OpenAiResponsesAdapter refuses the frame ${JSON.stringify(payload)}`, () => {
    const verdict = verdictOf([added(0, message("m")), text(0, 0, "Hi"), payload, completed()]);

    assertEquals(verdict, ["malformed_frame", "Hi"]);
  });
}

Deno.test("OpenAiResponsesAdapter takes as long for many items as they are many", () => {
  const items = Array.from({ length: 20_000 }, (_, at) => ({ type: "compaction", id: `c${at}` }));
  const others = items.map(({ id }) => ({ type: "compaction", id: `other_${id}` }));

  const result = messageOf(create(), [
    ...items.map((item, at) => done(at, item)),
    completed(others),
  ]);

  assertEquals(result.stopReason, "stop");
});

Deno.test("OpenAiResponsesAdapter labels the message with what the wire says, or the options", () => {
  const options = { model: "fallback", now: () => 5 };
  const usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 };

  const named = messageOf(createOpenAiResponsesAdapter(options), [
    event("created", { response: { id: 1, model: "first" } }),
    completed([], { model: "m", usage }),
  ]);
  const unnamed = messageOf(createOpenAiResponsesAdapter(options), [
    event("created", { response: { id: "", model: "" } }),
    event("completed", { response: { model: 1 } }),
  ]);

  assertEquals([named.provider, named.model, named.timestamp], ["openai", "m", 5]);
  assertEquals(named.usage.totalTokens, 12);
  assertEquals(unnamed.model, "fallback");
  assertEquals("providerReplay" in unnamed, false);
  const late = messageOf(createOpenAiResponsesAdapter(options), [
    event("created", { response: { id: "" } }),
    event("in_progress", { response: { id: 1 } }),
    completed([message("m", "Hi")]),
  ]);
  assertEquals(late.providerReplay?.data, {
    id: "resp_1",
    output: [message("m", "Hi") as JsonValue],
  });
});

Deno.test("OpenAiResponsesAdapter keeps no item for the next turn that nests too deep to be written", () => {
  const deep = JSON.parse('{"a":'.repeat(5_000) + "1" + "}".repeat(5_000));
  const result = messageOf(create(), [done(0, { ...message("m", "Hi"), deep }), completed()]);

  assertEquals(result.stopReason, "stop");
  assertEquals(result.providerReplay, undefined);
});

Deno.test("OpenAiResponsesAdapter counts what it keeps towards the length of the message", () => {
  const long = "a".repeat(200);
  const items = [
    { type: "image_generation_call", id: "ig", result: long },
    { type: "reasoning", id: "rs", summary: [], encrypted_content: long },
    { ...message("m", "Hi"), annotations: [{ url: long }] },
    call("a", { x: long }),
    customCall(long),
  ];
  for (const item of items) {
    for (const [messageLength, ends] of [[150, "limit_exceeded"], [450, undefined]] as const) {
      const adapter = createOpenAiResponsesAdapter({ limits: { messageLength } });
      const result = messageOf(adapter, [done(0, item), completed([item])]);
      assertEquals(result.errorCode, ends, item.type as string);
    }
  }
});

Deno.test("OpenAiResponsesAdapter counts content that an item repeats once", () => {
  const long = "a".repeat(300);
  const items = [
    message("m", long),
    { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: long }] },
    call("a", JSON.stringify({ x: long })),
  ];
  for (const [index, item] of items.entries()) {
    const adapter = createOpenAiResponsesAdapter({ limits: { messageLength: 500 } });
    const result = messageOf(adapter, [done(index, item), completed([item])]);
    assertEquals(result.errorCode, undefined, item.type as string);
  }
});

Deno.test("OpenAiResponsesAdapter bounds what is held of all parts together", () => {
  const half = "a".repeat(9_000_000);
  const input = (output_index: number) =>
    event("custom_tool_call_input.delta", { output_index, delta: half });
  const opened = (index: number) => added(index, { ...customCall(""), id: `${index}` });

  const result = messageOf(create(), [opened(0), input(0), opened(1), input(1)]);

  assertEquals(result.errorCode, "limit_exceeded");
});

Deno.test("OpenAiResponsesAdapter keeps a great many fields of an item in linear time", () => {
  const fields = Array.from({ length: 3_000 }, (_, i) => ({ [`k${i}`]: 1 }));
  const item = { type: "x", id: "i" };
  const begin = performance.now();

  const result = messageOf(create(), [
    ...fields.map((field) => done(0, { ...item, ...field })),
    completed(),
  ]);

  const { output } = result.providerReplay?.data as { output: readonly JsonValue[] };
  assertEquals(output, [Object.assign({}, item, ...fields)]);
  assert(performance.now() - begin < 2_000);
});
