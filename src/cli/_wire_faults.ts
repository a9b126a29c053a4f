/** What a person wants to know of something that is wrong, and is no broken rule. */
export interface OtherFault {
  /** What holds where all is well. */
  readonly summary: string;
  /** What usually goes wrong, the most usual first. */
  readonly causes: readonly [string, ...string[]];
}

/** What an adapter finds wrong with a provider's body, by the `errorCode` of its message. */
export const WIRE_FAULTS: Readonly<Record<string, OtherFault>> = {
  truncated: {
    summary: "A response says that it has ended.",
    causes: [
      "The connection broke, a proxy or a timeout cut it, or the recording ended early.",
    ],
  },
  malformed_frame: {
    summary: "Every frame of a body is what its wire format promises.",
    causes: [
      "Something on the way damaged the body, or put lines of its own into it.",
      "The body is not of this wire format.",
    ],
  },
  wire_order: {
    summary: "The frames of a response follow each other as its wire format says, and agree.",
    causes: [
      "A frame was lost, doubled, or arrived out of order.",
      "A server that imitates the wire format leaves out frames that say where a block begins.",
    ],
  },
  ambiguous_tool_call: {
    summary: "A fragment of a tool call can belong to one call alone, which has a name and an id.",
    causes: [
      "A server that imitates the wire format leaves out the index, id or name that tells calls " +
      "apart.",
    ],
  },
  invalid_tool_arguments: {
    summary: "The arguments of a tool call are one JSON object.",
    causes: [
      "A fragment was lost, or repeated.",
      "The model wrote arguments that are not JSON.",
      "A server sends a placeholder such as {} before the real arguments, or after them.",
    ],
  },
  missing_tool_call: {
    summary: "A response that stops for a tool call has one.",
    causes: [
      "The frames of the call were lost, or a gateway took them out.",
      "The server could not parse the call out of what the model wrote.",
    ],
  },
  limit_exceeded: {
    summary: "A response stays within the limits of the adapter.",
    causes: ["A model that repeats itself for ever, or a server that never ends a response."],
  },
};

/**
 * Why a response failed that is written well, by the `errorCode` of its message. None of it is wrong
 * with a recording; a program meets it.
 */
export const FAILURES: Readonly<Record<string, OtherFault>> = {
  output_limit: {
    summary: "A tool call is whole before the output limit is reached.",
    causes: ["The limit is too low for what the model writes: ask again with a higher one."],
  },
  content_filter: {
    summary: "No filter stops the response.",
    causes: ["A filter of the provider took exception to the input or the output."],
  },
  refusal: {
    summary: "The model goes on to the end of its answer.",
    causes: ["The model refused: other input can help, the same will not."],
  },
  paused: {
    summary: "A response goes on to its end.",
    causes: ["The provider paused a long turn: send the message back, and it goes on."],
  },
  unknown_stop_reason: {
    summary: "The reason to stop is one that the adapter knows.",
    causes: ["The provider, or a server that imitates it, has a new one."],
  },
  provider_error: {
    summary: "The provider says no error in the body.",
    causes: [
      "The provider is overloaded, or failed: errorDetails.providerErrorType has its own name for it.",
    ],
  },
  http_error: {
    summary: "The response has a status that is OK.",
    causes: [
      "Too many requests, an overloaded provider, a wrong key: errorDetails.status says which, and " +
      "errorDetails.retryAfter when to try again.",
    ],
  },
  unexpected_content_type: {
    summary: "The response has the content type of its wire format.",
    causes: [
      "The request did not ask for a stream.",
      "A proxy answered with a page of its own.",
    ],
  },
  network_error: {
    summary: "The connection holds until the response has ended.",
    causes: ["A server, a proxy or a network let go of it."],
  },
  idle_timeout: {
    summary: "A byte comes before the idleTimeout is over.",
    causes: ["The connection died without a word, or the provider stalls."],
  },
  aborted: {
    summary: "The response is read to its end.",
    causes: ["The signal fired, or the loop was left."],
  },
};

/** What makes bytes unreadable, by the code of a `StreamDecodeError`. */
export const DECODE_FAULTS: Readonly<Record<string, OtherFault>> = {
  invalid_utf8: {
    summary: "A stream of events is UTF-8.",
    causes: [
      "Chunks were joined as text, one by one, which breaks a character that two of them share.",
      "The body is compressed, or in another encoding.",
    ],
  },
  line_too_long: {
    summary: "A line, or the data of a server-sent event, has a length that can be held.",
    causes: ["The ends of the lines were lost, or it is no stream of events."],
  },
  invalid_json: {
    summary: "A line, or the data of a server-sent event, is JSON.",
    causes: [
      "A line of a log or of a tool got into the stream.",
      "Two lines ran into each other, or one was cut.",
    ],
  },
  incomplete_frame: {
    summary: "A body ends behind an event.",
    causes: ["The connection broke, or the recording ended, in the middle of an event."],
  },
  invalid_message: {
    summary: "The message of a terminal event has what its type promises: provider, model, usage " +
      "and timestamp, and an errorMessage where it failed.",
    causes: ["The producer leaves out what it does not know, such as the usage."],
  },
  unsupported_content_type: {
    summary: "A response of events has the content type of NDJSON or of server-sent events.",
    causes: [
      "The server sets no content type, or that of a page: say the format where it is known.",
      "It is the response of a provider, which an adapter reads.",
    ],
  },
  unexpected_status: {
    summary: "A response of events has a status that is OK.",
    causes: ["The server refused the request, or failed before the stream began."],
  },
};

/** Finds what is to say of a code that is no rule's. */
export function findOtherFault(code: string): OtherFault | undefined {
  for (const faults of [WIRE_FAULTS, FAILURES, DECODE_FAULTS]) {
    if (Object.hasOwn(faults, code)) return faults[code];
  }
  return undefined;
}
