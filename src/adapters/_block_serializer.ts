import { DeltaText } from "../_delta_text.ts";
import { copyJson, isPlainObject, kindOf } from "../_json.ts";
import { noUsage } from "../_no_usage.ts";
import { quote } from "../_quote.ts";
import { readLimit } from "../_read_limit.ts";
import type {
  AssistantContent,
  AssistantErrorCode,
  AssistantErrorDetails,
  FailedStopReason,
  JsonObject,
  ProviderReplay,
  SuccessfulStopReason,
  Usage,
} from "../types.ts";
import { AdapterError, type AdapterLimits, type AdapterOptions, type Emit } from "./_adapter.ts";

type Limits = { readonly [Name in keyof AdapterLimits]-?: number };

/** What the default validator takes; a stream beyond it would not be legal. */
const DEFAULT_LIMITS: Limits = {
  contentBlocks: 10_000,
  messageLength: 67_108_864,
  argumentsDepth: 1_000,
  waitingLength: 16_777_216,
};

/** The longest string that every engine can hold, in UTF-16 code units: V8's bound, the lowest. */
const MAX_STRING_LENGTH = 2 ** 29 - 24;

/** How often `createId` is asked for an id that is not taken. */
const ID_ATTEMPTS = 8;

/** A block that the response has opened; others may be open at the same time. */
export interface SerializedBlock {
  /** What kind of block it is. */
  readonly kind: AssistantContent["type"];
  /** Whether the response has closed it. */
  readonly isClosed: boolean;
  /** The text so far; for a tool call, that of the arguments. */
  readonly text: string;
  /** The id of a tool call, once it is known. */
  readonly id: string | undefined;
  /** The arguments of a tool call, once it is closed. */
  readonly arguments: JsonObject | undefined;
}

class Block implements SerializedBlock {
  readonly kind: AssistantContent["type"];
  isClosed = false;
  isStarted = false;
  /** Whether it appears even if it stays empty. */
  isKept = false;
  readonly delta = new DeltaText();
  /** What was not emitted yet. */
  waiting: string[] = [];
  /** The first half of a surrogate pair whose second half has not come. */
  half = "";
  id: string | undefined;
  name: string | undefined;
  arguments: JsonObject | undefined;
  /** The same once more, for the event: whoever fills in defaults there must not change the message. */
  eventArguments: JsonObject | undefined;

  constructor(kind: AssistantContent["type"]) {
    this.kind = kind;
  }

  get text(): string {
    return this.delta.text() + this.half;
  }

  /** Whether there is nothing to say of it. */
  get isEmpty(): boolean {
    return this.kind !== "tool_call" && !this.isKept && this.delta.isEmpty;
  }
}

/**
 * Puts blocks that overlap in the response into the order in which they appeared, with one open at
 * a time. Whatever arrives for a later block waits, up to a limit.
 *
 * @example Two blocks that overlap
 * ```ts
 * import { BlockSerializer } from "@agent-stream/validator/adapter";
 * import { assertEquals } from "@std/assert";
 *
 * const blocks = new BlockSerializer({}, "acme");
 * const types: string[] = [];
 * blocks.emit = (event) => types.push(event.type);
 * blocks.start();
 * const thinking = blocks.open("thinking");
 * const text = blocks.open("text");
 * blocks.append(thinking, "Hm");
 * blocks.append(text, "Hello"); // waits for the thinking to end
 * assertEquals(types, ["start", "thinking_start", "thinking_delta"]);
 * blocks.close(thinking);
 * assertEquals(types.slice(3), ["thinking_end", "text_start", "text_delta"]);
 * blocks.finish("stop");
 * assertEquals(types.slice(6), ["text_end", "done"]);
 * ```
 */
export class BlockSerializer {
  /** Who serves the response. */
  provider: string;
  /** The model that answers. */
  model: string;
  /** The tokens so far. */
  usage: Usage = noUsage();
  /** Where events go. */
  emit!: Emit;
  readonly #limits: Limits;
  readonly #newId: () => unknown;
  readonly #timestamp: number;
  readonly #content: AssistantContent[] = [];
  readonly #ids = new Set<string>();
  /** The blocks whose end was not emitted; the first is the one that is open. */
  #blocks: Block[] = [];
  #head = 0;
  #opened = 0;
  #length = 0;
  #waiting = 0;
  #phase: "idle" | "streaming" | "terminal" = "idle";

