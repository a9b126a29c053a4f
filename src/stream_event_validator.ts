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
import {
  StreamSequenceError,
  type StreamSequenceErrorCode,
  type StreamSequenceErrorOptions,
} from "./stream_sequence_error.ts";
import type { AssistantContent, JsonObject, StreamEvent, StreamPhase } from "./types.ts";

/** How much one response may hold. Each limit may be `Infinity`: as much as the engine can hold. */
export interface StreamEventLimits {
  /**
   * Blocks in one message.
   *
   * @default {10_000}
   */
  readonly contentBlocks?: number;
  /**
   * All deltas of one message together, in UTF-16 code units.
   *
   * @default {67_108_864}
   */
  readonly messageLength?: number;
  /**
   * How deep a tool call's arguments may nest, in levels; `{}` is one level.
   *
   * @default {1_000}
   */
  readonly argumentsDepth?: number;
}

/** Options of {@linkcode createStreamEventValidator}. */
export interface StreamEventValidatorOptions {
  /** How much one response may hold. */
  readonly limits?: StreamEventLimits;
}

/** The memory of one stream: it knows what was said so far and refuses what cannot follow. */
export interface StreamEventValidator {
  /** Where the stream is: before `start`, between `start` and the terminal event, or after that. */
  readonly phase: StreamPhase;
  /**
   * Takes the next event. A rejected event changes nothing but the count of events.
   *
   * @param event The event, from wherever: nothing about it is taken on trust.
   * @throws {StreamSequenceError} The event cannot follow what came before; its `code` names the
   * rule.
   */
  accept(event: StreamEvent): void;
  /**
   * Says that no event will follow.
   *
   * @throws {StreamSequenceError} With the code `truncated`, if no terminal event was accepted.
   */
  end(): void;
  /**
   * What is safe to keep of what was streamed so far: the closed blocks, then the open text or
   * thinking block as far as it came. An open tool call is left out.
   *
   * @returns A copy; changing it changes nothing here.
   */
  partialContent(): AssistantContent[];
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
 * Creates the memory of one stream. One call, one independent state.
 *
 * @param options How much a response may hold.
 * @returns A validator that has seen nothing.
 * @throws {TypeError} A limit is not a number.
 * @throws {RangeError} A limit is neither a whole number from 0 on nor `Infinity`.
 *
 * @example Refusing an event that cannot be
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
  return new Machine(options.limits ?? {});
}

// One object a stream: it is the text of the open block, since one more object to hold that took two
// hundredths more memory.
class Machine extends DeltaText implements StreamEventValidator {
  readonly #maxBlocks: number;
  readonly #maxDepth: number;
  #phase: StreamPhase = "idle";
  /** How often `accept` was called. */
  #events = 0;
  /** How many UTF-16 code units of deltas this message may still bring. */
  #room: number;
  /** The closed blocks. */
  readonly #content: AssistantContent[] = [];
  /** The ids of the tool calls so far; made with the first one. */
  #toolIds: Set<string> | undefined;
  /** Whether some arguments hold an object twice, so that walking them plainly could take for ever. */
  #shared = false;
  /** The kind of the open block; its position is `#content.length`. */
  #open: BlockKind | undefined;
  /** The type of the events that grow the open block. */
  #deltaType = "";
  #toolId = "";
  #toolName = "";

  constructor(limits: StreamEventLimits) {
    super();
    this.#maxBlocks = limitOf("contentBlocks", limits.contentBlocks, 10_000);
    this.#maxDepth = limitOf("argumentsDepth", limits.argumentsDepth, 1_000);
    const length = limitOf("messageLength", limits.messageLength, 67_108_864);
    this.#room = Math.min(length, MAX_STRING_LENGTH);
  }

  get phase(): StreamPhase {
    return this.#phase;
  }

