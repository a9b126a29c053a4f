/**
 * The stream events and the messages that they build. Types only; nothing here exists at run time.
 *
 * @module
 */

/** A JSON value, as `JSON.parse` returns it. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | JsonObject;

/** A JSON object. `undefined` only ever means that a key is missing. */
export interface JsonObject {
  /** The value under each key. */
  readonly [key: string]: JsonValue | undefined;
}

/** A text block of a message. */
export interface TextContent {
  /** The kind of block. */
  readonly type: "text";
  /** The whole text. */
  readonly text: string;
}

/** A reasoning block of a message. */
export interface ThinkingContent {
  /** The kind of block. */
  readonly type: "thinking";
  /** The whole reasoning text. */
  readonly thinking: string;
}

/** A complete tool call that the model made. */
export interface ToolCallContent {
  /** The kind of block. */
  readonly type: "tool_call";
  /** The id that the tool's result refers to; unique within a response, never empty. */
  readonly id: string;
  /** The tool's name, never empty. */
  readonly name: string;
  /** The arguments: a complete JSON object. */
  readonly arguments: JsonObject;
}

/** A block of an assistant message. */
export type AssistantContent = TextContent | ThinkingContent | ToolCallContent;

/** What the tokens of one response cost, in US dollars; 0 if no price is known. */
export interface UsageCost {
  /** Uncached input, in US dollars. */
  readonly input: number;
  /** Output, reasoning included, in US dollars. */
  readonly output: number;
  /** Input read from the provider's cache, in US dollars. */
  readonly cacheRead: number;
  /** Input written to the provider's cache, in US dollars. */
  readonly cacheWrite: number;
  /** The four together, in US dollars. */
  readonly total: number;
}

/** How many tokens one response used. */
export interface Usage {
  /** Input tokens that were neither read from nor written to a cache. */
  readonly input: number;
  /** Output tokens, reasoning included. */
  readonly output: number;
  /** Input tokens read from the provider's cache. */
  readonly cacheRead: number;
  /** Input tokens written to the provider's cache. */
  readonly cacheWrite: number;
  /** All tokens together. */
  readonly totalTokens: number;
  /** What they cost, in US dollars. */
  readonly cost: UsageCost;
}

/** Why a response finished: the model stopped, reached a length limit, or wants tools to be run. */
export type SuccessfulStopReason = "stop" | "length" | "tool_use";

/** Why a response broke off: something failed, or somebody aborted it. */
export type FailedStopReason = "error" | "aborted";

/** Why a response ended. */
export type StopReason = SuccessfulStopReason | FailedStopReason;

/** What the next turn must send back to the provider, such as signatures or encrypted reasoning. */
export interface ProviderReplay {
  /** The wire format that can read `data`, such as `anthropic-messages`. */
  readonly api: string;
  /** Opaque data, to be sent back unchanged. */
  readonly data: JsonValue;
}

/** What is known about a failure, beyond its message. */
export interface AssistantErrorDetails {
  /** The provider's own name for the error, such as `overloaded_error`. */
  readonly providerErrorType?: string;
  /** A more specific code, such as `context_length_exceeded` for an `invalid_request_error`. */
  readonly providerErrorCode?: string;
  /** The HTTP status of the response. */
  readonly status?: number;
  /** How long the provider asks clients to wait before a retry, in milliseconds. */
  readonly retryAfter?: number;
  /** The provider's id of the request, to quote to its support. */
  readonly requestId?: string;
}

