import { DeltaText } from "../_delta_text.ts";
import { isRecord } from "../_is_record.ts";
import { firstDifference, isPlainObject, kindOf } from "../_json.ts";
import { quote } from "../_quote.ts";
import { setMember } from "../_set_member.ts";
import type { JsonObject, JsonValue, ProviderReplay, SuccessfulStopReason } from "../types.ts";
import {
  type Adapter,
  AdapterError,
  type AdapterOptions,
  type AssistantErrorCode,
  type PayloadText,
} from "./_adapter.ts";
import type { SerializedBlock } from "./_block_serializer.ts";
import { jsonSize } from "./_json_size.ts";
import { readProviderError } from "./_provider_error.ts";
import { checkReplayDepth } from "./_replay_depth.ts";
import { WireAdapter } from "./_wire_adapter.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a `stop_reason` means: a reason to stop, or what is wrong. */
const STOP_REASONS: ReadonlyMap<string, SuccessfulStopReason | AssistantErrorCode> = new Map<
  string,
  SuccessfulStopReason | AssistantErrorCode
>([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_use"],
  ["refusal", "refusal"],
  ["pause_turn", "paused"],
  ["compaction", "paused"],
]);

/** What a block is to the events; `other` is what they cannot express. */
type Kind = "text" | "thinking" | "redacted" | "tool" | "other";

const KINDS: ReadonlyMap<unknown, Kind> = new Map<unknown, Kind>([
  ["text", "text"],
  ["thinking", "thinking"],
  ["redacted_thinking", "redacted"],
  ["tool_use", "tool"],
]);

/** The fields of a block that the events can express, or that are looked at by themselves. */
const KNOWN_FIELDS: ReadonlyMap<Kind, ReadonlySet<string>> = new Map([
  ["text", new Set(["type", "text", "citations"])],
  ["thinking", new Set(["type", "thinking", "signature"])],
  ["tool", new Set(["type", "id", "name", "input", "caller", "toolset_name"])],
]);

/** What the deltas of a block bring, which one of an unknown kind must not hide. */
const OWN_FIELDS: ReadonlyMap<Kind, readonly string[]> = new Map([
  ["text", ["text"]],
  ["thinking", ["thinking"]],
  ["tool", ["partial_json", "input"]],
]);

/** A kind of delta: the blocks that it belongs to, and where it has its text, if it has nothing else. */
interface DeltaKind {
  readonly blocks: readonly Kind[];
  readonly text?: string;
}

/** The kinds of deltas; others belong to any block. */
const DELTA_KINDS: ReadonlyMap<unknown, DeltaKind> = new Map<unknown, DeltaKind>([
  ["text_delta", { blocks: ["text", "other"], text: "text" }],
  ["citations_delta", { blocks: ["text", "other"] }],
  ["thinking_delta", { blocks: ["thinking", "other"], text: "thinking" }],
  ["signature_delta", { blocks: ["thinking", "redacted", "other"] }],
  ["input_json_delta", { blocks: ["tool", "other"], text: "partial_json" }],
]);

/** A block of the wire. */
interface WireBlock {
  readonly kind: Kind;
  /** The frame that opened it. */
  readonly start: Fields;
  /** What the next turn must send back of it, but for what `handle` and `json` hold. */
  readonly fields: Record<string, unknown>;
  /** `undefined` for what the events cannot express. */
  readonly handle: SerializedBlock | undefined;
  /** The input of a provider's own tool, as JSON text. */
  readonly json: DeltaText;
  /** A tool's input that came with the start. */
  readonly input: JsonObject | undefined;
  /** What the deltas cite, in `fields` too. */
  citations: unknown[] | undefined;
  /** A tool's input, once the block is whole. */
  wholeInput: JsonValue | undefined;
  hasDelta: boolean;
  isClosed: boolean;
}