  accept(event: StreamEvent): void {
    const eventIndex = this.#events++;
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
        if (typeof delta === "string" && delta.length <= this.#room) {
          this.#room -= delta.length;
          this.append(delta);
          return;
        }
      }
      this.#judge(event, eventIndex);
    } catch (error) {
      if (error instanceof StreamSequenceError) throw error;
      // A getter or a proxy that throws: no rule can be checked on what cannot be read.
      throw this.#violation(undefined, "malformed_event", "expected fields that can be read", {
        eventIndex,
      });
    }
  }

  end(): void {
    if (this.#phase === "terminal") return;
    const open = this.#open ? `, and ${this.#describeOpen()} is open` : "";
    throw this.#violation(
      undefined,
      "truncated",
      this.#phase === "idle"
        ? `expected "start", received nothing`
        : `expected "done" or "error", received neither${open}`,
      { eventIndex: this.#events },
    );
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
  #judge(event: unknown, eventIndex: number): void {
    if (!isUnknownEvent(event)) {
      throw this.#violation(undefined, "malformed_event", describeMalformed(event), { eventIndex });
    }
    const fail = (
      code: StreamSequenceErrorCode,
      detail: string,
      options: StreamSequenceErrorOptions = {},
    ): StreamSequenceError => this.#violation(event.type, code, detail, { ...options, eventIndex });

    if (this.#phase === "idle" && event.type !== "start") {
      throw fail("expected_start", `expected "start", received ${quote(event.type)}`);
    }
    if (this.#phase === "terminal") {
      throw fail("after_terminal", "expected nothing after a terminal event");
    }
    if (this.#phase === "streaming" && event.type === "start") {
      throw fail("duplicate_start", `expected "start" only once`);
    }
    switch (event.type) {
      case "start":
        this.#phase = "streaming";
        return;
      case "text_start":
        return this.#startBlock("text", event, fail);
      case "thinking_start":
        return this.#startBlock("thinking", event, fail);
      case "tool_call_start":
        return this.#startBlock("tool_call", event, fail);
      case "text_delta":
        return this.#growBlock("text", event, fail);
      case "thinking_delta":
        return this.#growBlock("thinking", event, fail);
      case "tool_call_delta":
        return this.#growBlock("tool_call", event, fail);
      case "text_end":
        return this.#endText("text", event, fail);
      case "thinking_end":
        return this.#endText("thinking", event, fail);
      case "tool_call_end":
        return this.#endToolCall(event, fail);
      case "done":
        return this.#finish(event, SUCCESSFUL_REASONS, fail);
      case "error":
        return this.#finish(event, FAILED_REASONS, fail);
      default:
        throw fail("unknown_event", "expected one of the twelve event types");
    }
  }

  #startBlock(kind: BlockKind, event: UnknownEvent, fail: Fail): void {
    const { contentIndex, id, name } = event;
    if (typeof contentIndex !== "number") {
      throw fail("malformed_event", expectedField("contentIndex", "a number", contentIndex));
    }
    if (kind === "tool_call") {
      if (typeof id !== "string" || id === "") {
        throw fail("malformed_event", expectedField("id", "a non-empty string", id));
      }
      if (typeof name !== "string" || name === "") {
        throw fail("malformed_event", expectedField("name", "a non-empty string", name));
      }
    }
    const next = this.#content.length;
    if (this.#open !== undefined) {
      throw fail(
        "block_open",
        `expected no new block while ${this.#open} is active at contentIndex ${next}`,
        { contentIndex: next },
      );
    }
    if (contentIndex !== next) {
      throw fail("unexpected_index", expectedIndex(next, contentIndex), { contentIndex: next });
    }
    if (kind === "tool_call" && this.#toolIds?.has(id as string)) {
      throw fail("duplicate_tool_id", `expected a new tool id, received ${quote(id as string)}`, {
        contentIndex: next,
      });
    }
    if (next >= this.#maxBlocks) {
      throw fail("limit_exceeded", `expected at most ${this.#maxBlocks} content blocks`, {
        contentIndex: next,
      });
    }
    if (kind === "tool_call") {
      this.#toolId = id as string;
      this.#toolName = name as string;
      (this.#toolIds ??= new Set()).add(this.#toolId);
    }
    this.#open = kind;
    this.#deltaType = DELTA_TYPES[kind];
  }

  #growBlock(kind: BlockKind, event: UnknownEvent, fail: Fail): void {
    const field = kind === "tool_call" ? "argumentsDelta" : "delta";
    const delta = event[field];
    if (typeof event.contentIndex !== "number") {
      throw fail("malformed_event", expectedField("contentIndex", "a number", event.contentIndex));
    }
    if (typeof delta !== "string") {
      throw fail("malformed_event", expectedField(field, "a string", delta));
    }
    this.#checkOpen(kind, event.contentIndex, fail);
    if (delta.length > this.#room) {
      throw fail(
        "limit_exceeded",
        `expected at most ${this.#room} more UTF-16 code units in this message, received ${delta.length}`,
        { contentIndex: this.#content.length },
      );
    }
    this.#room -= delta.length;
    this.append(delta);
  }

  #endText(kind: "text" | "thinking", event: UnknownEvent, fail: Fail): void {
    const { contentIndex, content } = event;
    if (typeof contentIndex !== "number") {
      throw fail("malformed_event", expectedField("contentIndex", "a number", contentIndex));
    }
    if (typeof content !== "string") {
      throw fail("malformed_event", expectedField("content", "a string", content));
    }
    this.#checkOpen(kind, contentIndex, fail);
    const text = this.text();
    if (content !== text) {
      const difference = differenceOf("content", text, content);
      throw fail(
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

  #endToolCall(event: UnknownEvent, fail: Fail): void {
    const { contentIndex, toolCall } = event;
    if (typeof contentIndex !== "number") {
      throw fail("malformed_event", expectedField("contentIndex", "a number", contentIndex));
    }
    if (!isUnknownToolCall(toolCall)) {
      throw fail(
        "malformed_event",
        `expected toolCall to be an object with an id, a name and arguments, received ` +
          describeParts(toolCall, ["id", "name", "arguments"]),
      );
    }
    this.#checkOpen("tool_call", contentIndex, fail);
    const streamed = this.pieces > 0;
    let spelled: unknown;
    if (streamed) {
      const text = this.text();
      try {
        spelled = JSON.parse(text);
      } catch {
        // The engine's message quotes the text, so it goes no further.
        throw fail(
          "arguments_not_json",
          `expected argument deltas that spell valid JSON, received ${text.length} UTF-16 code ` +
            `units that do not`,
          { contentIndex, path: "arguments" },
        );
      }
    }
    const isSame = streamed && sameJson(spelled, toolCall.arguments, this.#quickDepth());
    const copy = isSame
      ? undefined
      : this.#copyArguments(streamed, spelled, toolCall.arguments, fail);
    const args = copy ? copy.value : spelled;
    const notJson = copy?.notJson;
    if (!isPlainObject(args) || notJson !== undefined) {
      throw fail(
        "arguments_not_object",
        notJson === undefined || notJson === "arguments"
          ? `expected arguments to be a JSON object, received ${kindOf(args)}`
          : `expected arguments to be a JSON object, received one with a value that is not JSON ` +
            `at ${notJson}`,
        { contentIndex, path: notJson ?? "arguments" },
      );
    }
    if (toolCall.id !== this.#toolId) {
      throw fail(
        "tool_id_changed",
        `expected tool id ${quote(this.#toolId)}, received ${quote(toolCall.id)}`,
        { contentIndex },
      );
    }
    if (toolCall.name !== this.#toolName) {
      throw fail(
        "tool_name_changed",
        `expected tool name ${quote(this.#toolName)}, received ${quote(toolCall.name)}`,
        { contentIndex },
      );
    }
    if (streamed && !isSame) {
      const difference = firstDifference("arguments", spelled, toolCall.arguments);
      if (difference) {
        throw fail(
          "arguments_mismatch",
          `expected toolCall.arguments to match the argument deltas, received a difference at ` +
            difference.path,
          { contentIndex, ...difference },
        );
      }
    }
    if (copy?.shared) this.#shared = true;
    this.#close({
      type: "tool_call",
      id: this.#toolId,
      name: this.#toolName,
      arguments: args as JsonObject,
    });
  }

  /**
   * Copies the arguments that the quick comparison could not vouch for: those that the deltas spell,
   * where there were any. They can hold what is not JSON too: a number like 1e400 reads as Infinity.
   */
  #copyArguments(streamed: boolean, spelled: unknown, given: unknown, fail: Fail): JsonCopy {
    const copy = copyJson("arguments", given, this.#maxDepth);
    const spelledCopy = streamed ? copyJson("arguments", spelled, this.#maxDepth) : copy;
    if (copy.tooDeep || spelledCopy.tooDeep) {
      throw fail(
        "limit_exceeded",
        `expected arguments at most ${this.#maxDepth} levels deep that do not contain themselves`,
        { contentIndex: this.#content.length, path: "arguments" },
      );
    }
    return spelledCopy;
  }

  #finish(event: UnknownEvent, reasons: readonly unknown[], fail: Fail): void {
    const { reason, message } = event;
    if (!reasons.includes(reason)) {
      const received = typeof reason === "string" ? quote(reason) : kindOf(reason);
      throw fail(
        "malformed_event",
        `expected reason to be one of "${reasons.join('", "')}", received ${received}`,
      );
    }
    if (!isUnknownMessage(message)) {
      throw fail(
        "malformed_event",
        `expected message to be an object with a content array and a stopReason string, received ` +
          describeParts(message, ["content", "stopReason"]),
      );
    }
    if (event.type === "done" && this.#open !== undefined) {
      throw fail(
        "block_open_at_done",
        `expected no active block, ${this.#describeOpen()} is open`,
        {
          contentIndex: this.#content.length,
        },
      );
    }
    if (reason !== message.stopReason) {
      throw fail(
        "reason_mismatch",
        `expected reason to be message.stopReason, ${quote(message.stopReason)}, received ` +
          quote(reason as string),
      );
    }
    const openBlock = this.#openBlock();
    const difference = this.#compareContent(message.content, openBlock);
    if (difference) {
      const at = difference.offset === undefined ? "" : ` at offset ${difference.offset}`;
      throw fail(
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
      if (!this.#shared && sameJson(block, received[i], QUICK_DEPTH)) continue;
      const difference = firstDifference(`content[${i}]`, block, received[i]);
      if (difference) return difference;
    }
    return length === received.length
      ? undefined
      : differenceOf("content.length", length, received.length);
  }

  #checkOpen(kind: BlockKind, contentIndex: number, fail: Fail): void {
    const index = this.#content.length;
    if (this.#open !== kind) {
      const active = this.#open ? `${this.#describeOpen()} is active` : "no block is active";
      throw fail("wrong_block", `expected active ${kind} block, ${active}`, {
        ...(this.#open && { contentIndex: index }),
      });
    }
    if (contentIndex !== index) {
      throw fail("wrong_index", expectedIndex(index, contentIndex), { contentIndex: index });
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
    const name = this.#open === "tool_call" ? ` ${quote(this.#toolName)}` : "";
    return `${this.#open}${name} at contentIndex ${this.#content.length}`;
  }

  #quickDepth(): number {
    return Math.min(QUICK_DEPTH, this.#maxDepth);
  }

  #violation(
    eventType: string | undefined,
    code: StreamSequenceErrorCode,
    detail: string,
    options: StreamSequenceErrorOptions,
  ): StreamSequenceError {
    return new StreamSequenceError(eventType, this.#phase, detail, {
      ...options,
      code,
      partialContent: this.partialContent(),
    });
  }
}

/** Makes the error for the event at hand. */
type Fail = (
  code: StreamSequenceErrorCode,
  detail: string,
  options?: StreamSequenceErrorOptions,
) => StreamSequenceError;

function limitOf(name: string, value: number | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  if (typeof value !== "number") {
    throw new TypeError(`Expected limit "${name}" to be a number, received ${kindOf(value)}`);
  }
  if (value !== Infinity && (!Number.isInteger(value) || value < 0)) {
    throw new RangeError(
      `Expected limit "${name}" to be a whole number from 0 on or Infinity, received ${value}`,
    );
  }
  return value;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isUnknownEvent(value: unknown): value is UnknownEvent {
  return isRecord(value) && typeof value.type === "string";
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
