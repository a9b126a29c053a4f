import { DeltaText } from "./_delta_text.ts";
import {
  copyJson,
  type Difference,
  differenceOf,
  firstDifference,
  isPlainObject,
  type JsonCopy,
  kindOf,
  sameJson,
} from "./_json.ts";
import { quote } from "./_quote.ts";
import { readLimit } from "./_read_limit.ts";
import {
  StreamSequenceError,
  type StreamSequenceErrorCode,
  type StreamSequenceErrorOptions,
} from "./stream_sequence_error.ts";
import type { AssistantContent, JsonObject, StreamEvent, StreamPhase } from "./types.ts";

/** How much one response may contain. `Infinity` allows as much as the engine can hold. */
export interface StreamEventLimits {
  /**
   * The number of blocks in one message.
   *
   * @default {10_000}
   */
  readonly contentBlocks?: number | undefined;
  /**
   * The length of all deltas of one message together, in UTF-16 code units.
   *
   * @default {67_108_864}
   */
  readonly messageLength?: number | undefined;
  /**
   * How deeply a tool call's arguments may nest, in levels; `{}` is one level.
   *
   * @default {1_000}
   */
  readonly argumentsDepth?: number | undefined;
}

/** Options of {@linkcode createStreamEventValidator}. */
export interface StreamEventValidatorOptions {
  /** How much one response may contain. */
  readonly limits?: StreamEventLimits | undefined;
}

/** Validates one stream: it remembers the events so far, and rejects one that cannot follow. */
export interface StreamEventValidator {
  /** Where the stream is: before `start`, between `start` and the terminal event, or after that. */
  readonly phase: StreamPhase;
  /**
   * Checks the next event. A rejected event changes nothing but the count of events.
   *
   * @param event The event, from any source: nothing about it is assumed.
   * @throws {StreamSequenceError} The event cannot follow what came before; its `code` names the
   * rule.
   */
  accept(event: StreamEvent): void;
  /**
   * Marks the end of the stream.
   *
   * @throws {StreamSequenceError} With the code `truncated`, if no terminal event has been
   * accepted.
   */
  end(): void;
  /**
   * The content so far that is safe to keep: the closed blocks, then the open text or thinking
   * block with the text received so far. An open tool call is left out.
   *
   * @returns A copy; changing it does not affect the validator.
   */
  partialContent(): AssistantContent[];
}

/** The limits of a machine, whole. */
type Limits = Readonly<Record<keyof StreamEventLimits, number>>;

const DEFAULT_LIMITS: Limits = {
  contentBlocks: 10_000,
  messageLength: 67_108_864,
  argumentsDepth: 1_000,
};

/** What is remembered of tool calls, from the first one on. */
interface ToolCalls {
  /** The ids so far. */
  readonly ids: Set<string>;
  /** Of the open call. */
  id: string;
  name: string;
  /** Whether the open call got an empty delta, which leaves no trace in the text. */
  hasEmptyDelta: boolean;
  /** Whether some arguments hold an object twice, so that walking them plainly could take for ever. */
  isShared: boolean;
}

/** What a block can be. */
type BlockKind = AssistantContent["type"];

/** An event of which only `type` is known. */
interface UnknownEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What `tool_call_end` must bring, before anything is known of the arguments. */
interface UnknownToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

/** What a terminal event's message must bring, before anything is known of the content. */
interface UnknownMessage {
  readonly content: readonly unknown[];
  readonly stopReason: string;
}

/** The longest string that every engine can hold, in UTF-16 code units: V8's bound, the lowest. */
const MAX_STRING_LENGTH = 2 ** 29 - 24;

/** How deep the quick comparison looks, in levels. Only what nests deeper takes the slow way. */
const QUICK_DEPTH = 64;

/** The event type that grows each kind of block. */
const DELTA_TYPES: Readonly<Record<BlockKind, string>> = {
  text: "text_delta",
  thinking: "thinking_delta",
  tool_call: "tool_call_delta",
};

