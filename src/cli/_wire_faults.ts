/** What an adapter finds wrong with a body, and what usually causes it. */
export const WIRE_FAULTS: ReadonlyMap<string, string> = new Map([
  ["truncated", "The connection broke, a proxy or a timeout cut it, or the recording ended early."],
  ["malformed_frame", "Something on the way damaged the body, or it is not of this wire format."],
  ["wire_order", "A frame was lost, doubled, or arrived out of order."],
  [
    "ambiguous_tool_call",
    "The server imitates the wire, and leaves out the index, id or name that tells calls apart.",
  ],
  [
    "invalid_tool_arguments",
    "A fragment was lost, or the model wrote arguments that are not JSON.",
  ],
  ["missing_tool_call", "The frames of the call were lost, or the server parsed them away."],
  ["limit_exceeded", "A model that repeats itself for ever, or a producer that never ends."],
]);

/** What usually makes bytes unreadable, by the code of a `StreamDecodeError`. */
export const DECODE_FAULTS: ReadonlyMap<string, string> = new Map([
  ["invalid_utf8", "Chunks were joined as text and cut a character, or the body is compressed."],
  ["line_too_long", "The ends of the lines were lost, or it is not a stream of events."],
  ["invalid_json", "A line of a log or of a tool got into the stream, or a line was cut."],
  ["incomplete_frame", "The connection broke, or the recording ended, in the middle of an event."],
  ["invalid_message", "The producer leaves out what a message promises, such as its usage."],
]);
