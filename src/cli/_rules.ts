import type { StreamEventLimits } from "../stream_event_validator.ts";
import type { StreamSequenceErrorCode } from "../stream_sequence_error.ts";
import type { AssistantContent } from "../types.ts";

/** What a person wants to know of a rule. */
export interface Rule {
  /** The rule, as it holds for every stream. */
  readonly summary: string;
  /** What usually breaks it, the most usual first. */
  readonly causes: readonly [string, ...string[]];
  /** The shortest stream that breaks it, up to where it does. */
  readonly broken: readonly unknown[];
  /** The same stream put right. */
  readonly fixed: readonly unknown[];
  /** The limits under which these streams are judged, where they are not the usual ones. */
  readonly limits?: StreamEventLimits;
}

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };

function messageOf(content: readonly AssistantContent[], stopReason: string) {
  return {
    role: "assistant",
    content,
    provider: "demo",
    model: "demo-1",
    usage,
    timestamp: 0,
    stopReason,
  };
}

function done(content: readonly AssistantContent[] = [], reason = "stop") {
  return { type: "done", reason, message: messageOf(content, reason) };
}

const start = { type: "start" };
const textStart = { type: "text_start", contentIndex: 0 };
const text: AssistantContent = { type: "text", text: "Hello" };
const hello = [
  textStart,
  { type: "text_delta", contentIndex: 0, delta: "Hello" },
  { type: "text_end", contentIndex: 0, content: "Hello" },
];

const call: AssistantContent = {
  type: "tool_call",
  id: "call_1",
  name: "weather",
  arguments: { city: "Oslo" },
};
const callStart = { type: "tool_call_start", contentIndex: 0, id: "call_1", name: "weather" };
const callDelta = { type: "tool_call_delta", contentIndex: 0, argumentsDelta: '{"city":"Oslo"}' };
const callEnd = { type: "tool_call_end", contentIndex: 0, toolCall: call };
const fixedCall = [start, callStart, callDelta, callEnd, done([call], "tool_use")];

