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

/** A JSON object. `undefined` stands only for a key that is not there. */
export interface JsonObject {
  /** The value under each key. */
  readonly [key: string]: JsonValue | undefined;
}

/** A text block of a message. */
export interface TextContent {
  /** Tells this block from the others. */
  readonly type: "text";
  /** The whole text. */
  readonly text: string;
}

/** A reasoning block of a message. */
export interface ThinkingContent {
  /** Tells this block from the others. */
  readonly type: "thinking";
  /** The whole reasoning text. */
  readonly thinking: string;
}

/** A tool call that the model made, whole. */
export interface ToolCallContent {
  /** Tells this block from the others. */
  readonly type: "tool_call";
  /** What the tool's result refers to; unique within a response, never empty. */
  readonly id: string;
  /** The tool's name, never empty. */
  readonly name: string;
  /** The arguments: a JSON object, never a half of one. */
  readonly arguments: JsonObject;
}

/** A block of an assistant message. */
export type AssistantContent = TextContent | ThinkingContent | ToolCallContent;

/** What the tokens of one response cost, in US dollars; 0 where no price is known. */
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

/** How many tokens one response took. */
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

/** Why a response finished: the model stopped, it met a length limit, or it wants tools run. */
export type SuccessfulStopReason = "stop" | "length" | "tool_use";

/** Why a response broke off: something failed, or somebody aborted it. */
export type FailedStopReason = "error" | "aborted";

/** Why a response ended. */
export type StopReason = SuccessfulStopReason | FailedStopReason;

/** What a provider must see again on the next turn, such as signatures or encrypted reasoning. */
export interface ProviderReplay {
  /** The wire format that can read `data`, such as `anthropic-messages`. */
  readonly api: string;
  /** Opaque to everyone else. */
  readonly data: JsonValue;
}

/** What is known of a failure, beyond its message. */
export interface AssistantErrorDetails {
  /** The provider's own name for the error, such as `overloaded_error`. */
  readonly providerErrorType?: string;
  /** What it says beside that, such as `context_length_exceeded` of an `invalid_request_error`. */
  readonly providerErrorCode?: string;
  /** The HTTP status of the response. */
  readonly status?: number;
  /** How long the provider asks to wait before a retry, in milliseconds. */
  readonly retryAfter?: number;
  /** The provider's id of the request, for its support. */
  readonly requestId?: string;
}

/**
 * What an adapter says that went wrong with a response; the `errorCode` of a failed message.
 *
 * - `truncated`: the body ended before the response did. A retry can help.
 * - `malformed_frame`: a frame that is not what the wire format promises. A retry can help.
 * - `wire_order`: frames that cannot follow each other, or that contradict each other. A retry can
 *   help.
 * - `ambiguous_tool_call`: a fragment that could belong to more than one tool call, or a call that
 *   has no name or a taken id. A retry can help.
 * - `invalid_tool_arguments`: the arguments of a tool call are not one JSON object. A retry can
 *   help.
 * - `missing_tool_call`: the response stopped for a tool call and has none. A retry can help.
 * - `output_limit`: the output limit cut a tool call. A retry can help with a higher limit.
 * - `content_filter`: a filter stopped the response. A retry can help with other input.
 * - `refusal`: the model stopped by refusing. A retry can help with other input.
 * - `paused`: the provider paused the response. A retry is the wrong way: send the message back to
 *   go on.
 * - `unknown_stop_reason`: a reason to stop that the adapter does not know. A retry seldom helps.
 * - `provider_error`: the provider said in the body that it failed.
 *   `errorDetails.providerErrorType` says whether a retry can help.
 * - `http_error`: the response has a status that is not OK. A retry can help from 500 on, and for
 *   408, 409 and 429 after `errorDetails.retryAfter`.
 * - `unexpected_content_type`: the response has another content type than the wire format, such as
 *   a proxy's page, where a retry can help, or the answer to a request that asked for no stream.
 * - `network_error`: the connection could not be made, or broke. A retry can help.
 * - `idle_timeout`: no byte came for too long. A retry can help.
 * - `limit_exceeded`: the response holds more than the limits allow. A retry does not help.
 * - `aborted`: somebody aborted the response, or left it. A retry is not wanted.
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
  /** Whose message it is. */
  readonly role: "assistant";
  /** The blocks, in the order in which they were streamed. */
  readonly content: readonly AssistantContent[];
  /** Who served the response, such as `anthropic`. */
  readonly provider: string;
  /** The model that answered, by the provider's name for it. */
  readonly model: string;
  /** Tokens and cost. */
  readonly usage: Usage;
  /** When the response was made, in Unix milliseconds. */
  readonly timestamp: number;
  /** What the provider must see again on the next turn. */
  readonly providerReplay?: ProviderReplay;
}

/** A message that the model finished. */
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

/** A message that broke off for a reason; see {@linkcode FailedAssistantMessage}. */
export interface FailedAssistantMessageOf<Reason extends FailedStopReason>
  extends AssistantMessageBase {
  /** Why it broke off. */
  readonly stopReason: Reason;
  /** What went wrong, for a person to read. */
  readonly errorMessage: string;
  /**
   * What went wrong, for a program to act on: an {@linkcode AssistantErrorCode} by an adapter of this
   * package, the rule's code by `toResponse()` where its source broke one; others may put in their
   * own, or none.
   */
  readonly errorCode?: AssistantErrorCode | (string & Record<never, never>);
  /** What else is known of the failure. */
  readonly errorDetails?: AssistantErrorDetails;
}

/**
 * A message that broke off. Its content is what is safe to show: closed blocks and the open text or
 * thinking as far as it came. Tool calls in it must not be run.
 */
export type FailedAssistantMessage =
  | FailedAssistantMessageOf<"error">
  | FailedAssistantMessageOf<"aborted">;

/** The message that a terminal event carries. */
export type AssistantMessage =
  | SuccessfulAssistantMessage
  | FailedAssistantMessage;

/** The response has begun. */
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
  /** The whole text: all deltas together. */
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
  /** The whole reasoning: all deltas together. */
  readonly content: string;
}

/** A tool call opens. */
export interface ToolCallStartEvent {
  /** The event's name. */
  readonly type: "tool_call_start";
  /** The block's position in the message: 0, 1, 2 and so on. */
  readonly contentIndex: number;
  /** What the tool's result will refer to; unique within a response, never empty. */
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
  /** The whole call; its arguments are what the deltas spell, where there were any. */
  readonly toolCall: ToolCallContent;
}

/** The response is finished. Nothing follows. */
export interface DoneEvent {
  /** The event's name. */
  readonly type: "done";
  /** Equal to `message.stopReason`. */
  readonly reason: SuccessfulStopReason;
  /** Exactly what was streamed. */
  readonly message: SuccessfulAssistantMessage;
}

/** The response broke off. Nothing follows. */
export interface ErrorEvent {
  /** The event's name. */
  readonly type: "error";
  /** Equal to `message.stopReason`. */
  readonly reason: FailedStopReason;
  /** What is safe to keep of what was streamed. */
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
