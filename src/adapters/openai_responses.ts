import { isPlainObject, sameJson } from "../_json.ts";
import { quote } from "../_quote.ts";
import { setMember } from "../_set_member.ts";
import type { JsonObject, JsonValue, ProviderReplay, SuccessfulStopReason } from "../types.ts";
import { type Adapter, AdapterError, type AdapterOptions } from "./_adapter.ts";
import type { SerializedBlock } from "./_block_serializer.ts";
import { jsonSize } from "./_json_size.ts";
import { readProviderError } from "./_provider_error.ts";
import { readOpenAiUsage } from "./_openai_usage.ts";
import { isTooDeepToKeep } from "./_replay_depth.ts";
import { WireAdapter } from "./_wire_adapter.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a message or a reasoning item holds. */
type PartField = "content" | "summary" | "reasoning";

/** A piece of an item that becomes one block. */
interface Part {
  readonly block: SerializedBlock;
  /** Whether what comes is held until the whole is known, and what came. */
  isHeld: boolean;
  held: string;
  /** What the opener had already. Only the whole says whether later pieces repeat it. */
  initial: string;
  /** Whether the wire opened it, so that nothing before its first piece can be lost. */
  readonly isOpened: boolean;
  /** Whether the wire said what the whole is. */
  isSettled: boolean;
}

interface Item {
  readonly type: string;
  /** Whether the client has to run it. */
  readonly isCall: boolean;
  readonly id: string | undefined;
  callId: string | undefined;
  name: string | undefined;
  readonly outputIndex: string | undefined;
  readonly parts: Map<string, Part>;
  /** Arguments that came as an object. */
  object: JsonObject | undefined;
  /** The item as the wire repeated it whole. */
  whole: Record<string, unknown> | undefined;
  /** Whether the wire opened it. */
  readonly isOpened: boolean;
}

const CALL_TYPES = new Set(["function_call", "custom_tool_call"]);

/** How the call_id of a search begins that xAI ran itself, though its item is a custom tool's. */
const XAI_SEARCH = "xs_call";

/** Items that wait for the client in a way that the events cannot express. */
const WAITING_ITEMS = new Set([
  "computer_call",
  "local_shell_call",
  "shell_call",
  "apply_patch_call",
  "mcp_approval_request",
]);

/** How deep the quick comparison of arguments looks, in levels. */
const COMPARE_DEPTH = 1_000;

/** How much may be held in all until it is known what a part is, in UTF-16 code units. */
const MAX_HELD = 16_777_216;

/** Events that are a piece of an item, or its beginning or end. */
const PIECE = /^response\.\w+\.(?:added|delta|done)$/;

/** Events that only the beginning of a response has. */
const BEGINNINGS: readonly string[] = [
  "response.created",
  "response.queued",
  "response.in_progress",
];

/** The one key of the part that a tool call has. */
const ARGUMENTS = "arguments";

/**
 * Creates an adapter for one streamed response of OpenAI's Responses API.
 *
 * Its payloads are the decoded events. This format repeats all content, and the repetitions must
 * agree: a lost delta, or an item that is never confirmed, ends in `wire_order`.
 *
 * Each part of a message and each part of a reasoning summary is a block of its own.
 * `providerReplay` has the `id` of the response, and under `output` the items themselves, as the
 * API repeated them, including encrypted reasoning and the calls of the provider's own tools. A
 * custom tool's input is under `input` in the call's arguments. A response that waits for something
 * that the events cannot express, such as an approval, ends in `paused`.
 *
 * The stream of a background response that is resumed (`starting_after`) lacks its beginning. It
 * can be put in order only once the API repeats the whole response, so all its content is emitted
 * then.
 *
 * @param options What the response does not say.
 * @returns A new adapter, for one response.
 * @throws {TypeError} An option is of the wrong kind.
 * @throws {RangeError} A limit is out of range.
 *
 * @example Converting the events of an official client
 * ```ts
 * import type { StreamEvent } from "@agent-stream/validator";
 * import { createOpenAiResponsesAdapter } from "@agent-stream/validator/openai";
 * import { assertEquals } from "@std/assert";
 *
 * const item = { type: "message", id: "msg_1", content: [{ type: "output_text", text: "Hello" }] };
 *
 * const events: StreamEvent[] = [];
 * const adapter = createOpenAiResponsesAdapter();
 * const emit = (event: StreamEvent) => events.push(event);
 * adapter.push({ type: "response.output_item.done", output_index: 0, item }, emit);
 * adapter.push({ type: "response.completed", response: { status: "completed" } }, emit);
 * adapter.end(emit);
 *
 * assertEquals(
 *   events.map(({ type }) => type),
 *   ["start", "text_start", "text_delta", "text_end", "done"],
 * );
 * ```
 */