/**
 * Creates an adapter for one response of Anthropic's Messages API.
 *
 * Its payloads are the decoded `data` of the server-sent events.
 *
 * What the events cannot express is in the message's `providerReplay`. If there are signatures,
 * redacted thinking, citations, a gateway's own fields or the provider's own tools, `data.content`
 * is the content of the assistant's turn in the form in which the API expects it back, and
 * `data.container` is the container that it ran in. Redacted thinking, and signed thinking without
 * text, appear as empty thinking blocks.
 *
 * If another model took over the response (a `fallback` block), the message names that model.
 *
 * @param options What the response does not say.
 * @returns A new adapter, for one response.
 * @throws {TypeError} An option is of the wrong kind.
 * @throws {RangeError} A limit is out of range.
 *
 * @example From payloads to events
 * ```ts
 * import { createAnthropicMessagesAdapter } from "@agent-stream/validator/anthropic";
 * import { assertEquals } from "@std/assert";
 *
 * const adapter = createAnthropicMessagesAdapter();
 * const types: string[] = [];
 * adapter.push({ type: "message_start", message: { model: "m" } }, ({ type }) => types.push(type));
 * adapter.end(({ type }) => types.push(type));
 * assertEquals(types, ["start", "error"]);
 * ```
 */
export function createAnthropicMessagesAdapter(options: AdapterOptions = {}): Adapter {
  return new AnthropicMessagesAdapter(options);
}

class AnthropicMessagesAdapter extends WireAdapter {
  /** The message as it began. */
  #message: Fields | undefined;
  /** All blocks, in the order in which they began. */
  readonly #all: WireBlock[] = [];
  readonly #byIndex = new Map<number, WireBlock>();
  readonly #open = new Set<WireBlock>();
  /** Calls whose wire said that they are whole, which a length limit may yet deny. */
  #doubtful: WireBlock[] = [];
  readonly #callIds = new Set<unknown>();
  /** The block that the last frame with an index named. */
  #named: WireBlock | undefined;
  #stopReason: string | undefined;
  #stopDetails: Fields = {};
  /** The content that the message began with; the blocks have to bring all of it. */
  #foretold: readonly unknown[] = [];
  #container: JsonObject | undefined;
  /** Whether the content holds what the events cannot express. */
  #isOpaque = false;

  constructor(options: AdapterOptions) {
    super(options, "anthropic");
  }

  textIn(payload: unknown): PayloadText | undefined {
    const holder = isRecord(payload) && payload.type === "content_block_delta" && payload.delta;
    if (!isRecord(holder)) return undefined;
    const key = DELTA_KINDS.get(holder.type)?.text;
    return key === undefined ? undefined : { holder, key };
  }

  protected override take(payload: unknown): void {
    if (payload === "[DONE]") return this.takeEnd();
    if (!isRecord(payload)) {
      throw malformed(`Expected an event to be an object, received ${kindOf(payload)}`);
    }
    switch (payload.type) {
      case "content_block_delta": // Nearly every event.
        return this.#growBlock(payload);
      case "message_start":
        return this.#start(payload.message);
      case "content_block_start":
        return this.#startBlock(payload);
      case "content_block_stop":
        return this.#stopBlock(payload);
      case "message_delta":
        return this.#growMessage(payload);
      case "message_stop":
        this.#expectStart("message_stop");
        if (this.#stopReason === undefined) {
          throw wireOrder('Expected a stop_reason before "message_stop"');
        }
        return this.#finish();
      default:
        if (isError(payload)) throw readProviderError(payload);
        if (typeof payload.type !== "string") throw malformed("Expected an event to have a type");
        // A ping, or an event of the future: the API asks its readers to ignore those.
    }
  }