const SUCCESSFUL_REASONS: readonly unknown[] = ["stop", "length", "tool_use"];
const FAILED_REASONS: readonly unknown[] = ["error", "aborted"];

/**
 * Creates the validator of one stream. Each one has its own, independent state.
 *
 * @param options How much a response may contain.
 * @returns A validator that has not seen any event.
 * @throws {TypeError} A limit is not a number.
 * @throws {RangeError} A limit is neither a whole number of 0 or more nor `Infinity`.
 *
 * @example Rejecting an event that cannot follow
 * ```ts
 * import { createStreamEventValidator, StreamSequenceError } from "@agent-stream/validator";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const validator = createStreamEventValidator();
 * validator.accept({ type: "start" });
 * validator.accept({ type: "text_start", contentIndex: 0 });
 * validator.accept({ type: "text_delta", contentIndex: 0, delta: "Hel" });
 *
 * const error = assertThrows(
 *   () => validator.accept({ type: "text_end", contentIndex: 0, content: "Hello" }),
 *   StreamSequenceError,
 * );
 * assertEquals(error.code, "content_mismatch");
 * assertEquals(error.offset, 3);
 * assertEquals(validator.partialContent(), [{ type: "text", text: "Hel" }]);
 * ```
 */
export function createStreamEventValidator(
  options: StreamEventValidatorOptions = {},
): StreamEventValidator {
  return new Machine(options.limits ? limitsOf(options.limits) : DEFAULT_LIMITS);
}

// One object a stream, with few fields: it is the text of the open block, and holds what only some
// streams need in an object of its own. Five fields fewer were worth two hundredths of the memory.
class Machine extends DeltaText implements StreamEventValidator {
  readonly #limits: Limits;
  #phase: StreamPhase = "idle";
  /** How often `accept` was called. */
  #events = 0;
  /** How many UTF-16 code units of deltas this message may still bring. */
  #room: number;
  /** The closed blocks. */
  readonly #content: AssistantContent[] = [];
  #calls: ToolCalls | undefined;
  /** The kind of the open block; its position is `#content.length`. */
  #open: BlockKind | undefined;
  /** The type of the events that grow the open block. */
  #deltaType = "";

  constructor(limits: Limits) {
    super();
    this.#limits = limits;
    this.#room = Math.min(limits.messageLength, MAX_STRING_LENGTH);
  }

  get phase(): StreamPhase {
    return this.#phase;
  }

  accept(event: StreamEvent): void {
    const eventIndex = this.#events++;
    let type: string | undefined;
    try {
      // Nearly every event is a delta of the open block. All rules hold for one that gets through
      // here; whatever does not is judged rule by rule.
      const open = this.#open;
      if (
        open !== undefined && typeof event === "object" && event !== null &&
        event.type === this.#deltaType &&
        (event as UnknownEvent).contentIndex === this.#content.length
      ) {
        const delta = open === "tool_call"
          ? (event as UnknownEvent).argumentsDelta
          : (event as UnknownEvent).delta;
        if (typeof delta === "string" && delta !== "" && delta.length <= this.#room) {
          this.#room -= delta.length;
          this.append(delta);
          return;
        }
      }
      type = typeOf(event);
      this.#judge(type, event as UnknownEvent);
    } catch (cause) {
      // What else throws is a getter or a proxy: no rule can be checked on what cannot be read.
      const violation = cause instanceof Violation
        ? cause
        : new Violation("malformed_event", "expected fields that can be read");
      throw this.#errorOf(violation, cause === violation ? type : undefined, eventIndex);
    }
  }

  end(): void {
    if (this.#phase === "terminal") return;
    const open = this.#open ? `, and ${this.#describeOpen()} is open` : "";
    const violation = new Violation(
      "truncated",
      this.#phase === "idle"
        ? `expected "start", received nothing`
        : `expected "done" or "error", received neither${open}`,
    );
    throw this.#errorOf(violation, undefined, this.#events);
  }

  partialContent(): AssistantContent[] {
    const content = this.#content.map((block) =>
      copyJson("", block, Infinity).value as AssistantContent
    );
    const openBlock = this.#openBlock();
    if (openBlock) content.push(openBlock);
    return content;
  }