export function createOpenAiResponsesAdapter(options: AdapterOptions = {}): Adapter {
  return new OpenAiResponsesAdapter(options);
}

class OpenAiResponsesAdapter extends WireAdapter {
  /** In the order in which they first appeared. */
  readonly #items: Item[] = [];
  /** The newest item at each output index. */
  readonly #byIndex = new Map<string, Item>();
  readonly #byId = new Map<string, Item>();
  #responseId: string | undefined;
  /** Whether the stream is one that was taken up again; not known before an event has a number. */
  #isResumed: boolean | undefined;
  /** How much was held so far, in UTF-16 code units. */
  #heldLength = 0;

  constructor(options: AdapterOptions) {
    super(options, "openai");
  }

  protected override take(payload: unknown): void {
    if (payload === "[DONE]") return; // Some servers end this wire as they end the other.
    if (!isPlainObject(payload)) throw malformed("Expected an event to be an object");
    const { type } = payload;
    if (typeof type !== "string") {
      if (isPlainObject(payload.error)) throw readProviderError(payload);
      throw malformed("Expected an event to have a type");
    }
    if (isPlainObject(payload.response)) this.#response(payload.response);
    this.#isResumed ??= isResumed(type, payload);
    if (this.#isResumed && PIECE.test(type)) return; // The end has it, and what came before.
    switch (type) {
      case "error":
      case "response.error":
        throw readProviderError({ ...payload, type: undefined });
      case "response.output_item.added":
        this.#added(payload);
        return;
      case "response.output_item.done":
        this.#done(payload);
        return;
      case "response.content_part.added":
      case "response.content_part.done":
        this.#part(payload, "content", "content_index");
        return;
      case "response.reasoning_summary_part.added":
      case "response.reasoning_summary_part.done":
        this.#part(payload, "summary", "summary_index");
        return;
      case "response.output_text.delta":
      case "response.output_text.done":
        this.#text(payload, "message", "content", "content_index", payload.text);
        return;
      case "response.refusal.delta":
      case "response.refusal.done":
        this.#text(payload, "message", "content", "content_index", payload.refusal);
        return;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_summary_text.done":
        this.#text(payload, "reasoning", "summary", "summary_index", payload.text);
        return;
      case "response.reasoning_text.delta":
      case "response.reasoning_text.done":
        this.#text(payload, "reasoning", "reasoning", "content_index", payload.text);
        return;
      case "response.function_call_arguments.delta":
      case "response.function_call_arguments.done":
        this.#arguments(payload, "function_call", payload.arguments);
        return;
      case "response.custom_tool_call_input.delta":
      case "response.custom_tool_call_input.done":
        this.#arguments(payload, "custom_tool_call", payload.input);
        return;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
      case "response.done":
        this.#finish(type.slice("response.".length), payload.response);
        return;
      default:
        // Progress of the provider's own tools and the like; the items have what came of it.
        return;
    }
  }

  protected override takeEnd(): void {
    throw new AdapterError("truncated", "Expected response.completed before the end of the body");
  }

  protected override replay(): ProviderReplay | undefined {
    const output = this.#items.flatMap(({ whole }) => whole ? [whole] : []);
    if (output.length === 0) return undefined;
    const data = { ...(this.#responseId !== undefined && { id: this.#responseId }), output };
    if (isTooDeepToKeep(data)) return undefined;
    return { api: "openai-responses", data: data as JsonValue };
  }

  #response(response: Fields): void {
    const { id, model, usage } = response;
    if (typeof id === "string" && id !== "") this.#responseId ??= id;
    if (typeof model === "string" && model !== "") this.blocks.model = model;
    if (isPlainObject(usage)) this.blocks.usage = readOpenAiUsage(usage);
  }

  #added(event: Fields): void {
    const fields = itemOf(event);
    const known = this.#lookUp(event, fields, true);
    const id = readId(fields);
    const isSameId = known?.id === undefined || id === undefined || known.id === id;
    if (known && isSameId && isSame(known, fields)) {
      this.#identify(known, fields); // Said twice, or late.
      return;
    }
    const item = this.#open(fields, readKey(event.output_index), true);
    for (const [key, text] of textsOf(fields)) this.#openPart(item, key, text, true);
    this.#identify(item, fields);
  }

  #done(event: Fields): void {
    const fields = itemOf(event);
    const known = this.#lookUp(event, fields);
    const item = known && isSame(known, fields)
      ? known
      : this.#open(fields, readKey(event.output_index), false);
    this.#takeWhole(item, fields);
    if (!item.isCall) return;
    const part = item.parts.get(ARGUMENTS) as Part;
    const hasArguments = part.isSettled || item.object !== undefined || part.block.text !== "";
    // The end of the response says by what the call was cut, or whether it has arguments after all.
    if (hasArguments && fields.status !== "incomplete") this.#closeCall(item);
  }