  protected override takeEnd(): void {
    if (this.#stopReason !== undefined) return this.#finish();
    throw new AdapterError(
      "truncated",
      `Expected "${
        this.#message ? "message_stop" : "message_start"
      }" before the end of the response`,
    );
  }

  protected override replay(): ProviderReplay | undefined {
    if (!this.#isOpaque && !this.#container) return undefined;
    const content = this.#all.flatMap((block) => block.isClosed ? replayOf(block) : []);
    const data = { content, ...(this.#container && { container: this.#container }) };
    return { api: "anthropic-messages", data: data as JsonValue };
  }

  #start(message: unknown): void {
    if (!isPlainObject(message)) throw malformed("Expected message_start to have a message");
    if (this.#message) {
      const isRepeat = this.#all.length === 0 && this.#stopReason === undefined &&
        firstDifference("message", this.#message, message) === undefined;
      if (isRepeat) return;
      throw wireOrder('Expected "message_start" only once');
    }
    const { content, model, usage, container } = message;
    // The helper of the official client adds to the message of an event that waits to be read.
    if (Array.isArray(content)) this.#foretold = content;
    this.#message = message;
    if (typeof model === "string" && model !== "") this.blocks.model = model;
    this.#count(usage);
    this.#takeContainer(container);
  }

  #startBlock(event: Fields): void {
    this.#expectStart("content_block_start");
    const { content_block: fields } = event;
    if (!isPlainObject(fields)) {
      throw malformed("Expected content_block_start to have a content_block");
    }
    const index = readIndex(event);
    const same = index === undefined ? undefined : this.#byIndex.get(index);
    if (same && !this.#isNewCall(same, fields)) {
      const isRepeat = !same.isClosed && !same.hasDelta &&
        firstDifference("event", same.start, event) === undefined;
      if (isRepeat) return;
      throw wireOrder(
        `Expected content_block_start for a new block, received index ${index} again`,
      );
    }
    this.#expectNoStop("content_block_start");
    this.#settleDoubtful();
    const block = this.#openBlock(event, fields);
    this.#all.push(block);
    this.#open.add(block);
    if (index !== undefined) this.#byIndex.set(index, block);
    this.#named = block;
  }

  /** Some servers begin every call at the same index; its id tells that it is another one. */
  #isNewCall(same: WireBlock, fields: Fields): boolean {
    const { id, type } = fields;
    return same.isClosed && type === "tool_use" && isText(id) && !this.#callIds.has(id);
  }

  #openBlock(event: Fields, fields: Fields): WireBlock {
    const kind = KINDS.get(fields.type) ?? "other";
    const block: WireBlock = {
      kind,
      start: event,
      fields: { ...fields },
      handle: kind === "other" ? undefined : this.blocks.open(
        kind === "text" ? "text" : kind === "tool" ? "tool_call" : "thinking",
      ),
      json: new DeltaText(),
      input: kind === "tool" ? readInput(fields) : undefined,
      citations: undefined,
      wholeInput: undefined,
      hasDelta: false,
      isClosed: false,
    };
    const { handle } = block;
    const known = KNOWN_FIELDS.get(kind);
    for (const [key, value] of Object.entries(fields)) {
      // Such as the signature of another provider's model, which a gateway hands on.
      if (known && !known.has(key) && isSaying(value)) this.#keep(block, value);
    }
    switch (kind) {
      case "text":
        this.#append(block, readText(fields, "text"));
        if (hasMembers(fields.citations)) this.#keep(block, fields.citations);
        break;
      case "thinking":
        this.#append(block, readText(fields, "thinking"));
        if (readText(fields, "signature") !== "") this.#keep(block, fields.signature);
        break;
      case "tool": {
        const { id, name, caller } = fields;
        this.#callIds.add(id);
        this.blocks.identify(handle as SerializedBlock, readName(id), readName(name));
        if (isPlainObject(caller) && caller.type !== "direct") this.#keep(block, caller);
        if (fields.toolset_name) this.#keep(block, fields.toolset_name);
        if (block.input) this.blocks.count(jsonSize(block.input));
        break;
      }
      case "redacted":
        this.#keep(block, fields);
        break;
      case "other":
        // One that never appears, so that these are counted too.
        this.blocks.close(this.blocks.open("text"));
        this.#keep(block, fields);
        this.#takeFallback(fields);
        break;
      default:
        kind satisfies never;
    }
    return block;
  }

  #growBlock(event: Fields): void {
    this.#expectStart("content_block_delta");
    const { delta } = event;
    if (!isRecord(delta)) throw malformed("Expected content_block_delta to have a delta");
    const kind = DELTA_KINDS.get(delta.type);
    if (!kind && typeof delta.type !== "string") throw malformed("Expected a delta to have a type");
    const block = this.#find(event, kind?.text === "partial_json");
    if (!block) throw wireOrder(`Expected content_block_start before a delta of ${place(event)}`);
    if (block.isClosed) {
      throw wireOrder(`Expected no delta of ${place(event)} after its content_block_stop`);
    }
    this.#expectNoStop("content_block_delta");
    if (kind && !kind.blocks.includes(block.kind)) {
      throw wireOrder(
        `Expected a delta for a block of type ${nameOf(block.fields.type)}, received ${
          nameOf(delta.type)
        }`,
      );
    }
    block.hasDelta = true;
    if (!kind) checkDelta(block, delta);
    if (block.kind === "other" || kind?.text === undefined) this.#merge(block, delta);
    else this.#append(block, readText(delta, kind.text, true));
  }

