import { type Difference, differenceOf, firstDifference } from "../_json.ts";
import { quote } from "../_quote.ts";
import {
  createStreamEventValidator,
  type StreamEventValidator,
} from "../stream_event_validator.ts";
import { StreamSequenceError, type StreamSequenceErrorCode } from "../stream_sequence_error.ts";
import type { AssistantContent, StreamEvent } from "../types.ts";

/** Judges the events of one stream, and goes on after it has found something. */
export interface Judge {
  /** Whether something was found. */
  readonly isWrong: boolean;
  /** Takes the next event; returns what is wrong with it, as far as that can be said. */
  accept(event: unknown): StreamSequenceError | undefined;
  /**
   * Takes notice of something wrong that is no event: what it was to be is not known.
   *
   * @returns Whether it is still to be told.
   */
  lose(): boolean;
  /** Takes the end of the stream. */
  end(): StreamSequenceError | undefined;
}

/** Judges up to the first violation. */
export class FirstJudge implements Judge {
  isWrong = false;
  readonly #validator = createStreamEventValidator();

  accept(event: unknown): StreamSequenceError | undefined {
    if (this.isWrong) return undefined;
    // Without a closure: this is done for every event of everything that is checked.
    try {
      this.#validator.accept(event as StreamEvent);
      return undefined;
    } catch (error) {
      this.isWrong = true;
      if (StreamSequenceError.is(error)) return error;
      throw error;
    }
  }

  lose(): boolean {
    const isFirst = !this.isWrong;
    this.isWrong = true;
    return isFirst;
  }

  end(): StreamSequenceError | undefined {
    if (this.isWrong) return undefined;
    const error = violationOf(() => this.#validator.end());
    if (error) this.isWrong = true;
    return error;
  }
}

/** How many violations of one stream are told. Each may cost as much as a stream of its own. */
const MAX_VIOLATIONS = 100;

/** Up to which position a block is believed in a stream that was wrong before. */
const MAX_INDEX = 1_000;

/** Violations of an end event that leave no doubt that the block is closed. */
const CLOSING: ReadonlySet<StreamSequenceErrorCode> = new Set([
  "content_mismatch",
  "arguments_not_json",
  "arguments_not_object",
  "tool_id_changed",
  "tool_name_changed",
  "arguments_mismatch",
]);

/** An event of which only `type` is known. */
interface UnknownEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/**
 * Judges past the first violation, and says only what does not follow from it. An event that was
 * refused may have been wrong in more than one way, so what comes after is held against events that
 * were accepted, and against nothing else:
 *
 * - An end event that was refused for what it says closes its block, and all goes on.
 * - After any other refused event, judging goes on at the next block that opens, whose position is
 *   taken as it is. Until then, only what an event says by itself can be wrong.
 * - Of a terminal event's message, those blocks are compared that were whole, up to where a position
 *   was taken as it is.
 * - After a terminal event, accepted or not, at most one event more is refused.
 */
export class EveryJudge implements Judge {
  isWrong = false;
  #validator = createStreamEventValidator();
  /** How many events came. */
  #events = 0;
  #violations = 0;
  /** Whether nothing is known of the block at hand. */
  #isLost = false;
  /** Whether nothing more is to say. */
  #isOver = false;
  /** Whether an event that nobody understood may have been the terminal one. */
  #mayHaveEnded = false;
  /** The position from which on the validator knows the blocks. */
  #base = 0;
  /** The position behind the last block that closed. */
  #closed = 0;
  /** Whether the positions of the blocks are sure: so they are up to where one was taken as it is. */
  #isPlaced = true;
  /** The blocks that are known to be whole, by the positions that are sure. */
  readonly #known = new Map<number, AssistantContent>();
  readonly #ids = new Set<string>();