/**
 * What went wrong with a response, according to an adapter: the `errorCode` of a failed message.
 *
 * - `truncated`: the body ended before the response did. A retry can help.
 * - `malformed_frame`: a frame is not what the wire format specifies. A retry can help.
 * - `wire_order`: frames cannot follow each other, or contradict each other. A retry can help.
 * - `ambiguous_tool_call`: a fragment could belong to more than one tool call, or a call has no
 *   name or an id that is already in use. A retry can help.
 * - `invalid_tool_arguments`: the arguments of a tool call are not one JSON object. A retry can
 *   help.
 * - `missing_tool_call`: the response stopped for a tool call but contains none. A retry can help.
 * - `output_limit`: the output limit cut off a tool call. A retry with a higher limit can help.
 * - `content_filter`: a filter stopped the response. A retry with other input can help.
 * - `refusal`: the model refused to go on. A retry with other input can help.
 * - `paused`: the provider paused the response. Do not retry: send the message back to continue.
 * - `unknown_stop_reason`: the adapter does not know the stop reason. A retry seldom helps.
 * - `provider_error`: the provider reported an error in the body. `errorDetails.providerErrorType`
 *   tells whether a retry can help.
 * - `http_error`: the response has a status that is not OK. A retry can help for 500 and above, and
 *   for 408, 409 and 429 after `errorDetails.retryAfter`.
 * - `unexpected_content_type`: the response does not have the content type of the wire format. It
 *   may be a proxy's page, where a retry can help, or the answer to a request that did not ask for
 *   a stream.
 * - `network_error`: the connection could not be made, or broke. A retry can help.
 * - `idle_timeout`: no byte arrived for too long. A retry can help.
 * - `limit_exceeded`: the response holds more than the limits allow. A retry does not help.
 * - `aborted`: the response was aborted, or its consumer left. A retry is not wanted.
 */
export type AssistantErrorCode =
  | "truncated"
  | "malformed_frame"
  | "wire_order"
  | "ambiguous_tool_call"
  | "invalid_tool_arguments"
  | "missing_tool_call"
  | "output_limit"
  | "content_filter"
  | "refusal"
  | "paused"
  | "unknown_stop_reason"
  | "provider_error"
  | "http_error"
  | "unexpected_content_type"
  | "network_error"
  | "idle_timeout"
  | "limit_exceeded"
  | "aborted";

/** What every assistant message has. */
export interface AssistantMessageBase {
  /** Always `"assistant"`. */
  readonly role: "assistant";
  /** The blocks, in the order in which they were streamed. */
  readonly content: readonly AssistantContent[];
  /** Who served the response, such as `anthropic`. */
  readonly provider: string;
  /** The provider's name of the model that answered. */
  readonly model: string;
  /** Tokens and cost. */
  readonly usage: Usage;
  /** When the response was made, in Unix milliseconds. */
  readonly timestamp: number;
  /** What the next turn must send back to the provider. */
  readonly providerReplay?: ProviderReplay;
}

/** A message of a response that finished. */
export interface SuccessfulAssistantMessage extends AssistantMessageBase {
  /** Why it finished. */
  readonly stopReason: SuccessfulStopReason;
  /** A finished message has none. */
  readonly errorMessage?: never;
  /** A finished message has none. */
  readonly errorCode?: never;
  /** A finished message has none. */
  readonly errorDetails?: never;
}

/** A message of a response that broke off; see {@linkcode FailedAssistantMessage}. */
export interface FailedAssistantMessageOf<Reason extends FailedStopReason>
  extends AssistantMessageBase {
  /** Why it broke off. */
  readonly stopReason: Reason;
  /** What went wrong, for a person to read. */
  readonly errorMessage: string;
  /**
   * What went wrong, for a program to act on. An adapter of this package sets an
   * {@linkcode AssistantErrorCode}; `toResponse()` sets the code of the rule that its source broke;
   * other producers may set their own code, or none.
   */
  readonly errorCode?: AssistantErrorCode | (string & Record<never, never>);
  /** What else is known about the failure. */
  readonly errorDetails?: AssistantErrorDetails;
}

/**
 * A message of a response that broke off. Its content is what is safe to show: the closed blocks,
 * and the open text or thinking block with the text received so far. Tool calls in it must not be
 * run.
 */
export type FailedAssistantMessage =
  | FailedAssistantMessageOf<"error">
  | FailedAssistantMessageOf<"aborted">;

/** The message that a terminal event carries. */
export type AssistantMessage =
  | SuccessfulAssistantMessage
  | FailedAssistantMessage;