  #stopBlock(event: Fields): void {
    this.#expectStart("content_block_stop");
    const block = this.#find(event, false);
    // Said twice: without an index it can only be about a block that is closed.
    const isAnyone = !block && readIndex(event) === undefined && this.#all.length > 0;
    if (isAnyone || block?.isClosed || (block && !this.#open.has(block))) return;
    if (!block) throw wireOrder(`Expected content_block_start before the stop of ${place(event)}`);
    this.#open.delete(block);
    switch (block.kind) {
      case "tool":
        return this.#closeCall(block, true);
      case "other":
        if (!block.json.isEmpty && !this.#closeInput(block)) {
          this.#doubtful.push(block);
          return;
        }
        break;
      default:
        this.blocks.close(block.handle as SerializedBlock);
    }
    block.isClosed = true;
  }

  #growMessage(event: Fields): void {
    this.#expectStart("message_delta");
    const delta = event.delta ?? {};
    if (!isPlainObject(delta)) throw malformed("Expected message_delta to have a delta");
    this.#count(event.usage);
    this.#takeContainer(delta.container);
    const { stop_reason: reason, stop_details: details } = delta;
    if (isPlainObject(details)) this.#stopDetails = details;
    if (reason === undefined || reason === null || reason === "") return;
    if (typeof reason !== "string") throw malformed("Expected stop_reason to be a string");
    if (this.#stopReason !== undefined && this.#stopReason !== reason) {
      throw wireOrder(
        `Expected stop_reason ${quote(this.#stopReason)} to stay, received ${quote(reason)}`,
      );
    }
    this.#stopReason = reason;
  }