  /** Checks an event against every rule, in the order of the protocol's table. */
  #judge(type: string, event: UnknownEvent): void {
    if (this.#phase === "idle" && type !== "start") {
      throw new Violation("expected_start", `expected "start", received ${quote(type)}`);
    }
    if (this.#phase === "terminal") {
      throw new Violation("after_terminal", "expected nothing after a terminal event");
    }
    if (this.#phase === "streaming" && type === "start") {
      throw new Violation("duplicate_start", `expected "start" only once`);
    }
    switch (type) {
      case "start":
        this.#phase = "streaming";
        return;
      case "text_start":
        return this.#startBlock("text", event);
      case "thinking_start":
        return this.#startBlock("thinking", event);
      case "tool_call_start":
        return this.#startBlock("tool_call", event);
      case "text_delta":
        return this.#growBlock("text", event);
      case "thinking_delta":
        return this.#growBlock("thinking", event);
      case "tool_call_delta":
        return this.#growBlock("tool_call", event);
      case "text_end":
        return this.#endText("text", event);
      case "thinking_end":
        return this.#endText("thinking", event);
      case "tool_call_end":
        return this.#endToolCall(event);
      case "done":
        return this.#finish(event, SUCCESSFUL_REASONS);
      case "error":
        return this.#finish(event, FAILED_REASONS);
      default:
        throw new Violation("unknown_event", "expected one of the twelve event types");
    }
  }

  #startBlock(kind: BlockKind, event: UnknownEvent): void {
    const { contentIndex, id, name } = event;
    if (typeof contentIndex !== "number") {
      throw new Violation(
        "malformed_event",
        expectedField("contentIndex", "a number", contentIndex),
      );
    }
    if (kind === "tool_call") {
      if (typeof id !== "string" || id === "") {
        throw new Violation("malformed_event", expectedField("id", "a non-empty string", id));
      }
      if (typeof name !== "string" || name === "") {
        throw new Violation("malformed_event", expectedField("name", "a non-empty string", name));
      }
    }
    const next = this.#content.length;
    if (this.#open !== undefined) {
      throw new Violation(
        "block_open",
        `expected no new block while ${this.#open} is active at contentIndex ${next}`,
        { contentIndex: next },
      );
    }
    if (contentIndex !== next) {
      throw new Violation("unexpected_index", expectedIndex(next, contentIndex), {
        contentIndex: next,
      });
    }
    if (kind === "tool_call" && this.#calls?.ids.has(id as string)) {
      throw new Violation(
        "duplicate_tool_id",
        `expected a new tool id, received ${quote(id as string)}`,
        {
          contentIndex: next,
        },
      );
    }
    const { contentBlocks } = this.#limits;
    if (next >= contentBlocks) {
      throw new Violation("limit_exceeded", `expected at most ${contentBlocks} content blocks`, {
        contentIndex: next,
      });
    }
    if (kind === "tool_call") {
      const calls = this.#calls ??= newToolCalls();
      calls.ids.add(id as string);
      calls.id = id as string;
      calls.name = name as string;
      calls.hasEmptyDelta = false;
    }
    this.#open = kind;
    this.#deltaType = DELTA_TYPES[kind];
  }

  #growBlock(kind: BlockKind, event: UnknownEvent): void {
    const field = kind === "tool_call" ? "argumentsDelta" : "delta";
    const delta = event[field];
    if (typeof event.contentIndex !== "number") {
      throw new Violation(
        "malformed_event",
        expectedField("contentIndex", "a number", event.contentIndex),
      );
    }
    if (typeof delta !== "string") {
      throw new Violation("malformed_event", expectedField(field, "a string", delta));
    }
    this.#checkOpen(kind, event.contentIndex);
    if (delta.length > this.#room) {
      throw new Violation(
        "limit_exceeded",
        `expected at most ${this.#room} more UTF-16 code units in this message, received ${delta.length}`,
        { contentIndex: this.#content.length },
      );
    }
    this.#room -= delta.length;
    this.append(delta);
    if (delta === "" && this.#calls) this.#calls.hasEmptyDelta = true;
  }

  #endText(kind: "text" | "thinking", event: UnknownEvent): void {
    const { contentIndex, content } = event;
    if (typeof contentIndex !== "number") {
      throw new Violation(
        "malformed_event",
        expectedField("contentIndex", "a number", contentIndex),
      );
    }
    if (typeof content !== "string") {
      throw new Violation("malformed_event", expectedField("content", "a string", content));
    }
    this.#checkOpen(kind, contentIndex);
    const text = this.text();
    if (content !== text) {
      const difference = differenceOf("content", text, content);
      throw new Violation(
        "content_mismatch",
        `expected end content of ${text.length} UTF-16 code units as streamed, received ` +
          `${content.length}, the first difference at offset ${difference.offset}`,
        { contentIndex, ...difference },
      );
    }
    // The event's own string is flat already, and held by the producer: keep that one.
    this.#close(
      kind === "text" ? { type: kind, text: content } : { type: kind, thinking: content },
    );
  }

  #endToolCall(event: UnknownEvent): void {
    const { contentIndex, toolCall } = event;
    if (typeof contentIndex !== "number") {
      throw new Violation(
        "malformed_event",
        expectedField("contentIndex", "a number", contentIndex),
      );
    }
    if (!isUnknownToolCall(toolCall)) {
      throw new Violation(
        "malformed_event",
        `expected toolCall to be an object with an id, a name and arguments, received ` +
          describeParts(toolCall, ["id", "name", "arguments"]),
      );
    }
    this.#checkOpen("tool_call", contentIndex);
    const text = this.text();
    // There is one, since the open block is a tool call.
    const calls = this.#calls as ToolCalls;
    const streamed = text !== "" || calls.hasEmptyDelta;
    let spelled: unknown;
    if (streamed) {
      try {
        spelled = JSON.parse(text);
      } catch {
        // The engine's message quotes the text, so it goes no further.
        throw new Violation(
          "arguments_not_json",
          `expected argument deltas that spell valid JSON, received ${text.length} UTF-16 code ` +
            `units that do not`,
          { contentIndex, path: "arguments" },
        );
      }
    }
    const isSame = streamed && sameJson(spelled, toolCall.arguments, this.#quickDepth());
    const copy = isSame ? undefined : this.#copyArguments(streamed, spelled, toolCall.arguments);
    const args = copy ? copy.value : spelled;
    const notJson = copy?.notJson;
    if (!isPlainObject(args) || notJson !== undefined) {
      throw new Violation(
        "arguments_not_object",
        notJson === undefined || notJson === "arguments"
          ? `expected arguments to be a JSON object, received ${kindOf(args)}`
          : `expected arguments to be a JSON object, received one with a value that is not JSON ` +
            `at ${notJson}`,
        { contentIndex, path: notJson ?? "arguments" },
      );
    }
    if (toolCall.id !== calls.id) {
      throw new Violation(
        "tool_id_changed",
        `expected tool id ${quote(calls.id)}, received ${quote(toolCall.id)}`,
        { contentIndex },
      );
    }
    if (toolCall.name !== calls.name) {
      throw new Violation(
        "tool_name_changed",
        `expected tool name ${quote(calls.name)}, received ${quote(toolCall.name)}`,
        { contentIndex },
      );
    }
    if (streamed && !isSame) {
      const difference = firstDifference("arguments", spelled, toolCall.arguments);
      if (difference) {
        throw new Violation(
          "arguments_mismatch",
          `expected toolCall.arguments to match the argument deltas, received a difference at ` +
            difference.path,
          { contentIndex, ...difference },
        );
      }
    }
    if (copy?.shared) calls.isShared = true;
    this.#close({
      type: "tool_call",
      id: calls.id,
      name: calls.name,
      arguments: args as JsonObject,
    });
  }

  /**
   * Copies the arguments that the quick comparison could not vouch for: those that the deltas spell,
   * where there were any. They can hold what is not JSON too: a number like 1e400 reads as Infinity.
   */
  #copyArguments(streamed: boolean, spelled: unknown, given: unknown): JsonCopy {
    const { argumentsDepth } = this.#limits;
    const copy = copyJson("arguments", given, argumentsDepth);
    const spelledCopy = streamed ? copyJson("arguments", spelled, argumentsDepth) : copy;
    if (copy.tooDeep || spelledCopy.tooDeep) {
      throw new Violation(
        "limit_exceeded",
        `expected arguments at most ${argumentsDepth} levels deep that do not contain themselves`,
        { contentIndex: this.#content.length, path: "arguments" },
      );
    }
    return spelledCopy;
  }

  #finish(event: UnknownEvent, reasons: readonly unknown[]): void {
    const { reason, message } = event;
    if (!reasons.includes(reason)) {
      const received = typeof reason === "string" ? quote(reason) : kindOf(reason);
      throw new Violation(
        "malformed_event",
        `expected reason to be one of "${reasons.join('", "')}", received ${received}`,
      );
    }
    if (!isUnknownMessage(message)) {
      throw new Violation(
        "malformed_event",
        `expected message to be an object with a content array and a stopReason string, received ` +
          describeParts(message, ["content", "stopReason"]),
      );
    }
    if (event.type === "done" && this.#open !== undefined) {
      throw new Violation(
        "block_open_at_done",
        `expected no active block, ${this.#describeOpen()} is open`,
        {
          contentIndex: this.#content.length,
        },
      );
    }
    if (reason !== message.stopReason) {
      throw new Violation(
        "reason_mismatch",
        `expected reason to be message.stopReason, ${quote(message.stopReason)}, received ` +
          quote(reason as string),
      );
    }
    const openBlock = this.#openBlock();
    const difference = this.#compareContent(message.content, openBlock);
    if (difference) {
      const at = difference.offset === undefined ? "" : ` at offset ${difference.offset}`;
      throw new Violation(
        "message_mismatch",
        `expected message content as streamed, received a difference in ${difference.path}${at}`,
        difference,
      );
    }
    if (openBlock) this.#content.push(openBlock);
    this.#leaveBlock();
    this.#phase = "terminal";
  }

  /** Compares a terminal message's content with the closed blocks and what is kept of the open one. */
  #compareContent(
    received: readonly unknown[],
    openBlock: AssistantContent | undefined,
  ): Difference | undefined {
    const closed = this.#content;
    const length = closed.length + (openBlock ? 1 : 0);
    for (let i = 0; i < length && i < received.length; i++) {
      const block = i < closed.length ? closed[i] : openBlock;
      if (!this.#calls?.isShared && sameJson(block, received[i], QUICK_DEPTH)) continue;
      const difference = firstDifference(`content[${i}]`, block, received[i]);
      if (difference) return difference;
    }
    return length === received.length
      ? undefined
      : differenceOf("content.length", length, received.length);
  }

  #checkOpen(kind: BlockKind, contentIndex: number): void {
    const index = this.#content.length;
    if (this.#open !== kind) {
      const active = this.#open ? `${this.#describeOpen()} is active` : "no block is active";
      throw new Violation("wrong_block", `expected active ${kind} block, ${active}`, {
        ...(this.#open && { contentIndex: index }),
      });
    }
    if (contentIndex !== index) {
      throw new Violation("wrong_index", expectedIndex(index, contentIndex), {
        contentIndex: index,
      });
    }
  }

  #close(block: AssistantContent): void {
    this.#content.push(block);
    this.#leaveBlock();
  }

  #leaveBlock(): void {
    this.#open = undefined;
    this.clearText();
  }

  /** What is safe to keep of the open block: text and thinking as far as they came, no half call. */
  #openBlock(): AssistantContent | undefined {
    if (this.#open === "text") return { type: "text", text: this.text() };
    if (this.#open === "thinking") return { type: "thinking", thinking: this.text() };
    return undefined;
  }

  #describeOpen(): string {
    const name = this.#open === "tool_call" ? ` ${quote(this.#calls?.name ?? "")}` : "";
    return `${this.#open}${name} at contentIndex ${this.#content.length}`;
  }

  #quickDepth(): number {
    return Math.min(QUICK_DEPTH, this.#limits.argumentsDepth);
  }

  #errorOf(
    { code, detail, options }: Violation,
    eventType: string | undefined,
    eventIndex: number,
  ): StreamSequenceError {
    return new StreamSequenceError(eventType, this.#phase, detail, {
      ...options,
      code,
      eventIndex,
      partialContent: this.partialContent(),
    });
  }
}

