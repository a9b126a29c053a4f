import type { AssistantErrorDetails, StreamEvent } from "../types.ts";

/**
 * What went wrong with a response, for a program to act on; the `errorCode` of a failed message.
 *
 * | code | meaning | can a retry help? |
 * |---|---|---|
 * | `truncated` | the body ended before the response did | yes |
 * | `malformed_frame` | a frame that is not what the wire format promises | yes |
 * | `wire_order` | frames that cannot follow each other, or contradict each other | yes |
 * | `ambiguous_tool_call` | a fragment that cannot be told to which tool call it belongs | yes |
 * | `invalid_tool_arguments` | a tool call whose arguments are not one JSON object | yes |
 * | `missing_tool_call` | the response stopped for tool calls and has none | yes |
 * | `output_limit` | the output limit cut a tool call | with a higher limit |
 * | `content_filter` | a filter stopped the response | with other input |
 * | `refusal` | the model stopped by refusing | with other input |
 * | `paused` | the response waits for something that the events cannot express | by continuing it |
 * | `unknown_stop_reason` | a reason to stop that nobody knows | perhaps |
 * | `provider_error` | the provider said that it failed | see `errorDetails` |
 * | `http_error` | a status that is not OK | see `errorDetails` |
 * | `network_error` | the connection broke | yes |
 * | `idle_timeout` | no byte came for too long | yes |
 * | `limit_exceeded` | more than the limits allow | no |
 * | `aborted` | somebody aborted it | no |
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
  | "network_error"
  | "idle_timeout"
  | "limit_exceeded"
  | "aborted";

/** Options of every adapter. */
export interface AdapterOptions {
  /** Who serves the response, where the wire does not say. */
  readonly provider?: string;
  /**
   * The model, where the wire does not say.
   *
   * @default {"unknown"}
   */
  readonly model?: string;
  /**
   * Gives the timestamp of the message, in Unix milliseconds.
   *
   * @default {Date.now}
   */
  readonly now?: () => number;
  /**
   * Makes an id for a tool call that comes without one; unique within the response.
   *
   * @default {() => `call_${crypto.randomUUID()}`}
   */
  readonly createId?: () => string;
  /**
   * How much may wait for the block before it to end, in UTF-16 code units.
   *
   * @default {16_777_216}
   */
  readonly maxWaiting?: number;
}

/** Takes an event. */
export type Emit = (event: StreamEvent) => void;

/**
 * Turns the decoded payloads of one response into events. Whatever comes in, what comes out is a legal
 * stream with one `start` and one terminal event, which is the last.
 */
export interface Adapter {
  /** Whether the terminal event was emitted; nothing follows it. */
  readonly isFinished: boolean;
  /** Takes one decoded payload. */
  push(payload: unknown, emit: Emit): void;
  /** Takes the end of the body. */
  end(emit: Emit): void;
  /** Takes the failure of the body. */
  fail(cause: unknown, emit: Emit): void;
}

/** Ends a response with an `error` event. Thrown within adapters only. */
export class AdapterError extends Error {
  readonly code: AssistantErrorCode;
  readonly details: AssistantErrorDetails | undefined;

  constructor(code: AssistantErrorCode, message: string, details?: AssistantErrorDetails) {
    super(message);
    this.code = code;
    this.details = details;
  }
}