  #part(event: Fields, field: PartField, indexField: string): void {
    const { part } = event;
    if (!isPlainObject(part)) throw malformed("Expected a part to be an object");
    const text = textOf(part);
    if (text === undefined) return; // What the events cannot express is kept with its item.
    const isReasoning = part.type === "reasoning_text";
    const key = partKey(isReasoning ? "reasoning" : field, event[indexField]);
    const item = this.#itemFor(event, isReasoning || field === "summary" ? "reasoning" : "message");
    if ((event.type as string).endsWith(".done")) this.#settlePart(item, key, text);
    else if (!item.parts.has(key)) this.#openPart(item, key, text, true);
  }

  #text(event: Fields, type: string, field: PartField, indexField: string, whole: unknown): void {
    const key = partKey(field, event[indexField]);
    const item = this.#itemFor(event, type);
    if ((event.type as string).endsWith(".done")) {
      this.#settlePart(item, key, readText(whole));
      return;
    }
    this.#append(item.parts.get(key) ?? this.#openPart(item, key, "", item.isOpened), event.delta);
  }

  #arguments(event: Fields, type: string, whole: unknown): void {
    const item = this.#itemFor(event, type);
    if (!item.isCall) return;
    this.#identify(item, { name: event.name });
    const part = item.parts.get(ARGUMENTS) as Part;
    if ((event.type as string).endsWith(".done")) this.#settleArguments(item, part, whole);
    else this.#append(part, event.delta);
  }

  #append(part: Part, delta: unknown): void {
    if (typeof delta !== "string") throw malformed("Expected a delta to be a string");
    if (delta === "") return;
    if (part.isSettled) throw contradiction("Expected no delta after the end of its part");
    if (!part.isHeld) {
      this.blocks.append(part.block, delta);
      return;
    }
    part.held += delta;
    this.#hold(delta.length);
  }

  #hold(length: number): void {
    this.#heldLength += length;
    if (this.#heldLength > MAX_HELD) {
      throw new AdapterError(
        "limit_exceeded",
        `Expected at most ${MAX_HELD} UTF-16 code units to wait for the end of a part`,
      );
    }
  }

  /** Finds the item that an event belongs to, or makes it up until the wire repeats it whole. */
  #itemFor(event: Fields, type: string): Item {
    const known = this.#lookUp(event, undefined);
    if (known?.type === type) return known;
    if (known) {
      throw contradiction(`Expected an event for a ${type}, received one for another item`);
    }
    const outputIndex = readKey(event.output_index);
    const id = readKey(event.item_id);
    if (outputIndex === undefined && id === undefined) {
      throw new AdapterError(
        CALL_TYPES.has(type) ? "ambiguous_tool_call" : "wire_order",
        "Expected an event to have an output_index or an item_id",
      );
    }
    return this.#open({ type, id }, outputIndex, false);
  }

  /**
   * Finds an item by its position, since some servers change the ids with every event; by its id
   * where the wire gives several items one position, or none.
   */
  #lookUp(event: Fields, fields: Fields | undefined, isOpener = false): Item | undefined {
    const index = readKey(event.output_index);
    const id = fields ? readId(fields) : readKey(event.item_id);
    const byId = id === undefined ? undefined : this.#byId.get(id);
    if (index === undefined || byId?.outputIndex === index) return byId;
    const byIndex = this.#byIndex.get(index);
    // Some servers give a position with some events only.
    if (byId && byId.outputIndex === undefined && !byIndex) return byId;
    // An opener may use the id of an item that has ended: some servers give all the same one.
    const isReused = isOpener && byId?.whole !== undefined;
    if (byId && byIndex?.id !== id && !isReused) {
      throw contradiction(`Expected item ${quote(id as string)} at the position that it had`);
    }
    return byIndex;
  }

  #open(fields: Fields, outputIndex: string | undefined, isOpened: boolean): Item {
    const before = outputIndex === undefined ? undefined : this.#byIndex.get(outputIndex);
    if (before && !before.whole) {
      throw contradiction("Expected the end of an item before another one in its place");
    }
    const item: Item = {
      type: fields.type as string,
      isCall: CALL_TYPES.has(fields.type as string) && !isOfXai(fields),
      id: readId(fields),
      callId: undefined,
      name: undefined,
      outputIndex,
      parts: new Map(),
      object: undefined,
      whole: undefined,
      isOpened,
    };
    this.#items.push(item);
    if (outputIndex !== undefined) this.#byIndex.set(outputIndex, item);
    if (item.id !== undefined) this.#byId.set(item.id, item);
    if (item.isCall) {
      const given = isOpened ? fields[argumentsField(item)] : undefined;
      this.#openPart(item, ARGUMENTS, typeof given === "string" ? given : "", isOpened);
    }
    return item;
  }

  #openPart(item: Item, key: string, initial: string, isOpened: boolean): Part {
    this.#hold(initial.length);
    const kind = key === ARGUMENTS ? "tool_call" : item.type === "message" ? "text" : "thinking";
    const part: Part = {
      block: this.blocks.open(kind),
      // Free text as a delta would not spell the arguments that it becomes.
      isHeld: initial !== "" || item.type === "custom_tool_call",
      held: "",
      initial,
      isOpened,
      isSettled: false,
    };
    item.parts.set(key, part);
    return part;
  }

  #identify(item: Item, fields: Fields): void {
    if (!item.isCall) return;
    const callId = readKey(fields.call_id);
    const name = readName(fields.name);
    if (callId !== undefined && item.callId !== undefined && callId !== item.callId) {
      throw contradiction(`Expected call_id ${quote(item.callId)}, received ${quote(callId)}`);
    }
    if (name !== undefined && item.name !== undefined && name !== item.name) {
      throw contradiction(`Expected tool ${quote(item.name)}, received ${quote(name)}`);
    }
    item.callId ??= callId;
    item.name ??= name;
    const { block } = item.parts.get(ARGUMENTS) as Part;
    this.blocks.identify(block, item.callId, item.name);
  }

  /** Takes the whole of a part, and ends it. */
  #settlePart(item: Item, key: string, whole: string | undefined): void {
    const part = item.parts.get(key) ?? this.#openPart(item, key, "", whole !== undefined);
    this.#settle(part, whole, (came) => came === whole);
    this.blocks.close(part.block);
  }

  /** Finds out what a part is, from its pieces and from the whole, which must not disagree. */
  #settle(part: Part, whole: string | undefined, isWhole: (came: string) => boolean): void {
    const { initial, held, block } = part;
    if (part.isSettled) {
      if (whole !== undefined && !isWhole(block.text)) throw mismatch();
      return;
    }
    const candidates = part.isHeld ? [held, initial + held] : [block.text];
    if (whole === undefined) {
      if (part.isHeld && initial !== "" && held !== "") throw mismatch();
      if (part.isHeld) this.blocks.append(block, initial + held);
      part.isHeld = false;
    } else if (candidates[0] === "") {
      if (!whole.startsWith(initial)) throw mismatch();
      this.blocks.append(block, whole);
    } else {
      if (!candidates.some(isWhole)) throw mismatch();
      if (part.isHeld) this.blocks.append(block, whole);
    }
    part.isSettled = whole !== undefined;
  }

  #settleArguments(item: Item, part: Part, whole: unknown): void {
    if (item.type === "custom_tool_call") {
      const text = readText(whole);
      const came = part.initial + part.held;
      if (text !== undefined && came !== "" && text !== came && text !== part.held) {
        throw mismatch();
      }
      part.held = text ?? came;
      part.initial = "";
      part.isSettled ||= text !== undefined;
      return;
    }
    if (whole === undefined || whole === null) {
      if (part.isHeld && !part.isSettled) this.#settle(part, undefined, () => false);
      return;
    }
    if (isPlainObject(whole)) {
      const isText = part.isSettled && !item.object;
      const came = part.isHeld && !isText ? part.held || part.initial : part.block.text;
      const isSaid = isSameJson(came, whole) || (came === "" && !isText);
      if (!isSaid || (item.object && !sameJson(item.object, whole, COMPARE_DEPTH))) {
        throw mismatch();
      }
      // Deltas that went out have spelled it already.
      if (part.block.text === "") item.object = whole as JsonObject;
      part.isSettled = true;
      return;
    }
    if (typeof whole !== "string") {
      throw new AdapterError(
        "invalid_tool_arguments",
        "Expected a tool call's arguments to be a string or an object",
      );
    }
    if (item.object) {
      if (!isSameJson(whole, item.object)) throw mismatch();
      return;
    }
    // Servers that repeat the arguments may write the same value otherwise.
    this.#settle(part, whole, (came) => came === whole || isSameText(came, whole));
  }

  /** Takes an item that the wire repeats whole. */
  #takeWhole(item: Item, fields: Fields): void {
    this.#identify(item, fields);
    if (item.isCall) {
      const part = item.parts.get(ARGUMENTS) as Part;
      this.#settleArguments(item, part, fields[argumentsField(item)]);
    }
    const repeated = new Map(textsOf(fields));
    for (const [key, text] of repeated) this.#settlePart(item, key, text);
    for (const [key, { block }] of item.parts) {
      // Some servers repeat no parts at all, but none repeats a few of them.
      const isMissing = key !== ARGUMENTS && repeated.size > 0 && !repeated.has(key);
      if (isMissing && block.text !== "") throw mismatch();
    }
    this.#closeParts(item);
    this.#keep(item, fields);
  }

  /** Keeps an item for the next turn: what came first, since some servers leave parts of it out at the end. */
  #keep(item: Item, fields: Fields): void {
    const whole = item.whole ??= {};
    // In place: to make it anew each time would be quadratic.
    for (const [key, value] of Object.entries(fields)) {
      const before = Object.hasOwn(whole, key) ? whole[key] : undefined;
      if (before !== undefined && before !== null) continue;
      setMember(whole, key, value);
      // A call's input counts where the call ends.
      if (item.isCall && key === argumentsField(item)) continue;
      let size = key.length + 4 + jsonSize(value);
      // What is content too counts once.
      for (const [, text] of textsOf({ type: item.type, [key]: value })) size -= text.length;
      this.blocks.count(size);
    }
  }

  /** Ends the parts that nothing repeats. */
  #closeParts(item: Item): void {
    for (const [key, part] of item.parts) {
      if (key === ARGUMENTS) continue;
      if (!part.isSettled) {
        const isEmpty = part.block.text === "" && part.initial === "" && part.held === "";
        if (!part.isOpened && !isEmpty) {
          throw contradiction("Expected a part that was never opened to be repeated whole");
        }
        this.#settle(part, undefined, () => false);
      }
      this.blocks.close(part.block);
    }
  }

  #closeCall(item: Item): void {
    const { block, held, initial } = item.parts.get(ARGUMENTS) as Part;
    if (block.isClosed) return;
    // Without a call_id, nothing but the item's own id tells the call from others.
    this.blocks.identify(block, item.callId ?? item.id, item.name);
    const custom = item.type === "custom_tool_call" ? { input: initial + held } : undefined;
    const given = item.object ?? custom;
    // As deltas it would have been counted.
    if (given) this.blocks.count(jsonSize(given));
    this.blocks.closeToolCall(block, given);
  }

  #finish(event: string, response: unknown): void {
    const fields = isPlainObject(response) ? response : {};
    // Where the event's name and the status disagree, the status is nearer to what happened.
    const status = typeof fields.status === "string" ? fields.status : event;
    if (isPlainObject(fields.error)) throw readProviderError(fields.error);
    const isRepeated = Array.isArray(fields.output) && fields.output.length > 0;
    if (this.#isResumed && !isRepeated) {
      throw contradiction("Expected the rest of a stream to end with the whole response");
    }
    const reason = this.#reasonOf(status, fields);
    this.#takeOutput(fields.output, reason);
    for (const item of this.#items) {
      if (item.isCall) this.#closeCallAtEnd(item, reason);
      else this.#closeParts(item);
    }
    const waiting = this.#waiting();
    if (waiting) {
      throw new AdapterError("paused", `The response waits for the client: ${waiting.type}`);
    }
    this.blocks.finish(reason, this.replay());
  }

  /** The first item that waits for the client. */
  #waiting(): Item | undefined {
    // What the provider runs itself, such as a shell of its own, is answered in the same response.
    const answered = new Set(
      this.#items.map(({ type, whole }) => type.endsWith("_output") ? whole?.call_id : undefined),
    );
    return this.#items.find(({ type, whole }) => {
      const isClients = WAITING_ITEMS.has(type) ||
        // A search for tools is the client's only where it says so.
        (type === "tool_search_call" && whole?.execution === "client");
      const callId = whole?.call_id;
      return isClients && (typeof callId !== "string" || !answered.has(callId));
    });
  }

  #reasonOf(status: string, response: Fields): SuccessfulStopReason {
    if (status === "completed") return "stop";
    if (status === "failed" || status === "cancelled") {
      throw new AdapterError("provider_error", `The response was ended: status ${quote(status)}`, {
        providerErrorType: status,
      });
    }
    if (status !== "incomplete") {
      throw new AdapterError(
        "unknown_stop_reason",
        `Expected a known status at the end, received ${quote(status)}`,
      );
    }
    const details = response.incomplete_details;
    const reason = isPlainObject(details) ? details.reason : undefined;
    if (reason === "max_output_tokens" || reason === "max_tokens") return "length";
    if (reason === "content_filter") {
      throw new AdapterError("content_filter", "A content filter stopped the response");
    }
    throw new AdapterError(
      "unknown_stop_reason",
      `Expected a known reason for an incomplete response, received ${
        typeof reason === "string" ? quote(reason) : "none"
      }`,
    );
  }

  /** Takes the items that the last event repeats, and those that only it has. */
  #takeOutput(output: unknown, reason: SuccessfulStopReason): void {
    if (!Array.isArray(output)) return;
    const repeats = new Repeats(this.#items);
    for (const [position, fields] of output.entries()) {
      if (!isPlainObject(fields) || typeof fields.type !== "string") {
        throw malformed("Expected an item of the output to have a type");
      }
      const item = repeats.take(fields, this.#byId, this.#byIndex.get(String(position))) ??
        this.#open(fields, undefined, false);
      if (fields.status === "incomplete" && reason !== "length") {
        throw contradiction("Expected the items of a completed response to be complete");
      }
      const isCut = item.isCall && !item.whole && fields.status !== undefined &&
        fields.status !== null && fields.status !== "completed";
      if (isCut && fields.status === "incomplete") throw cutByLimit(item);
      if (!isCut) this.#takeWhole(item, fields);
    }
  }

  #closeCallAtEnd(item: Item, reason: SuccessfulStopReason): void {
    const part = item.parts.get(ARGUMENTS) as Part;
    if (part.block.isClosed) return;
    const isIncomplete = item.whole?.status === "incomplete";
    if (!isIncomplete && (part.isSettled || item.object || item.whole)) {
      this.#closeCall(item);
      return;
    }
    if (isIncomplete || reason === "length") throw cutByLimit(item);
    const tool = quote(item.name ?? "");
    throw contradiction(`Expected the call of tool ${tool} to end before the response`);
  }
}

