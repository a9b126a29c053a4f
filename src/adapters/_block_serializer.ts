import { DeltaText } from "../_delta_text.ts";
import { copyJson, isPlainObject } from "../_json.ts";
import { quote } from "../_quote.ts";
import type {
  AssistantContent,
  FailedStopReason,
  JsonObject,
  JsonValue,
  ProviderReplay,
  SuccessfulStopReason,
  Usage,
} from "../types.ts";
import {
  AdapterError,
  type AdapterOptions,
  type AssistantErrorCode,
  type Emit,
} from "./_adapter.ts";
import type { AssistantErrorDetails } from "../types.ts";

/** What the default validator takes; a stream beyond it would not be legal. */
const MAX_BLOCKS = 10_000;
const MAX_MESSAGE_LENGTH = 67_108_864;
const MAX_DEPTH = 1_000;
const DEFAULT_MAX_WAITING = 16_777_216;

const NO_USAGE: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** A block that the wire has opened; others may be open beside it. */
export interface SerializedBlock {
  readonly kind: AssistantContent["type"];
  /** Whether the wire has closed it. */
  readonly isClosed: boolean;
  /** The text so far: of the arguments, for a tool call. */
  readonly text: string;
}

class Block implements SerializedBlock {
  readonly kind: AssistantContent["type"];
  isClosed = false;
  isStarted = false;
  readonly delta = new DeltaText();
  /** What was not emitted yet. */
  waiting: string[] = [];
  /** The first half of a surrogate pair whose second half has not come. */
  half = "";
  id: string | undefined;
  name: string | undefined;
  arguments: JsonObject | undefined;

  constructor(kind: AssistantContent["type"]) {
    this.kind = kind;
  }

  get text(): string {
    return this.delta + this.half;
  }
}

/**
 * Puts blocks that overlap on the wire into the order in which they appeared, one open at a time. What
 * comes for a later block waits, within a bound.
 */
export class BlockSerializer {
  /** What the message will say beside its content. */
  provider: string;
  model: string;
  usage: Usage = NO_USAGE;
  /** Where events go. */
  emit!: Emit;
  readonly #options: AdapterOptions;
  readonly #maxWaiting: number;
  readonly #content: AssistantContent[] = [];
  readonly #ids = new Set<string>();
  /** The blocks whose end was not emitted; the first is the one that is open. */
  #blocks: Block[] = [];
  #head = 0;
  #opened = 0;
  #length = 0;
  #waiting = 0;
  #phase: "idle" | "streaming" | "terminal" = "idle";

  constructor(options: AdapterOptions, provider: string) {
    const { maxWaiting = DEFAULT_MAX_WAITING } = options;
    if (Number.isNaN(maxWaiting) || maxWaiting < 0) {
      throw new RangeError(`Expected maxWaiting to be from 0 on, received ${maxWaiting}`);
    }
    this.#options = options;
    this.#maxWaiting = maxWaiting;
    this.provider = options.provider ?? provider;
    this.model = options.model ?? "unknown";
  }

  get isFinished(): boolean {
    return this.#phase === "terminal";
  }

  /** How many blocks the wire has opened. */
  get opened(): number {
    return this.#opened;
  }