  #finish(): void {
    const word = this.#stopReason as string;
    const reason = STOP_REASONS.get(word) ?? "unknown_stop_reason";
    switch (reason) {
      case "stop":
      case "tool_use":
      case "length":
        return this.#finishWith(reason);
      case "refusal":
        throw this.#refusal();
      case "paused":
        throw new AdapterError(reason, `The response was paused: stop_reason ${quote(word)}`);
      default:
        throw new AdapterError(reason, `Expected a known stop_reason, received ${quote(word)}`);
    }
  }

  #finishWith(reason: SuccessfulStopReason): void {
    if (!this.#foretold.every((block, i) => isBegun(block, this.#all[i]))) {
      throw wireOrder("Expected the content of message_start to come in blocks");
    }
    if (reason === "length") {
      // Cut before its arguments began, a call looks like one that has none.
      const cut = this.#doubtful.find((block) => block.kind === "tool");
      if (cut) {
        const { name } = cut.fields;
        throw new AdapterError(
          "output_limit",
          `The output limit cut the call of tool ${nameOf(name)}`,
        );
      }
    } else {
      this.#settleDoubtful();
    }
    for (const block of this.#open) {
      if (block.kind === "other" && reason !== "length") {
        throw wireOrder(
          `Expected the content_block_stop of a block of type ${nameOf(block.fields.type)}`,
        );
      }
      // Of text nothing is missing but the word that it ends.
      if (block.kind !== "other" && block.kind !== "tool") block.isClosed = true;
    }
    this.blocks.finish(reason, this.replay());
  }

  #refusal(): AdapterError {
    const { category, explanation } = this.#stopDetails;
    const why = typeof explanation === "string" && explanation !== "" ? `: ${explanation}` : "";
    return new AdapterError(
      "refusal",
      `The model refused to go on${why}`,
      typeof category === "string" ? { providerErrorType: category } : {},
    );
  }

  /** Closes a call; one that a length limit may have cut waits for what comes next, if it may. */
  #closeCall(block: WireBlock, mayWait: boolean): void {
    const handle = block.handle as SerializedBlock;
    if (mayWait && !block.input && handle.text === "") {
      this.#doubtful.push(block);
      return;
    }
    try {
      this.blocks.closeToolCall(handle, this.#inputOf(block, handle.text));
    } catch (error) {
      if (
        mayWait && error instanceof AdapterError && error.code === "invalid_tool_arguments" &&
        !block.input
      ) {
        this.#doubtful.push(block);
        return;
      }
      throw error;
    }
    block.wholeInput = handle.arguments;
    block.isClosed = true;
  }

  /** The input that came with the start, unless the deltas spell the same. */
  #inputOf(block: WireBlock, text: string): JsonObject | undefined {
    if (!block.input || text === "") return block.input;
    try {
      const isSame = firstDifference("input", block.input, JSON.parse(text)) === undefined;
      return isSame ? undefined : block.input;
    } catch {
      return block.input;
    }
  }

  /** Reads the input of a provider's own tool. */
  #closeInput(block: WireBlock): boolean {
    try {
      block.wholeInput = JSON.parse(block.json.text());
      checkReplayDepth(block.wholeInput, "a block");
      return true;
    } catch (error) {
      if (error instanceof AdapterError) throw error;
      return false;
    }
  }

  /** What follows shows that no length limit cut these: now they are whole, or wrong. */
  #settleDoubtful(): void {
    const doubtful = this.#doubtful;
    if (doubtful.length === 0) return;
    this.#doubtful = [];
    for (const block of doubtful) {
      if (block.kind === "other") {
        throw malformed(
          `Expected the input of a block of type ${nameOf(block.fields.type)} to be valid JSON`,
        );
      }
      this.#closeCall(block, false);
    }
  }

  /** Finds the block that a frame is about. */
  #find(event: Fields, isCall: boolean): WireBlock | undefined {
    const index = readIndex(event);
    if (index !== undefined) {
      const block = this.#byIndex.get(index);
      if (block) this.#named = block;
      return block;
    }
    if (this.#open.size > 1) {
      if (this.#named && this.#open.has(this.#named)) return this.#named;
      throw new AdapterError(
        isCall ? "ambiguous_tool_call" : "wire_order",
        "Expected an index, since more than one block is open",
      );
    }
    for (const block of this.#open) return block;
    return undefined;
  }

  #append(block: WireBlock, text: string): void {
    this.blocks.append(block.handle as SerializedBlock, text);
  }

  /** Takes a delta that the events cannot express: texts grow, a citation joins the others. */
  #merge(block: WireBlock, delta: Fields): void {
    for (const [key, value] of Object.entries(delta)) {
      if (key === "type") continue;
      if (key === "signature" && value === "") continue;
      this.#keep(block, value);
      if (key === "partial_json" && typeof value === "string") {
        if (value !== "") block.json.append(value);
        continue;
      }
      if (key === "citation" && delta.type === "citations_delta") {
        this.#cite(block, value);
        continue;
      }
      const before = Object.hasOwn(block.fields, key) ? block.fields[key] : undefined;
      const isGrowing = typeof before === "string" && typeof value === "string";
      setMember(block.fields, key, isGrowing ? before + value : value);
    }
  }

  #cite(block: WireBlock, citation: unknown): void {
    if (!block.citations) {
      const { citations } = block.fields;
      block.citations = Array.isArray(citations) ? [...citations] : [];
      block.fields.citations = block.citations;
    }
    block.citations.push(citation);
  }

  /** Takes note of what the next turn must send back, within the limits. */
  #keep(block: WireBlock, value: unknown): void {
    checkReplayDepth(value, "a block");
    this.blocks.count(typeof value === "string" ? value.length : JSON.stringify(value).length);
    this.#isOpaque = true;
    const isSigned = block.kind === "thinking" || block.kind === "redacted";
    if (isSigned) this.blocks.keep(block.handle as SerializedBlock);
  }

  #takeContainer(container: unknown): void {
    if (!isPlainObject(container)) return;
    checkReplayDepth(container, "a block");
    this.#container = container as JsonObject;
  }

  /** Of a response that another model took over, the rest is that model's. */
  #takeFallback({ type, to }: Fields): void {
    const model = type === "fallback" && isPlainObject(to) ? to.model : undefined;
    if (typeof model === "string" && model !== "") this.blocks.model = model;
  }

  /** Takes the usage so far: what a later frame says replaces what an earlier one said. */
  #count(usage: unknown): void {
    if (!isPlainObject(usage)) return;
    const before = this.blocks.usage;
    const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage;
    const output = readCount(usage.output_tokens, before.output);
    // No prompt is empty: servers that count it at the start alone say so in the end.
    const hasPrompt = [input_tokens, cache_read_input_tokens, cache_creation_input_tokens]
      .some((count) => readCount(count, 0) > 0);
    const prompt = (count: unknown, before: number) =>
      hasPrompt ? readCount(count, before) : before;
    const input = prompt(input_tokens, before.input);
    const cacheRead = prompt(cache_read_input_tokens, before.cacheRead);
    const cacheWrite = prompt(cache_creation_input_tokens, before.cacheWrite);
    this.blocks.usage = {
      input,
      output,
      cacheRead,
      cacheWrite,
      totalTokens: input + output + cacheRead + cacheWrite,
      cost: before.cost,
    };
  }

  #expectStart(type: string): void {
    if (!this.#message) throw wireOrder(`Expected "message_start" before ${quote(type)}`);
  }

  #expectNoStop(type: string): void {
    if (this.#stopReason !== undefined) {
      throw wireOrder(`Expected no ${quote(type)} after the stop_reason`);
    }
  }
}