/** The response begins. */
export interface StartEvent {
  /** The event's name. */
  readonly type: "start";
}

/** A text block opens. */
export interface TextStartEvent {
  /** The event's name. */
  readonly type: "text_start";
  /** The block's position in the message: 0, 1, 2 and so on. */
  readonly contentIndex: number;
}

/** More text for the open text block. */
export interface TextDeltaEvent {
  /** The event's name. */
  readonly type: "text_delta";
  /** The open block's position. */
  readonly contentIndex: number;
  /** The next piece of the text; may be empty. */
  readonly delta: string;
}

/** The open text block closes. */
export interface TextEndEvent {
  /** The event's name. */
  readonly type: "text_end";
  /** The open block's position. */
  readonly contentIndex: number;
  /** The whole text: all deltas joined together. */
  readonly content: string;
}

/** A reasoning block opens. */
export interface ThinkingStartEvent {
  /** The event's name. */
  readonly type: "thinking_start";
  /** The block's position in the message: 0, 1, 2 and so on. */
  readonly contentIndex: number;
}

/** More reasoning for the open thinking block. */
export interface ThinkingDeltaEvent {
  /** The event's name. */
  readonly type: "thinking_delta";
  /** The open block's position. */
  readonly contentIndex: number;
  /** The next piece of the reasoning; may be empty. */
  readonly delta: string;
}

/** The open thinking block closes. */
export interface ThinkingEndEvent {
  /** The event's name. */
  readonly type: "thinking_end";
  /** The open block's position. */
  readonly contentIndex: number;
  /** The whole reasoning: all deltas joined together. */
  readonly content: string;
}

/** A tool call opens. */
export interface ToolCallStartEvent {
  /** The event's name. */
  readonly type: "tool_call_start";
  /** The block's position in the message: 0, 1, 2 and so on. */
  readonly contentIndex: number;
  /** The id that the tool's result will refer to; unique within a response, never empty. */
  readonly id: string;
  /** The tool's name, never empty. */
  readonly name: string;
}

/** A fragment of the open tool call's arguments. */
export interface ToolCallDeltaEvent {
  /** The event's name. */
  readonly type: "tool_call_delta";
  /** The open block's position. */
  readonly contentIndex: number;
  /** The next piece of the arguments' JSON text. */
  readonly argumentsDelta: string;
}

/** The open tool call closes. */
export interface ToolCallEndEvent {
  /** The event's name. */
  readonly type: "tool_call_end";
  /** The open block's position. */
  readonly contentIndex: number;
  /** The complete call. If there were deltas, its arguments are the JSON that they spell. */
  readonly toolCall: ToolCallContent;
}

/** The response is finished. Nothing follows. */
export interface DoneEvent {
  /** The event's name. */
  readonly type: "done";
  /** Equal to `message.stopReason`. */
  readonly reason: SuccessfulStopReason;
  /** The whole message; its content is exactly what was streamed. */
  readonly message: SuccessfulAssistantMessage;
}

/** The response broke off. Nothing follows. */
export interface ErrorEvent {
  /** The event's name. */
  readonly type: "error";
  /** Equal to `message.stopReason`. */
  readonly reason: FailedStopReason;
  /** The message; its content is the part of what was streamed that is safe to keep. */
  readonly message: FailedAssistantMessage;
}

/** One event of a streamed response. */
export type StreamEvent =
  | StartEvent
  | TextStartEvent
  | TextDeltaEvent
  | TextEndEvent
  | ThinkingStartEvent
  | ThinkingDeltaEvent
  | ThinkingEndEvent
  | ToolCallStartEvent
  | ToolCallDeltaEvent
  | ToolCallEndEvent
  | DoneEvent
  | ErrorEvent;

/** The name of an event. */
export type StreamEventType = StreamEvent["type"];

/** Where a stream is: before `start`, between `start` and the terminal event, or after that. */
export type StreamPhase = "idle" | "streaming" | "terminal";