  /**
   * Creates the serializer for one response.
   *
   * @param options The adapter's options.
   * @param provider Who serves the response, if the options do not say.
   * @throws {TypeError} An option is of the wrong kind.
   * @throws {RangeError} A limit is neither a whole number of 0 or more nor `Infinity`.
   */
  constructor(options: AdapterOptions, provider: string) {
    const { now = Date.now, createId = randomId } = options;
    this.#limits = readLimits(options.limits ?? {});
    this.#newId = createId;
    this.#timestamp = now();
    if (!Number.isFinite(this.#timestamp)) {
      throw new TypeError(
        `Expected now() to return a finite number, received ${kindOf(this.#timestamp)}`,
      );
    }
    this.provider = options.provider ?? provider;
    this.model = options.model ?? "unknown";
  }

  /** Whether the terminal event has been emitted. After that, no call has any effect. */
  get isFinished(): boolean {
    return this.#phase === "terminal";
  }

  /** How many blocks the response has opened. */
  get opened(): number {
    return this.#opened;
  }

  /** Emits `start`, unless that has been done. */
  start(): void {
    if (this.#phase !== "idle") return;
    this.#phase = "streaming";
    this.emit({ type: "start" });
  }

  /**
   * Opens a block. A text or reasoning block that stays empty never appears.
   *
   * @throws {AdapterError} There are more blocks than the limit allows.
   */
  open(kind: AssistantContent["type"]): SerializedBlock {
    const { contentBlocks } = this.#limits;
    if (++this.#opened > contentBlocks) {
      throw new AdapterError("limit_exceeded", `Expected at most ${contentBlocks} blocks`);
    }
    const block = new Block(kind);
    this.#blocks.push(block);
    return block;
  }

  /** Makes a block appear even if it stays empty, because something else depends on it. */
  keep(handle: SerializedBlock): void {
    (handle as Block).isKept = true;
    this.#advance();
  }

  /** Sets the id and name of a tool call, where known; those already known stay. */
  identify(handle: SerializedBlock, id: string | undefined, name: string | undefined): void {
    const block = handle as Block;
    block.id ??= id == null ? undefined : stringOf(id, "the id of a tool call") || undefined;
    block.name ??= name == null
      ? undefined
      : stringOf(name, "the name of a tool call") || undefined;
    this.#advance();
  }

  /**
   * Appends to a block's text; an empty piece has no effect.
   *
   * @throws {AdapterError} The text is not a string, the block is closed, or a limit is exceeded.
   */
  append(handle: SerializedBlock, text: string): void {
    if (stringOf(text, "the text of a block") === "" || this.isFinished) return;
    const block = handle as Block;
    if (block.isClosed) {
      throw new AdapterError("wire_order", "Expected nothing more for a block after its end");
    }
    this.count(text.length);
    let piece = block.half + text;
    // A pair that comes in two pieces goes out in one: half of it does not survive UTF-8.
    const last = piece.charCodeAt(piece.length - 1);
    const isHalf = last >= 0xd800 && last < 0xdc00;
    block.half = isHalf ? piece.slice(-1) : "";
    if (isHalf) piece = piece.slice(0, -1);
    if (piece === "") return;
    this.#put(block, piece);
    // More of the block that is open lets nothing else begin.
    if (!block.isStarted) this.#advance();
  }

  /**
   * Counts what is kept besides the content, such as a signature, towards the length of the
   * message.
   *
   * @throws {AdapterError} The limit is exceeded.
   */
  count(length: number): void {
    const { messageLength } = this.#limits;
    this.#length += length;
    if (this.#length > messageLength) {
      throw new AdapterError(
        "limit_exceeded",
        `Expected at most ${messageLength} UTF-16 code units in a message`,
      );
    }
  }

  /** Closes a block. */
  close(handle: SerializedBlock): void {
    const block = handle as Block;
    if (block.kind === "tool_call") return this.closeToolCall(block);
    if (block.isClosed) return;
    this.#putHalf(block);
    block.isClosed = true;
    this.#advance();
  }

  /**
   * Closes a tool call that the response has declared complete.
   *
   * @param value Its arguments, if they arrived as an object instead of as text.
   * @throws {AdapterError} The arguments are not a JSON object, or arrived in both ways, or the
   * call has no name.
   */
  closeToolCall(handle: SerializedBlock, value?: JsonObject): void {
    const block = handle as Block;
    if (block.isClosed) return;
    this.#putHalf(block);
    if (block.name === undefined) {
      throw new AdapterError("ambiguous_tool_call", "Expected a tool call to have a name");
    }
    this.#takeArguments(block, block.name, value);
    block.id ??= this.#createId();
    block.isClosed = true;
    this.#advance();
  }

  /**
   * Ends the response. If there is a tool call, the reason `stop` becomes `tool_use`; `length`
   * stays.
   *
   * @throws {AdapterError} A tool call is open, or the response stopped for one and has none.
   */
  finish(reason: SuccessfulStopReason, replay?: ProviderReplay): void {
    if (this.isFinished) return;
    this.start();
    for (const block of this.#blocks.slice(this.#head)) {
      if (block.kind !== "tool_call") this.close(block);
      else if (!block.isClosed) throw openCall(block, reason);
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
        content: replay ? this.#content.map(withOwnArguments) : this.#content,
        ...(replay && { providerReplay: replay }),
        stopReason,
      },
    });
  }