/** Finds the items that the last event repeats: by their ids, by their position, or by their order. */
class Repeats {
  readonly #byCallId = new Map<string, Item>();
  readonly #byType = new Map<string, Item[]>();
  readonly #taken = new Set<Item>();

  constructor(items: readonly Item[]) {
    // Backwards, so that the first of each type is the last of its list.
    for (const item of [...items].reverse()) {
      if (item.callId !== undefined) this.#byCallId.set(item.callId, item);
      const list = this.#byType.get(item.type);
      if (list) list.push(item);
      else this.#byType.set(item.type, [item]);
    }
  }

  take(
    fields: Fields,
    byId: ReadonlyMap<string, Item>,
    atPosition: Item | undefined,
  ): Item | undefined {
    const callId = readKey(fields.call_id);
    const id = readId(fields);
    const candidates = [
      callId === undefined ? undefined : this.#byCallId.get(callId),
      atPosition?.id === id ? atPosition : undefined,
      id === undefined ? undefined : byId.get(id),
      atPosition,
    ];
    const isFree = (item: Item | undefined) =>
      item !== undefined && item.type === fields.type && !this.#taken.has(item);
    let found = candidates.find(isFree);
    const list = this.#byType.get(fields.type as string) ?? [];
    while (!found && list.length > 0) {
      const next = list.pop();
      if (isFree(next)) found = next;
    }
    if (found) this.#taken.add(found);
    return found;
  }
}

