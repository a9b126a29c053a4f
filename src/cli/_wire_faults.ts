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
};

/** Finds what is to say of a code that is no rule's. */
export function findOtherFault(code: string): OtherFault | undefined {
  for (const faults of [WIRE_FAULTS, DECODE_FAULTS]) {
    if (Object.hasOwn(faults, code)) return faults[code];
  }
  return undefined;
}
