import { EventStream } from "./event_stream.ts";
import {
  createStreamEventValidator,
  type StreamEventValidator,
  type StreamEventValidatorOptions,
} from "./stream_event_validator.ts";
import type { AssistantContent, AssistantMessage, StreamEvent } from "./types.ts";

/** An {@linkcode EventStream} of one response, held to every rule of the protocol. */
export interface AssistantMessageEventStream extends EventStream<StreamEvent, AssistantMessage> {
  /**
   * What is safe to keep of what was pushed so far: the closed blocks, then the open text or
   * thinking block as far as it came. An open tool call is left out.
   *
   * @returns A copy; changing it changes nothing here.
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
 * Creates a stream for whoever produces the events of a response. It has a validator of its own.
 *
 * A push throws the {@linkcode StreamSequenceError} that the consumer and `result()` will see.
 * `result()` resolves with the message of `done` or `error`; `end()` without either makes it reject
 * with the code `truncated`.
 *
 * @param options How much the response may hold.
 * @returns A stream that waits for its first event.
 * @throws {TypeError} A limit is not a number.
 * @throws {RangeError} A limit is neither a whole number from 0 on nor `Infinity`.
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