  /** Emits `start`, unless it was. */
  start(): void {
    if (this.#phase !== "idle") return;
    this.#phase = "streaming";
    this.emit({ type: "start" });
  }

  /** Takes a block that the wire opens. One that stays empty never appears. */
  open(kind: AssistantContent["type"]): SerializedBlock {
    if (++this.#opened > MAX_BLOCKS) {
      throw new AdapterError("limit_exceeded", `Expected at most ${MAX_BLOCKS} blocks`);
    }
    const block = new Block(kind);
    this.#blocks.push(block);
    return block;
  }

  /** Takes what is known of a tool call; what was known before stays. */
  identify(handle: SerializedBlock, id: string | undefined, name: string | undefined): void {
    const block = handle as Block;
    block.id ??= id;
    block.name ??= name;
    this.#advance();
  }

  /** Takes more of a block's text. */
  append(handle: SerializedBlock, text: string): void {
    if (text === "") return;
    const block = handle as Block;
    if (block.isClosed) {
      throw new AdapterError("wire_order", "Expected nothing more for a block after its end");
    }
    this.#length += text.length;
    if (this.#length > MAX_MESSAGE_LENGTH) {
      throw new AdapterError(
        "limit_exceeded",
        `Expected at most ${MAX_MESSAGE_LENGTH} UTF-16 code units in a message`,
      );
    }
    let piece = block.half + text;
    // A pair that comes in two pieces goes out in one: half of it does not survive UTF-8.
    const last = piece.charCodeAt(piece.length - 1);
    const isHalf = last >= 0xd800 && last < 0xdc00;
    block.half = isHalf ? piece.slice(-1) : "";
    if (isHalf) piece = piece.slice(0, -1);
    if (piece === "") return;
    this.#put(block, piece);
    this.#advance();
  }

  /** Takes the end of a block of text or reasoning. */
  close(handle: SerializedBlock): void {
    const block = handle as Block;
    if (block.isClosed) return;
    this.#putHalf(block);
    block.isClosed = true;
    this.#advance();
  }

  /**
   * Takes the end of a tool call: the wire said that it is whole.
   *
   * @param value Its arguments, where they did not come as text; only for a call without any.
   * @throws {AdapterError} The arguments are not a JSON object, or the call has no name.
   */
  closeToolCall(handle: SerializedBlock, value?: JsonObject): void {
    const block = handle as Block;
    if (block.isClosed) return;
    this.#putHalf(block);
    if (block.name === undefined) {
      throw new AdapterError("ambiguous_tool_call", "Expected a tool call to have a name");
    }
    block.arguments = value ?? parseArguments(block);
    if (copyJson("arguments", block.arguments, MAX_DEPTH).tooDeep) {
      throw new AdapterError(
        "limit_exceeded",
        `Expected the arguments of tool ${
          quote(block.name)
        } to nest at most ${MAX_DEPTH} levels deep`,
      );
    }
    block.id ??= this.#createId();
    block.isClosed = true;
    this.#advance();
  }

  /** Ends the response. Every tool call must be closed; a call makes the reason `tool_use`. */
  finish(reason: SuccessfulStopReason, replay?: ProviderReplay): void {
    for (const block of this.#blocks.slice(this.#head)) {
      if (block.kind !== "tool_call") this.close(block);
    }
    const hasCall = this.#content.some((block) => block.type === "tool_call");
    if (reason === "tool_use" && !hasCall) {
      throw new AdapterError(
        "missing_tool_call",
        "Expected a tool call, since the response stopped for one",
      );
    }
    const stopReason = reason === "stop" && hasCall ? "tool_use" : reason;
    this.#phase = "terminal";
    this.emit({
      type: "done",
      reason: stopReason,
      message: {
        ...this.#base(),
        content: this.#content,
        ...(replay && { providerReplay: replay }),
        stopReason,
      },
    });
  }

  /** Breaks the response off, with what is safe of it. */
  fail(
    reason: FailedStopReason,
    code: AssistantErrorCode,
    errorMessage: string,
    details?: AssistantErrorDetails,
    replay?: ProviderReplay,
  ): void {
    if (this.isFinished) return;
    this.start();
    const open = this.#salvage();
    this.#phase = "terminal";
    this.emit({
      type: "error",
      reason,
      message: {
        ...this.#base(),
        content: open ? [...this.#content, open] : this.#content,
        ...(replay && { providerReplay: replay }),
        stopReason: reason,
        errorMessage,
        errorCode: code,
        ...(details && Object.keys(details).length > 0 && { errorDetails: details }),
      },
    });
  }

  #base() {
    const { provider, model, usage } = this;
    const timestamp = (this.#options.now ?? Date.now)();
    return { role: "assistant" as const, provider, model, usage, timestamp };
  }

  #createId(): string {
    const create = this.#options.createId ?? (() => `call_${crypto.randomUUID()}`);
    const id = create();
    if (typeof id !== "string" || id === "") {
      throw new TypeError("Expected createId to return a string that is not empty");
    }
    return id;
  }

  #putHalf(block: Block): void {
    const { half } = block;
    block.half = "";
    if (half !== "") this.#put(block, half);
  }