/** Every rule of the protocol, in the order in which they are checked. */
export const RULES: Readonly<Record<StreamSequenceErrorCode, Rule>> = {
  malformed_event: {
    summary: "An event is an object with a string type, and has the fields of its type, each of " +
      "the right kind.",
    causes: [
      "A producer of another version, which names or nests its fields otherwise.",
      "Something between wire and validator passed on text, bytes or an envelope instead of the " +
      "event in it.",
      "A field that was undefined when the event was written, so that JSON left it out.",
    ],
    broken: [{ kind: "start" }],
    fixed: [start, done()],
  },
  expected_start: {
    summary: "A stream begins with start.",
    causes: [
      "The reader attached too late, or a buffer dropped the first events.",
      "The producer never sends start.",
      "Events of one response went to the reader of another.",
    ],
    broken: [textStart],
    fixed: [start, ...hello, done([text])],
  },
  after_terminal: {
    summary: "Nothing follows done or error.",
    causes: [
      "A second terminal event: error handling that reports a response which had already ended.",
      "A callback or a retry that goes on writing after the response was closed.",
      "Events that overtook each other in a queue.",
    ],
    broken: [start, done(), textStart],
    fixed: [start, done()],
  },
  duplicate_start: {
    summary: "A stream has start once, at its beginning.",
    causes: [
      "Two recordings in one file, the first of which was cut off before its terminal event.",
      "A retry that starts again on the same stream instead of on a new one.",
      "An event that was delivered twice.",
    ],
    broken: [start, start],
    fixed: [start, done()],
  },
  unknown_event: {
    summary: "The type of an event is one of the twelve.",
    causes: [
      "A producer's own events (ping, usage, debug) in the same stream: filter them out before.",
      "A provider's stream that did not pass through its adapter.",
      "A type spelled otherwise, such as textDelta.",
    ],
    broken: [start, { type: "ping" }],
    fixed: [start, done()],
  },
  block_open: {
    summary: "A block opens only when no other one is open.",
    causes: [
      "The event that ended the block before was lost, or is never sent.",
      "The provider's blocks overlap, and were passed on without being put in order.",
    ],
    broken: [start, textStart, { type: "thinking_start", contentIndex: 1 }],
    fixed: [
      start,
      ...hello,
      { type: "thinking_start", contentIndex: 1 },
      { type: "thinking_end", contentIndex: 1, content: "" },
      done([text, { type: "thinking", thinking: "" }]),
    ],
  },
  unexpected_index: {
    summary: "Blocks have the positions 0, 1, 2 and so on, in the order in which they open.",
    causes: [
      "A whole block was lost or filtered out, and the ones after it kept their positions.",
      "The provider's own index was passed on, which counts otherwise or begins at 1.",
    ],
    broken: [start, { type: "text_start", contentIndex: 1 }],
    fixed: [start, ...hello, done([text])],
  },
  duplicate_tool_id: {
    summary: "Every tool call of a response has an id of its own.",
    causes: [
      "A tool call was sent twice, such as by a retry.",
      "The producer makes ids up from the tool's name, or leaves them all the same.",
    ],
    broken: [start, callStart, callEnd, { ...callStart, contentIndex: 1 }],
    fixed: [
      start,
      callStart,
      callEnd,
      { ...callStart, contentIndex: 1, id: "call_2" },
      { type: "tool_call_end", contentIndex: 1, toolCall: { ...call, id: "call_2" } },
      done([call, { ...call, id: "call_2" }], "tool_use"),
    ],
  },
  wrong_block: {
    summary: "A delta or an end belongs to a block that is open, and is of its kind.",
    causes: [
      "The event that opened the block was lost.",
      "The event arrived twice, or after the end of its block.",
      "Blocks that overlap were passed on without being put in order.",
    ],
    broken: [start, { type: "text_delta", contentIndex: 0, delta: "Hello" }],
    fixed: [start, ...hello, done([text])],
  },
  wrong_index: {
    summary: "A delta or an end names the position of the block that is open.",
    causes: [
      "Blocks that overlap, such as parallel tool calls, were passed on without being put in order.",
      "The provider's own index was passed on, which counts otherwise.",
    ],
    broken: [start, textStart, { type: "text_delta", contentIndex: 1, delta: "Hello" }],
    fixed: [start, ...hello, done([text])],
  },
  content_mismatch: {
    summary: "The end of a text or thinking block repeats exactly what its deltas said.",
    causes: [
      "A delta was lost, doubled, or arrived out of order.",
      "The text was trimmed, normalised or repaired on one of the two ways.",
      "Chunks were decoded one by one, which breaks a character that two of them share.",
    ],
    broken: [
      start,
      textStart,
      { type: "text_end", contentIndex: 0, content: "Hello" },
    ],
    fixed: [start, ...hello, done([text])],
  },
  arguments_not_json: {
    summary: "The argument deltas of a tool call together spell one JSON text.",
    causes: [
      "A delta was lost, doubled, or arrived out of order.",
      "The output limit cut the call, and it was ended all the same.",
      "The producer sends each delta as the whole so far, instead of as what is new.",
    ],
    broken: [
      start,
      callStart,
      { ...callDelta, argumentsDelta: "" },
      callEnd,
    ],
    fixed: fixedCall,
  },
  limit_exceeded: {
    summary:
      "A response stays within the limits on its blocks, its length, and the nesting of its " +
      "arguments.",
    causes: [
      "A model that repeats itself for ever, or a producer that never ends a response.",
      "A limit that is set too low for what is asked for.",
      "Input that was made to exhaust whoever reads it.",
    ],
    broken: [start, { type: "text_start", contentIndex: 0 }],
    fixed: [start, done()],
    limits: { contentBlocks: 0 },
  },
  arguments_not_object: {
    summary: "The arguments of a tool call are a JSON object.",
    causes: [
      "Arguments were encoded as JSON twice, and are a string.",
      "A call without arguments came with null, or with an empty string, instead of {}.",
    ],
    broken: [
      start,
      callStart,
      { ...callEnd, toolCall: { ...call, arguments: '{"city":"Oslo"}' } },
    ],
    fixed: [start, callStart, callEnd, done([call], "tool_use")],
  },
  tool_id_changed: {
    summary: "A tool call ends under the id with which it started.",
    causes: [
      "The end of a call was held against the start of another.",
      "A temporary id was replaced by the final one while the call was streamed.",
    ],
    broken: [
      start,
      callStart,
      { ...callEnd, toolCall: { ...call, id: "call_2" } },
    ],
    fixed: [start, callStart, callEnd, done([call], "tool_use")],
  },
  tool_name_changed: {
    summary: "A tool call ends under the name with which it started.",
    causes: [
      "The name came in pieces, and the start had only the first.",
      "Tools are renamed (a prefix, a namespace) on one of the two ways.",
    ],
    broken: [
      start,
      callStart,
      { ...callEnd, toolCall: { ...call, name: "tools.weather" } },
    ],
    fixed: [start, callStart, callEnd, done([call], "tool_use")],
  },
  arguments_mismatch: {
    summary: "The arguments with which a tool call ends are the value that its deltas spell.",
    causes: [
      "A delta was lost, and what is left happens to be JSON.",
      "Defaults or coercions were put into the final arguments, and not into the deltas.",
    ],
    broken: [start, callStart, { ...callDelta, argumentsDelta: "{}" }, callEnd],
    fixed: fixedCall,
  },
  block_open_at_done: {
    summary: "Every block is closed when done comes.",
    causes: [
      "The event that ended the block was lost, or is never sent.",
      "The response was cut off, and done was sent all the same: it should be error.",
    ],
    broken: [start, textStart, done([{ type: "text", text: "" }])],
    fixed: [start, ...hello, done([text])],
  },
  reason_mismatch: {
    summary: "The reason of a terminal event is the stopReason of its message.",
    causes: [
      "The reason was changed for a response with tool calls, and the message was not.",
      "The message was built before the provider said why the response stopped.",
    ],
    broken: [start, { ...done(), reason: "length" }],
    fixed: [start, done([], "length")],
  },
  message_mismatch: {
    summary: "The message of a terminal event holds exactly the blocks that were streamed.",
    causes: [
      "The message was put together apart from the stream, and blocks were trimmed, merged or " +
      "left out.",
      "Events were lost, or filtered out, on the way.",
      "A failed message that keeps half of a tool call, or drops text that was streamed.",
    ],
    broken: [start, done([text])],
    fixed: [start, ...hello, done([text])],
  },
  truncated: {
    summary: "A stream ends with done or error.",
    causes: [
      "The connection broke, a proxy or a timeout cut it, or the process was stopped.",
      "The recording was ended too early.",
      "The producer ends the body after the last block, without a terminal event.",
    ],
    broken: [start],
    fixed: [start, done()],
  },
};

/** Reads the code of a rule, however it is written. */
export function findRule(word: string): StreamSequenceErrorCode | undefined {
  const code = word.toLowerCase().replaceAll("-", "_");
  return Object.hasOwn(RULES, code) ? code as StreamSequenceErrorCode : undefined;
}