/** A broken rule, before it is known by which event. */
class Violation {
  readonly code: StreamSequenceErrorCode;
  readonly detail: string;
  readonly options: StreamSequenceErrorOptions;

  constructor(
    code: StreamSequenceErrorCode,
    detail: string,
    options: StreamSequenceErrorOptions = {},
  ) {
    this.code = code;
    this.detail = detail;
    this.options = options;
  }
}

function newToolCalls(): ToolCalls {
  return { ids: new Set(), id: "", name: "", hasEmptyDelta: false, isShared: false };
}

function limitsOf(limits: StreamEventLimits): Limits {
  return {
    contentBlocks: readLimit("contentBlocks", limits.contentBlocks, DEFAULT_LIMITS.contentBlocks),
    messageLength: readLimit("messageLength", limits.messageLength, DEFAULT_LIMITS.messageLength),
    argumentsDepth: readLimit(
      "argumentsDepth",
      limits.argumentsDepth,
      DEFAULT_LIMITS.argumentsDepth,
    ),
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** The type of what may be an event. */
function typeOf(event: unknown): string {
  const type = isRecord(event) ? event.type : undefined;
  if (typeof type !== "string") throw new Violation("malformed_event", describeMalformed(event));
  return type;
}

function isUnknownToolCall(value: unknown): value is UnknownToolCall {
  return isRecord(value) && typeof value.id === "string" && typeof value.name === "string" &&
    value.arguments !== undefined;
}

function isUnknownMessage(value: unknown): value is UnknownMessage {
  return isRecord(value) && Array.isArray(value.content) && typeof value.stopReason === "string";
}

function expectedField(field: string, expected: string, received: unknown): string {
  const what = received === "" ? "an empty string" : kindOf(received);
  return `expected ${field} to be ${expected}, received ${what}`;
}

function expectedIndex(expected: number, received: number): string {
  return `expected contentIndex ${expected}, received ${received}`;
}

/** Says what an object has in the places where something is missing or of the wrong kind. */
function describeParts(value: unknown, fields: readonly string[]): string {
  if (!isRecord(value)) return kindOf(value);
  return fields.map((field) => `${field} ${kindOf(value[field])}`).join(", ");
}

/** Says what came instead of an event, and what to put before the validator where that is plain. */
function describeMalformed(value: unknown): string {
  if (isRecord(value) && kindOf(value) !== "bytes") {
    const type = "type" in value ? `a type that is ${kindOf(value.type)}` : "no type";
    return `expected an object with a string type, received ${kindOf(value)} with ${type}`;
  }
  const hint = typeof value === "string"
    ? "; parse the text first, or use readStreamEvents()"
    : isRecord(value)
    ? "; put a StreamEventDecoderStream before, or use readStreamEvents()"
    : "";
  return `expected an object with a string type, received ${kindOf(value)}${hint}`;
}