  /**
   * Breaks the response off, and keeps what is safe: closed blocks, and text and reasoning as far
   * as they were received. Closed calls stay, since the response declared them complete; an open
   * call is dropped, together with whatever waits for its end.
   */
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
    const content = open ? [...this.#content, open] : this.#content;
    this.#phase = "terminal";
    this.emit({
      type: "error",
      reason,
      message: {
        ...this.#base(),
        content: replay ? content.map(withOwnArguments) : content,
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
    return { role: "assistant" as const, provider, model, usage, timestamp: this.#timestamp };
  }

  /** Makes an id that no call so far has, whatever `createId` does. */
  #createId(): string {
    let id = "";
    for (let i = 0; i < ID_ATTEMPTS; i++) {
      const made = this.#newId();
      if (typeof made !== "string" || made === "") {
        throw new TypeError(
          `Expected createId() to return a non-empty string, received ${
            made === "" ? "an empty one" : kindOf(made)
          }`,
        );
      }
      id = made;
      if (!this.#isTaken(id)) return id;
    }
    let count = 2;
    while (this.#isTaken(`${id}_${count}`)) count++;
    return `${id}_${count}`;
  }

  #isTaken(id: string): boolean {
    return this.#ids.has(id) || this.#blocks.some((block) => block.id === id);
  }

  #takeArguments(block: Block, name: string, value: JsonObject | undefined): void {
    const refuse = (code: AssistantErrorCode, what: string) =>
      new AdapterError(code, `Expected the arguments of tool ${quote(name)} ${what}`);
    const { argumentsDepth } = this.#limits;
    const { isEmpty } = block.delta;
    if (value !== undefined && !isEmpty) {
      throw refuse("invalid_tool_arguments", "as text or as an object, received both");
    }
    let args: unknown = value ?? {};
    if (!isEmpty) {
      try {
        args = JSON.parse(block.delta.text());
      } catch {
        // The engine's message quotes the text, so it goes no further.
        throw refuse("invalid_tool_arguments", "to be valid JSON");
      }
    }
    if (!isPlainObject(args)) {
      throw refuse("invalid_tool_arguments", `to be a JSON object, received ${kindOf(args)}`);
    }
    const copy = copyJson("arguments", args, argumentsDepth);
    if (copy.tooDeep) {
      throw refuse("limit_exceeded", `to nest at most ${argumentsDepth} levels deep`);
    }
    if (copy.notJson) throw refuse("invalid_tool_arguments", "to hold nothing but JSON");
    block.arguments = args as JsonObject;
    block.eventArguments = copy.value as JsonObject;
  }

  #putHalf(block: Block): void {
    const { half } = block;
    block.half = "";
    if (half === "") return;
    block.delta.append(half);
    if (block.isStarted) {
      this.#emitDelta(block, half);
    } else {
      this.#waiting++;
      block.waiting.push(half);
    }
  }

  #put(block: Block, piece: string): void {
    if (block.isStarted) {
      block.delta.append(piece);
      this.#emitDelta(block, piece);
      return;
    }
    const { waitingLength } = this.#limits;
    if (this.#waiting + piece.length > waitingLength) {
      throw new AdapterError(
        "limit_exceeded",
        `Expected at most ${waitingLength} UTF-16 code units to wait for an earlier block`,
      );
    }
    this.#waiting += piece.length;
    block.delta.append(piece);
    block.waiting.push(piece);
  }

  /** Emits whatever can be, from the first block on that has not ended. */
  #advance(): void {
    if (this.isFinished) return;
    this.start();
    for (;;) {
      const block = this.#blocks[this.#head];
      if (!block) break;
      if (!block.isEmpty && !this.#begin(block)) return;
      if (!block.isClosed) return;
      if (!block.isEmpty) this.#end(block);
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
      const type = block.kind === "text" ? "text_delta" : "thinking_delta";
      this.emit({ type, contentIndex, delta: piece });
    }
  }

  #end(block: Block): void {
    const contentIndex = this.#content.length;
    const content = contentOf(block);
    this.#content.push(content);
    if (content.type === "tool_call") {
      const toolCall = { ...content, arguments: block.eventArguments as JsonObject };
      this.emit({ type: "tool_call_end", contentIndex, toolCall });
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
    const blocks = this.#blocks.slice(this.#head).filter((block) => {
      if (block.kind === "tool_call") {
        return block.isStarted || (block.isClosed && !this.#ids.has(block.id as string));
      }
      this.#putHalf(block);
      return !block.isEmpty;
    });
    this.#blocks = [];
    this.#head = 0;
    for (const block of blocks) {
      // An open call cannot be ended, so what waits behind it is lost with it.
      if (block.kind === "tool_call" && !block.isClosed) return undefined;
      if (block.kind === "tool_call" && !block.isStarted && this.#ids.has(block.id as string)) {
        continue;
      }
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
      return { type: "text", text: block.delta.text() };
    case "thinking":
      return { type: "thinking", thinking: block.delta.text() };
    case "tool_call":
      return {
        type: "tool_call",
        id: block.id as string,
        name: block.name as string,
        arguments: block.arguments as JsonObject,
      };
  }
}

/** Makes an id of 128 random bits. Browsers have `randomUUID()` only on pages from a secure origin. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `call_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function openCall(block: Block, reason: SuccessfulStopReason): AdapterError {
  const tool = block.name === undefined ? "a tool call" : `the call of tool ${quote(block.name)}`;
  return reason === "length"
    ? new AdapterError("output_limit", `The output limit cut ${tool}`)
    : new AdapterError("wire_order", `Expected the end of ${tool} before the end of the response`);
}

function readLimits(limits: AdapterLimits): Limits {
  const read = (name: keyof AdapterLimits): number =>
    readLimit(name, limits[name], DEFAULT_LIMITS[name]);
  return {
    contentBlocks: read("contentBlocks"),
    messageLength: Math.min(read("messageLength"), MAX_STRING_LENGTH),
    argumentsDepth: read("argumentsDepth"),
    waitingLength: read("waitingLength"),
  };
}

/**
 * A value that its type calls a string, as a check: an adapter of one's own hands on what a wire
 * said, and a wire says anything.
 */
function stringOf(value: string, what: string): string {
  if (typeof value === "string") return value;
  throw new AdapterError(
    "malformed_frame",
    `Expected ${what} to be a string, received ${kindOf(value)}`,
  );
}

/** A block whose arguments whoever runs the call may fill in, without a trace in what goes back. */
function withOwnArguments(block: AssistantContent): AssistantContent {
  if (block.type !== "tool_call") return block;
  return { ...block, arguments: copyJson("", block.arguments, Infinity).value as JsonObject };
}