/** A block as the next turn must send it; nothing for what the API would not take. */
function replayOf(block: WireBlock): unknown[] {
  const { kind, fields, handle, wholeInput } = block;
  switch (kind) {
    case "text":
      return handle?.text ? [{ ...fields, text: handle.text }] : [];
    case "thinking":
      // The API refuses thinking that it did not sign.
      return fields.signature ? [{ ...fields, thinking: handle?.text }] : [];
    case "tool":
      return [{ ...fields, id: handle?.id, input: wholeInput }];
    default:
      return [wholeInput === undefined ? fields : { ...fields, input: wholeInput }];
  }
}

/** Whether a block of the message as it began is the beginning of one that came. */
function isBegun(begun: unknown, block: WireBlock | undefined): boolean {
  if (!isPlainObject(begun) || !block) return false;
  const { kind, fields, handle } = block;
  const text = kind === "text" || kind === "thinking" ? begun[kind] ?? "" : "";
  return begun.type === fields.type && begun.id === fields.id &&
    typeof text === "string" && (handle?.text ?? "").startsWith(text);
}

/** What the wire calls something, which is to be a string and may be any JSON. */
function nameOf(value: unknown): string {
  return typeof value === "string" ? quote(value) : kindOf(value);
}

/** Refuses a delta of an unknown kind that has what its block is made of: it would be lost. */
function checkDelta({ kind, fields }: WireBlock, delta: Fields): void {
  if (!OWN_FIELDS.get(kind)?.some((key) => isSaying(delta[key]))) return;
  const type = nameOf(fields.type);
  throw malformed(
    `Expected more of a block of type ${type} in a delta of its kind, received ${
      nameOf(delta.type)
    }`,
  );
}

function malformed(message: string): AdapterError {
  return new AdapterError("malformed_frame", message);
}

function wireOrder(message: string): AdapterError {
  return new AdapterError("wire_order", message);
}

function isError({ type, error, message }: Fields): boolean {
  if (type === "error") return true;
  if (type === undefined || type === null) return isPlainObject(error) || isText(error);
  // Flat, as some gateways send it.
  return typeof type === "string" && type.endsWith("_error") && isText(message);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** Reads a count of tokens, where there is one. */
function readCount(value: unknown, before: number): number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value) ? value : before;
}

function hasMembers(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** Whether a value says anything: servers put empty ones where they have nothing. */
function isSaying(value: unknown): boolean {
  return typeof value === "object" && value !== null
    ? Object.keys(value).length > 0
    : value !== undefined && value !== null && value !== "" && value !== false;
}

/** Reads an index; some servers leave it out where one block is open. */
function readIndex({ index }: Fields): number | undefined {
  if (index === undefined || index === null) return undefined;
  if (typeof index === "number" && Number.isInteger(index) && index >= 0) return index;
  throw malformed("Expected index to be a whole number from 0 on");
}

function place({ index }: Fields): string {
  return typeof index === "number" ? `the block at index ${index}` : "a block";
}

/** Reads a text; `null` says nothing, and neither does none where it may be left out. */
function readText(fields: Fields, field: string, isRequired = false): string {
  const text = fields[field];
  if (typeof text === "string") return text;
  if (text === null || (text === undefined && !isRequired)) return "";
  throw malformed(`Expected ${field} to be a string, received ${kindOf(text)}`);
}

/** Reads an id or a name; an empty one is none. */
function readName(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return value;
  throw malformed(`Expected the id and name of a tool call to be strings`);
}

/** Reads the input that a tool call starts with; an empty one is what the deltas fill. */
function readInput({ input, name }: Fields): JsonObject | undefined {
  if (input === undefined || input === null || input === "") return undefined;
  if (!isPlainObject(input)) {
    throw new AdapterError(
      "invalid_tool_arguments",
      `Expected the arguments of tool ${nameOf(name)} to be a JSON object, received ${
        kindOf(input)
      }`,
    );
  }
  return Object.keys(input).length > 0 ? input as JsonObject : undefined;
}