  accept(event: unknown): StreamSequenceError | undefined {
    this.#events++;
    if (this.#isOver) return undefined;
    const error = this.#judge(event);
    const type = typeOf(event);
    if (error) this.#recover(error, event);
    else if (!this.#isLost) this.#remember(event as UnknownEvent);
    if (this.isWrong && (type === "done" || type === "error")) this.#isOver = true;
    return error && this.#renumber(error);
  }

  lose(): boolean {
    if (this.#isOver) return false;
    this.isWrong = true;
    if (++this.#violations === MAX_VIOLATIONS) this.#isOver = true;
    this.#mayHaveEnded = true;
    this.#keepKnown();
    this.#isLost = true;
    this.#isPlaced = false;
    return true;
  }

  end(): StreamSequenceError | undefined {
    if (this.#isOver || (this.isWrong && this.#mayHaveEnded)) return undefined;
    const validator = this.#isLost ? createStarted(0) : this.#validator;
    const error = violationOf(() => validator.end());
    if (!error) return undefined;
    this.#events++;
    this.isWrong = true;
    return this.#renumber(error);
  }

  #judge(event: unknown): StreamSequenceError | undefined {
    const type = typeOf(event);
    if (this.isWrong && (type === "done" || type === "error")) {
      return this.#judgeTerminal(event as UnknownEvent);
    }
    if (this.#isLost) {
      if (!isBlockStart(event)) return shapeError(event);
      this.#resume(event.contentIndex);
    }
    const error = violationOf(() => this.#validator.accept(event as StreamEvent));
    if (error || !this.isWrong || type !== "tool_call_start") return error;
    const { id, contentIndex } = event as { readonly id: string; readonly contentIndex: number };
    if (!this.#ids.has(id)) return undefined;
    return new StreamSequenceError(
      type,
      "streaming",
      `expected a new tool id, received ${quote(id)}`,
      { code: "duplicate_tool_id", contentIndex },
    );
  }

  /** Judges a terminal event by its own fields, and its message by the blocks that are known. */
  #judgeTerminal(event: UnknownEvent): StreamSequenceError | undefined {
    const validator = this.#isLost ? createStarted(0) : this.#validator;
    const message = event.message as { readonly content?: unknown } | null | undefined;
    const content = message?.content;
    if (!Array.isArray(content)) {
      return violationOf(() => validator.accept(event as unknown as StreamEvent));
    }
    const streamed = validator.partialContent();
    const fitting = { ...event, message: { ...message, content: streamed } };
    const error = violationOf(() => validator.accept(fitting as unknown as StreamEvent));
    if (error) return error;
    const expected = new Map(this.#known);
    if (this.#isPlaced) {
      streamed.forEach((block, index) => index >= this.#base && expected.set(index, block));
    }
    const difference = differenceIn(
      expected,
      content,
      this.#isPlaced ? streamed.length : undefined,
    );
    if (!difference) return undefined;
    const at = difference.offset === undefined ? "" : ` at offset ${difference.offset}`;
    return new StreamSequenceError(
      event.type,
      "streaming",
      `expected message content as streamed, received a difference in ${difference.path}${at}`,
      { code: "message_mismatch", ...difference },
    );
  }

  /** Remembers what an accepted event leaves behind. */
  #remember(event: UnknownEvent): void {
    if (event.type === "tool_call_start") this.#ids.add(event.id as string);
    else if (event.type.endsWith("_end")) this.#closed = (event.contentIndex as number) + 1;
  }

  /** Goes on after a violation with what is still sure. */
  #recover(error: StreamSequenceError, event: unknown): void {
    const { code } = error;
    this.isWrong = true;
    if (++this.#violations === MAX_VIOLATIONS) this.#isOver = true;
    if (code === "malformed_event" || code === "unknown_event") this.#mayHaveEnded = true;
    if (code === "after_terminal") this.#isOver = true;
    if (this.#isOver) return;
    this.#keepKnown();
    const closes = CLOSING.has(code) ||
      (code === "limit_exceeded" && typeOf(event) === "tool_call_end");
    if (closes && error.contentIndex !== undefined && error.contentIndex < MAX_INDEX) {
      this.#resume(error.contentIndex + 1);
      return;
    }
    this.#isLost = true;
    const isOpened = code === "expected_start" || code === "duplicate_tool_id";
    if (isOpened && isBlockStart(event)) {
      // The rule that it broke does not ask what block it opens.
      this.#resume(event.contentIndex);
      this.#isLost = violationOf(() => this.#validator.accept(event as StreamEvent)) !== undefined;
      if (!this.#isLost) this.#remember(event);
    }
    if (code !== "duplicate_tool_id" || this.#isLost) this.#isPlaced = false;
    if (code === "duplicate_start") {
      // It may begin another stream altogether.
      this.#known.clear();
      this.#ids.clear();
    }
  }

  /** Keeps the blocks that closed since the validator began to know them. */
  #keepKnown(): void {
    if (!this.#isPlaced) return;
    this.#validator.partialContent().slice(0, this.#closed).forEach((block, index) => {
      if (index >= this.#base) this.#known.set(index, block);
    });
  }

  #resume(index: number): void {
    this.#validator = createStarted(index);
    this.#base = this.#closed = index;
    this.#isLost = false;
  }

  /** Gives an error the place of its event in the whole stream. */
  #renumber(error: StreamSequenceError): StreamSequenceError {
    const { eventType, phase, detail, code, contentIndex, path, offset } = error;
    const { expected, received, partialContent } = error;
    return new StreamSequenceError(eventType, phase, detail, {
      code,
      eventIndex: this.#events - 1,
      ...(contentIndex !== undefined && { contentIndex }),
      ...(path !== undefined && { path }),
      ...(offset !== undefined && { offset }),
      ...(expected !== undefined && { expected }),
      ...(received !== undefined && { received }),
      partialContent,
    });
  }
}

/** Finds where a message differs from the blocks that are known, and from their number if that is. */
function differenceIn(
  expected: ReadonlyMap<number, AssistantContent>,
  received: readonly unknown[],
  length: number | undefined,
): Difference | undefined {
  for (const [index, block] of expected) {
    if (index >= received.length) continue;
    const difference = firstDifference(`content[${index}]`, block, received[index]);
    if (difference) return difference;
  }
  const least = Math.max(-1, ...expected.keys()) + 1;
  return received.length < least || (length !== undefined && received.length !== length)
    ? differenceOf("content.length", length ?? least, received.length)
    : undefined;
}

/** Creates a validator that waits for the block at a position. */
function createStarted(index: number): StreamEventValidator {
  const validator = createStreamEventValidator();
  validator.accept({ type: "start" });
  for (let contentIndex = 0; contentIndex < index; contentIndex++) {
    validator.accept({ type: "text_start", contentIndex });
    validator.accept({ type: "text_end", contentIndex, content: "" });
  }
  return validator;
}

/** What is wrong with an event whatever came before it. */
function shapeError(event: unknown): StreamSequenceError | undefined {
  const error = violationOf(() => createStarted(0).accept(event as StreamEvent));
  return error?.code === "malformed_event" || error?.code === "unknown_event" ? error : undefined;
}

function violationOf(step: () => void): StreamSequenceError | undefined {
  try {
    step();
    return undefined;
  } catch (error) {
    if (StreamSequenceError.is(error)) return error;
    throw error;
  }
}

function typeOf(event: unknown): unknown {
  return typeof event === "object" && event !== null && "type" in event ? event.type : undefined;
}

/** Whether an event opens a block at a position that can be one. */
function isBlockStart(
  event: unknown,
): event is UnknownEvent & { readonly contentIndex: number } {
  const type = typeOf(event);
  if (typeof type !== "string" || !/^(text|thinking|tool_call)_start$/.test(type)) return false;
  const index = (event as UnknownEvent).contentIndex;
  return typeof index === "number" && Number.isInteger(index) && index >= 0 && index <= MAX_INDEX;
}