function cutByLimit(item: Item): AdapterError {
  const tool = quote(item.name ?? "");
  return new AdapterError("output_limit", `The output limit cut the call of tool ${tool}`);
}

function malformed(message: string): AdapterError {
  return new AdapterError("malformed_frame", message);
}

function contradiction(message: string): AdapterError {
  return new AdapterError("wire_order", message);
}

function mismatch(): AdapterError {
  return contradiction("Expected the end of a part to repeat its deltas");
}

/**
 * Whether an event is one that others came before, so that what follows is the rest of a stream;
 * nothing for an event that has no number.
 */
function isResumed(type: string, { sequence_number, output_index }: Fields): boolean | undefined {
  if (typeof sequence_number !== "number") return undefined;
  const isFirstItem = type === "response.output_item.added" && output_index === 0;
  return sequence_number > 0 && !BEGINNINGS.includes(type) && !isFirstItem;
}

function itemOf(event: Fields): Fields {
  const { item } = event;
  if (!isPlainObject(item) || typeof item.type !== "string") {
    throw malformed("Expected an item to have a type");
  }
  return item;
}

/** Whether an item that looks like the call of a custom tool is one that xAI has run. */
function isOfXai({ type, call_id }: Fields): boolean {
  return type === "custom_tool_call" && typeof call_id === "string" &&
    call_id.startsWith(XAI_SEARCH);
}