  #put(block: Block, piece: string): void {
    block.delta.append(piece);
    if (block.isStarted) {
      this.#emitDelta(block, piece);
      return;
    }
    this.#waiting += piece.length;
    if (this.#waiting > this.#maxWaiting) {
      throw new AdapterError(
        "limit_exceeded",
        `Expected at most ${this.#maxWaiting} UTF-16 code units to wait for an earlier block`,
      );
    }
    block.waiting.push(piece);
  }

  /** Emits whatever can be, from the first block on that has not ended. */
  #advance(): void {
    for (;;) {
      const block = this.#blocks[this.#head];
      if (!block) break;
      const isEmpty = block.kind !== "tool_call" && block.delta.pieces === 0;
      if (!isEmpty && !this.#begin(block)) return;
      if (!block.isClosed) return;
      if (!isEmpty) this.#end(block);
      this.#head++;
    }
    this.#blocks = [];
    this.#head = 0;
  }

  /** Starts a block and emits what waits for it; a tool call only once its id and name are known. */
  #begin(block: Block): boolean {
    if (block.isStarted) return true;
    const contentIndex = this.#content.length;
    if (block.kind === "tool_call") {
      const { id, name } = block;
      if (id === undefined || name === undefined) return false;
      if (this.#ids.has(id)) {
        throw new AdapterError(
          "ambiguous_tool_call",
          `Expected another id for a second tool call, received ${quote(id)} again`,
        );
      }
      this.#ids.add(id);
      this.emit({ type: "tool_call_start", contentIndex, id, name });
    } else {
      this.emit({ type: `${block.kind}_start`, contentIndex });
    }
    block.isStarted = true;
    if (block.waiting.length > 0) {
      const piece = block.waiting.join("");
      block.waiting = [];
      this.#waiting -= piece.length;
      this.#emitDelta(block, piece);
    }
    return true;
  }

  #emitDelta(block: Block, piece: string): void {
    const contentIndex = this.#content.length;
    if (block.kind === "tool_call") {
      this.emit({ type: "tool_call_delta", contentIndex, argumentsDelta: piece });
    } else {
      this.emit({ type: `${block.kind}_delta`, contentIndex, delta: piece });
    }
  }

  #end(block: Block): void {
    const contentIndex = this.#content.length;
    const content = contentOf(block);
    this.#content.push(content);
    if (content.type === "tool_call") {
      this.emit({ type: "tool_call_end", contentIndex, toolCall: content });
    } else {
      const text = content.type === "text" ? content.text : content.thinking;
      this.emit({ type: `${content.type}_end`, contentIndex, content: text });
    }
  }

  /**
   * Emits what waits and is safe: text and reasoning as far as they came, and calls that were whole.
   * Returns the block that stays open.
   */
  #salvage(): AssistantContent | undefined {
    const blocks = this.#blocks.slice(this.#head).filter((block) =>
      block.isClosed || block.isStarted || (block.kind !== "tool_call" && block.text !== "")
    );
    this.#blocks = blocks;
    this.#head = 0;
    for (const block of blocks) {
      if (block.kind === "tool_call" && !block.isClosed) return undefined;
      if (block.kind === "tool_call" && !block.isStarted && this.#ids.has(block.id as string)) {
        continue;
      }
      if (block.kind !== "tool_call") this.#putHalf(block);
      if (block.kind !== "tool_call" && block.delta.pieces === 0) continue;
      this.#begin(block);
      if (!block.isClosed && block === blocks.at(-1)) return contentOf(block);
      this.#end(block);
    }
    return undefined;
  }
}

function contentOf(block: Block): AssistantContent {
  switch (block.kind) {
    case "text":
      return { type: "text", text: String(block.delta) };
    case "thinking":
      return { type: "thinking", thinking: String(block.delta) };
    case "tool_call":
      return {
        type: "tool_call",
        id: block.id as string,
        name: block.name as string,
        arguments: block.arguments as JsonObject,
      };
  }
}

function parseArguments(block: Block): JsonObject {
  if (block.delta.pieces === 0) return {};
  let value: JsonValue;
  try {
    value = JSON.parse(String(block.delta));
  } catch {
    throw new AdapterError(
      "invalid_tool_arguments",
      `Expected the arguments of tool ${quote(block.name as string)} to be valid JSON`,
    );
  }
  if (!isPlainObject(value)) {
    throw new AdapterError(
      "invalid_tool_arguments",
      `Expected the arguments of tool ${quote(block.name as string)} to be a JSON object`,
    );
  }
  return value as JsonObject;
}
