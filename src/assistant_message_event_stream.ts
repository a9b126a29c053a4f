import { EventStream } from "./event_stream.ts";
import {
  createStreamEventValidator,
  type StreamEventValidator,
  type StreamEventValidatorOptions,
} from "./stream_event_validator.ts";
import type { AssistantContent, AssistantMessage, StreamEvent } from "./types.ts";

/** An {@linkcode EventStream} of one response, validated against every rule of the protocol. */
export interface AssistantMessageEventStream extends EventStream<StreamEvent, AssistantMessage> {
  /**
   * The content so far that is safe to keep: the closed blocks, then the open text or thinking
   * block with the text pushed so far. An open tool call is left out.
   *
   * @returns A copy; changing it does not affect the stream.
   */
  partialContent(): AssistantContent[];
}

class ValidatedEventStream extends EventStream<StreamEvent, AssistantMessage>
  implements AssistantMessageEventStream {
  readonly #validator: StreamEventValidator;

  constructor(validator: StreamEventValidator) {
    super({
      validate: (event) => validator.accept(event),
      isTerminal: () => validator.phase === "terminal",
      getResult: (event) => (event as { readonly message: AssistantMessage }).message,
      end: () => validator.end(),
    });
    this.#validator = validator;
  }

  partialContent(): AssistantContent[] {
    return this.#validator.partialContent();
  }
}

/**
 * Creates a stream for code that produces the events of a response. It validates the events itself.
 *
 * If an event breaks a rule, `push()` throws the same {@linkcode StreamSequenceError} that the
 * consumer and `result()` get. `result()` resolves with the message of `done` or `error`; if
 * `end()` is called before either, it rejects with the code `truncated`.
 *
 * @param options How much the response may contain.
 * @returns A stream that waits for its first event.
 * @throws {TypeError} A limit is not a number.
 * @throws {RangeError} A limit is neither a whole number of 0 or more nor `Infinity`.
 *
 * @example Producing a response, and the error of a producer that stopped halfway
 * ```ts
 * import { createAssistantMessageEventStream, StreamSequenceError } from "@agent-stream/validator";
 * import { assertEquals, assertRejects } from "@std/assert";
 *
 * const stream = createAssistantMessageEventStream();
 * stream.push({ type: "start" });
 * stream.push({ type: "text_start", contentIndex: 0 });
 * stream.push({ type: "text_delta", contentIndex: 0, delta: "Hel" });
 * stream.end();
 *
 * const seen: string[] = [];
 * const error = await assertRejects(async () => {
 *   for await (const event of stream) seen.push(event.type);
 * }, StreamSequenceError);
 * assertEquals(seen, ["start", "text_start", "text_delta"]);
 * assertEquals(error.code, "truncated");
 * assertEquals(stream.partialContent(), [{ type: "text", text: "Hel" }]);
 * ```
 */
export function createAssistantMessageEventStream(
  options: StreamEventValidatorOptions = {},
): AssistantMessageEventStream {
  return new ValidatedEventStream(createStreamEventValidator(options));
}