function argumentsField(item: Item): string {
  return item.type === "custom_tool_call" ? "input" : "arguments";
}

/** Whether an item that the wire repeats is one that it began, or has repeated before. */
function isSame(item: Item, fields: Fields): boolean {
  if (item.type !== fields.type) return false;
  const callId = readKey(fields.call_id);
  if (callId !== undefined && item.callId !== undefined && callId !== item.callId) {
    return !item.whole; // Refused, where they are compared.
  }
  const id = readId(fields);
  return !item.whole || id === undefined || item.id === undefined || id === item.id;
}

function readId(fields: Fields): string | undefined {
  return readKey(fields.id);
}

/** An id or a position, of either type; empty and `null` are none. */
function readKey(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string" || Number.isFinite(value)) return String(value);
  throw malformed("Expected ids and indexes to be strings or numbers");
}

function readName(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return value;
  throw malformed("Expected a tool's name to be a string");
}

function readText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  throw malformed("Expected a text to be a string");
}

function partKey(field: PartField, index: unknown): string {
  return `${field}:${readKey(index) ?? 0}`;
}

/** The text of a part that has one. */
function textOf(part: Fields): string | undefined {
  switch (part.type) {
    case "output_text":
    case "text":
    case "summary_text":
    case "reasoning_text":
      return readText(part.text) ?? "";
    case "refusal":
      return readText(part.refusal) ?? "";
    default:
      return undefined;
  }
}

/** The texts of an item, by the keys of their parts. */
function* textsOf(item: Fields): Generator<readonly [string, string]> {
  if (item.type !== "message" && item.type !== "reasoning") return;
  const lists: readonly (readonly [PartField, unknown])[] = item.type === "message"
    ? [["content", item.content]]
    : [["summary", item.summary], ["reasoning", item.content]];
  for (const [field, parts] of lists) {
    if (!Array.isArray(parts)) continue;
    for (const [index, part] of parts.entries()) {
      if (!isPlainObject(part)) throw malformed("Expected a part to be an object");
      const text = textOf(part);
      if (text !== undefined) yield [partKey(field, index), text];
    }
  }
}

function isSameJson(text: string, value: unknown): boolean {
  try {
    return sameJson(value, JSON.parse(text), COMPARE_DEPTH);
  } catch {
    return false;
  }
}

function isSameText(first: string, second: string): boolean {
  try {
    return isSameJson(first, JSON.parse(second));
  } catch {
    return false;
  }
}
