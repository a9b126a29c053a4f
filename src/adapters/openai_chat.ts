import { isRecord } from "../_is_record.ts";
import { isPlainObject } from "../_json.ts";
import { quote } from "../_quote.ts";
import type { JsonValue, ProviderReplay, SuccessfulStopReason } from "../types.ts";
import {
  type Adapter,
  AdapterError,
  type AdapterOptions,
  type AssistantErrorCode,
  type PayloadText,
} from "./_adapter.ts";
import type { SerializedBlock } from "./_block_serializer.ts";
import { type ChatToolCall, ChatToolCalls } from "./_chat_tool_calls.ts";
import { jsonSize } from "./_json_size.ts";
import { mergeFields } from "./_merge_fields.ts";
import { isRefusedBase, readProviderError } from "./_provider_error.ts";
import { readOpenAiUsage } from "./_openai_usage.ts";
import { isTooDeepToKeep } from "./_replay_depth.ts";
import { WireAdapter } from "./_wire_adapter.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a `finish_reason` means: a reason to stop, or what is wrong. */
type Finish = SuccessfulStopReason | AssistantErrorCode;

/** The words of the API, and of the servers that imitate it, in lower case. */
const FINISH_REASONS: ReadonlyMap<string, Finish> = new Map<string, Finish>([
  ["stop", "stop"],
  ["eos", "stop"],
  ["eos_token", "stop"],
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["model_length", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_calls", "tool_use"],
  ["tool_use", "tool_use"],
  ["function_call", "tool_use"],
  ["content_filter", "content_filter"],
  ["safety", "content_filter"],
  ["sensitive", "content_filter"],
  ["refusal", "refusal"],
  ["pause_turn", "paused"],
  ["error", "provider_error"],
  ["abort", "provider_error"],
  ["network_error", "provider_error"],
  ["repetition", "provider_error"],
  ["function_call_filter", "provider_error"],
  ["function_call_filter: malformed_function_call", "invalid_tool_arguments"],
  ["insufficient_system_resource", "provider_error"],
]);

/** A later reason replaces one before it in this list; what is not in it, nothing replaces. */
const SUCCESSES: readonly Finish[] = ["stop", "tool_use", "length"];

/** Where servers put reasoning. Many send the same text in two of them. */
const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text", "thinking"];

/** Lists in a delta that the events cannot express. */
const KEPT_LISTS = [
  "images",
  "annotations",
  "citations",
  "executed_tools",
  "thinking_blocks",
  "reasoning_items",
];

/** Values in a delta that the events cannot express; the newest holds. */
const KEPT_VALUES = ["reasoning_opaque", "context"];

/**
 * Creates an adapter for one Chat Completions response, streamed by the API or by one of the many
 * servers that imitate it.
 *
 * Its payloads are the decoded chunks, and `"[DONE]"`. Only the first choice is read.
 *
 * This format has no end marker for a tool call: a call is complete once the response has given its
 * `finish_reason`. A response that never gives one is `truncated`, even if it ends with `[DONE]`.
 *
 * What the next turn has to send back besides the content is in `providerReplay`, under the API's
 * own names: `reasoning_field` (the field that had the reasoning), `reasoning_details`,
 * `reasoning_opaque`, `reasoning_items`, `thinking_blocks`, `extra_content`, and `tool_calls` with
 * their non-standard fields. So is what the events cannot express: `audio`, `images`,
 * `annotations`, `citations`, `search_results`, `search_info`, `web_search`, `context`,
 * `executed_tools`, other `parts` of the content. A custom tool's input is under `input` in the
 * call's arguments.
 *
 * @param options What the response does not say.
 * @returns A new adapter, for one response.
 * @throws {TypeError} An option is of the wrong kind.
 * @throws {RangeError} A limit is out of range.
 *
 * @example Converting the chunks of an official client
 * ```ts
 * import type { StreamEvent } from "@agent-stream/validator";
 * import { createOpenAiChatAdapter } from "@agent-stream/validator/openai";
 * import { assertEquals } from "@std/assert";
 *
 * const chunks = [
 *   { model: "m", choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: null }] },
 *   { model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
 * ];
 *
 * const events: StreamEvent[] = [];
 * const adapter = createOpenAiChatAdapter();
 * for (const chunk of chunks) adapter.push(chunk, (event) => events.push(event));
 * adapter.end((event) => events.push(event));
 *
 * assertEquals(
 *   events.map(({ type }) => type),
 *   ["start", "text_start", "text_delta", "text_end", "done"],
 * );
 * ```
 */
export function createOpenAiChatAdapter(options: AdapterOptions = {}): Adapter {
  return new OpenAiChatAdapter(options);
}

class OpenAiChatAdapter extends WireAdapter {
  readonly #calls = new ChatToolCalls();
  readonly #handles = new Map<ChatToolCall, SerializedBlock>();
  /** The block that goes on where a delta has more of the same field. */
  #open: { readonly field: string; readonly block: SerializedBlock } | undefined;
  /** All blocks of text, for a server that repeats the message at the end. */
  readonly #texts: SerializedBlock[] = [];
  #finish: { readonly finish: Finish; readonly word: string } | undefined;
  #hasModel = false;
  #hasUsage = false;
  #reasoningField: string | undefined;
  readonly #reasoningDetails: Record<string, unknown>[] = [];
  readonly #lists = new Map<string, unknown[]>();
  readonly #values = new Map<string, unknown>();
  /** What stands under `extra_content`, by the vendor. */
  readonly #extra = new Map<string, Record<string, unknown>>();
  /** Whether the last content was marked as a thought. */
  #isThought = false;
  #audio: Record<string, unknown> | undefined;
  /** The id of the chunk that came last before the finish_reason, or with it. */
  #id: unknown;
  /** Whether the one before had the same, which servers that make one up for each have not. */
  #isIdKept = false;

  constructor(options: AdapterOptions) {
    super(options, "openai");
  }

  textIn(payload: unknown): PayloadText | undefined {
    const choice = isRecord(payload) && Array.isArray(payload.choices) && payload.choices[0];
    const holder = isRecord(choice) && choice.delta;
    return isRecord(holder) ? { holder, key: "content" } : undefined;
  }

  protected override take(payload: unknown): void {
    if (payload === "[DONE]") {
      this.takeEnd();
      return;
    }
    if (!isRecord(payload)) throw malformed("Expected a chunk to be an object");
    const { id, choices, error, model, usage, x_groq, base_resp } = payload;
    if (this.#finish === undefined) {
      this.#isIdKept = id === this.#id;
      this.#id = id;
    }
    if (!this.#hasModel && typeof model === "string" && model !== "") {
      this.#hasModel = true;
      this.blocks.model = model;
    }
    if (isPlainObject(usage)) {
      this.#hasUsage = true;
      this.blocks.usage = readOpenAiUsage(usage);
    }
    if (x_groq !== undefined && isPlainObject(x_groq)) {
      const { usage, error, id } = x_groq;
      this.#usageBeside(usage);
      if (isError(error)) throw readProviderError({ error, request_id: id });
    }
    this.#beside(payload);
    if (isError(error) || (base_resp !== undefined && isRefusedBase(payload))) {
      throw readProviderError(payload);
    }
    if (choices === undefined || choices === null) {
      if (isFlatError(payload)) throw readProviderError(payload);
      return; // Progress, filter results and the like.
    }
    if (!Array.isArray(choices)) throw malformed("Expected choices to be an array");
    for (const choice of choices) {
      if (!isRecord(choice)) throw malformed("Expected a choice to be an object");
      // Other choices are other answers: spliced together they would be none.
      if ((choice.index ?? 0) !== 0) continue;
      if (this.#finish !== undefined && id !== this.#id) this.#expectSame(id, choice.delta);
      this.#choice(choice);
    }
  }

  protected override takeEnd(): void {
    if (!this.#finish) {
      throw new AdapterError(
        "truncated",
        "Expected a finish_reason before the end of the response",
      );
    }
    const { finish, word } = this.#finish;
    switch (finish) {
      case "stop":
      case "tool_use":
      case "length":
        this.#closeCalls(finish);
        this.blocks.finish(finish, this.replay());
        return;
      case "content_filter":
        throw new AdapterError(finish, "A content filter stopped the response", {
          ...(word.includes(":") && { providerErrorType: word }),
        });
      case "refusal":
        throw new AdapterError(finish, "The model refused to go on");
      case "paused":
        throw new AdapterError(finish, `The response was paused: finish_reason ${quote(word)}`);
      case "provider_error":
      case "invalid_tool_arguments":
        throw new AdapterError(finish, `The provider broke off: finish_reason ${quote(word)}`, {
          providerErrorType: word,
        });
      default:
        throw new AdapterError(
          finish,
          `Expected a known finish_reason, received ${quote(word)}`,
        );
    }
  }

  protected override replay(): ProviderReplay | undefined {
    const data: Record<string, unknown> = {};
    if (this.#reasoningField) data.reasoning_field = this.#reasoningField;
    if (this.#reasoningDetails.length > 0) data.reasoning_details = this.#reasoningDetails;
    for (const [field, value] of this.#values) data[field] = value;
    if (this.#extra.size > 0) data.extra_content = Object.fromEntries(this.#extra);
    for (const [field, list] of this.#lists) data[field] = list;
    if (this.#audio) data.audio = this.#audio;
    const calls = this.#calls.all.filter(({ extra, isCustom }) => extra || isCustom);
    if (calls.length > 0) {
      data.tool_calls = calls.map(({ id, isCustom, extra }) => ({
        ...extra,
        ...(id !== undefined && { id }),
        ...(isCustom && { type: "custom" }),
      }));
    }
    if (Object.keys(data).length === 0) return undefined;
    if (isTooDeepToKeep(data)) return undefined;
    return { api: "openai-chat", data: data as JsonValue };
  }

  /**
   * Keeps what stands beside the choices and the events cannot express; servers repeat it, and it grows.
   * Every chunk comes by, and names that are written out are looked up several times as fast.
   */
  #beside({ citations, search_results, search_info, web_search }: Fields): void {
    if (citations !== undefined) this.#keepValue("citations", citations);
    if (search_results !== undefined) this.#keepValue("search_results", search_results);
    if (search_info !== undefined) this.#keepValue("search_info", search_info);
    if (web_search !== undefined) this.#keepValue("web_search", web_search);
  }

  #choice(choice: Fields): void {
    const { finish_reason, usage, error } = choice;
    this.#usageBeside(usage);
    const delta = choice.delta ?? this.#wholeMessage(choice.message);
    if (delta !== undefined && delta !== null) {
      if (!isRecord(delta)) throw malformed("Expected a delta to be an object");
      this.#delta(delta);
    }
    if (isError(error)) throw readProviderError(error);
    if (finish_reason === undefined || finish_reason === null || finish_reason === "") return;
    if (finish_reason === "null") return; // As a text, in every chunk but the last.
    if (typeof finish_reason !== "string") throw malformed("Expected finish_reason to be a string");
    this.#finishWith(finish_reason);
  }

  /**
   * Refuses the next completion. The client's helper that runs calls itself gives the chunks of all:
   * as one, its calls would be run twice.
   */
  #expectSame(id: unknown, delta: unknown): void {
    if (this.#calls.all.length === 0 || !this.#isIdKept) return;
    if (typeof id !== "string" || id === "" || !isRecord(delta)) return;
    const { content, tool_calls } = delta;
    if (!content && !(Array.isArray(tool_calls) && tool_calls.length > 0)) return;
    throw new AdapterError(
      "wire_order",
      "Expected the chunks of one completion, received those of another after its calls",
    );
  }

  /** Usage where some servers put it; that of the chunk itself goes before. */
  #usageBeside(usage: unknown): void {
    if (isPlainObject(usage) && !this.#hasUsage) this.blocks.usage = readOpenAiUsage(usage);
  }

  /** A message instead of a delta: the whole answer, or what was streamed once more. */
  #wholeMessage(message: unknown): unknown {
    if (message === undefined || this.blocks.opened === 0) return message;
    const content = isPlainObject(message) ? message.content : undefined;
    const isRepeat = content === undefined || content === null || content === "" ||
      content === this.#texts.map((block) => block.text).join("");
    if (isRepeat) {
      // What was not streamed is not said once more.
      if (this.#calls.all.length > 0 || !isPlainObject(message)) return undefined;
      const { tool_calls, function_call } = message;
      return { tool_calls, function_call };
    }
    throw new AdapterError("wire_order", "Expected the message to repeat what was streamed");
  }

  /** The order within a delta is that in which a model makes it: reasoning, text, calls. */
  #delta(delta: Fields): void {
    if (isPlainText(delta) && !this.#isThought) {
      this.#textOf("content", delta.content);
      return;
    }
    this.#reasoning(delta);
    if (isPlainObject(delta.extra_content)) this.#takeExtra(delta.extra_content);
    this.#content(this.#markedText(delta));
    this.#textOf("refusal", delta.refusal);
    if (delta.tool_calls !== undefined && delta.tool_calls !== null) {
      if (!Array.isArray(delta.tool_calls)) throw malformed("Expected tool_calls to be an array");
      this.#toolCalls(delta.tool_calls);
    }
    if (delta.function_call !== undefined && delta.function_call !== null) {
      // What there was before tool_calls: one call, without an id.
      this.#toolCalls([{ index: "function_call", function: delta.function_call }]);
    }
    for (const field of KEPT_LISTS) {
      const list = delta[field];
      if (Array.isArray(list) && list.length > 0) {
        for (const item of list) this.#keep(field, item);
      }
    }
    for (const field of KEPT_VALUES) this.#keepValue(field, delta[field]);
    if (isPlainObject(delta.audio)) this.#takeAudio(delta.audio);
  }

  /**
   * The content of a delta, less the tags around thoughts that Gemini's endpoint marks beside it, too;
   * a thought goes where thoughts go.
   *
   * @see {@link https://ai.google.dev/gemini-api/docs/openai#thinking}
   */
  #markedText({ content, extra_content }: Fields): unknown {
    if (typeof content !== "string" || content === "") return content;
    const wasThought = this.#isThought;
    this.#isThought = isPlainObject(extra_content) && isPlainObject(extra_content.google) &&
      extra_content.google.thought === true;
    if (!this.#isThought) return wasThought ? without(content, "</thought>") : content;
    this.#textOf("reasoning", wasThought ? content : without(content, "<thought>"));
    return undefined;
  }

  /** Takes what hangs on the message as a whole, such as the signature of its text. */
  #takeExtra(extra: Fields): void {
    for (const [vendor, piece] of Object.entries(extra)) {
      if (!isPlainObject(piece)) continue;
      const { thought: _, ...said } = piece;
      if (Object.keys(said).length === 0) continue;
      let kept = this.#extra.get(vendor);
      if (!kept) {
        this.#extra.set(vendor, kept = {});
        this.blocks.count(vendor.length + 4);
      }
      this.blocks.count(mergeFields(kept, said));
    }
  }

  #keepValue(field: string, value: unknown): void {
    const isEmpty = value === undefined || value === null || value === "" ||
      (Array.isArray(value) && value.length === 0);
    if (!isEmpty) this.#values.set(field, value);
  }

  #reasoning(delta: Fields): void {
    const hasText = (field: string) => typeof delta[field] === "string" && delta[field] !== "";
    for (const field of REASONING_FIELDS) {
      const value = delta[field];
      if (value !== undefined && value !== null && typeof value !== "string") {
        throw malformed(`Expected ${field} to be a string`);
      }
    }
    const chosen = this.#reasoningField;
    const field = chosen !== undefined && hasText(chosen)
      ? chosen
      : REASONING_FIELDS.find((field) => hasText(field));
    const details = delta.reasoning_details ?? [];
    if (!Array.isArray(details)) throw malformed("Expected reasoning_details to be an array");
    for (const detail of details) {
      if (!isPlainObject(detail)) throw malformed("Expected a reasoning detail to be an object");
      const said = field ? undefined : detail.text ?? detail.summary;
      this.#textOf("reasoning", said);
      // What is content too counts once.
      const isContent = typeof said === "string" ? said.length : 0;
      this.blocks.count(mergeDetail(this.#reasoningDetails, detail) - isContent);
    }
    if (!field && details.length === 0 && Array.isArray(delta.thinking_blocks)) {
      for (const block of delta.thinking_blocks) {
        if (isPlainObject(block)) this.#textOf("reasoning", block.thinking);
      }
    }
    if (!field) return;
    this.#reasoningField ??= field;
    this.#textOf("reasoning", delta[field]);
  }

  /** Content as text, or in parts that each say what they are. */
  #content(content: unknown): void {
    if (!Array.isArray(content)) {
      this.#textOf("content", content);
      return;
    }
    for (const part of content) {
      if (!isPlainObject(part)) throw malformed("Expected a part of content to be an object");
      if (part.type === "text") this.#textOf("content", part.text);
      else if (part.type === "thinking") this.#thinkingPart(part.thinking);
      else {
        if (part.type === "reasoning" && Array.isArray(part.summary)) {
          this.#thinkingPart(part.summary);
        }
        this.#keep("parts", part);
      }
    }
  }

  #keep(field: string, item: unknown): void {
    let list = this.#lists.get(field);
    if (!list) this.#lists.set(field, list = []);
    const at = findSame(field, list, item);
    if (at === -1) {
      // A copy, since what follows may be more of it.
      list.push(isPlainObject(item) ? { ...item } : item);
      this.blocks.count(jsonSize(item));
    } else {
      const before = list[at] as Record<string, unknown>;
      this.blocks.count(mergeFields(before, item as Fields, ["thinking"]));
    }
  }

  #thinkingPart(thinking: unknown): void {
    const parts = Array.isArray(thinking) ? thinking : [thinking];
    for (const part of parts) {
      if (!isPlainObject(part)) this.#textOf("reasoning", part);
      else if (part.text !== undefined) this.#textOf("reasoning", part.text);
      else this.#keep("parts", { type: "thinking", thinking: [part] });
    }
  }

  /** Takes text of a field: more for the block that is open, if it is of that field. */
  #textOf(field: "content" | "refusal" | "reasoning", text: unknown): void {
    if (text === undefined || text === null || text === "") return;
    if (typeof text !== "string") throw malformed(`Expected ${field} to be a string`);
    let block = this.#open?.field === field ? this.#open.block : undefined;
    if (!block) {
      this.#closeText();
      block = this.blocks.open(field === "reasoning" ? "thinking" : "text");
      this.#open = { field, block };
      if (field === "content") this.#texts.push(block);
    }
    this.blocks.append(block, text);
  }

  #closeText(): void {
    if (this.#open) this.blocks.close(this.#open.block);
    this.#open = undefined;
  }

  #toolCalls(entries: readonly unknown[]): void {
    this.#calls.push(entries, ({ call, isNew, delta, kept }) => {
      this.blocks.count(kept + (call.isCustom && delta !== undefined ? delta.length : 0));
      if (isNew) {
        this.#closeText();
        this.#handles.set(call, this.blocks.open("tool_call"));
      }
      const block = this.#handles.get(call) as SerializedBlock;
      this.blocks.identify(block, call.id, call.name);
      if (delta !== undefined && !call.isCustom) this.blocks.append(block, delta);
    });
  }

  #takeAudio(audio: Fields): void {
    this.blocks.count(mergeFields(this.#audio ??= {}, audio, ["data", "transcript"]));
  }

  /**
   * A finish_reason holds until a later one says more: some servers send one with every chunk, and
   * some a plain `stop` after the calls.
   */
  #finishWith(word: string): void {
    const finish = finishOf(word.toLowerCase());
    const before = this.#finish;
    const isWeaker = before && SUCCESSES.includes(finish) &&
      SUCCESSES.indexOf(finish) <= SUCCESSES.indexOf(before.finish);
    if (!before || (SUCCESSES.includes(before.finish) && !isWeaker)) {
      this.#finish = { finish, word };
    }
  }

  /** This wire ends no call by itself: all are whole once it has said why the response stopped. */
  #closeCalls(finish: SuccessfulStopReason): void {
    for (const [call, block] of this.#handles) {
      try {
        // Cut before the arguments began, a call looks like one that has none.
        if (finish === "length" && !call.object && call.text.isEmpty) throw cutByLimit(call);
        const custom = call.isCustom ? { input: call.text.text() } : undefined;
        this.blocks.closeToolCall(block, call.object ?? custom);
      } catch (error) {
        throw finish === "length" && error instanceof AdapterError &&
            error.code === "invalid_tool_arguments"
          ? cutByLimit(call)
          : error;
      }
    }
  }
}

/** Whether a delta says nothing but content, as nearly every one does. */
function isPlainText(delta: Fields): boolean {
  if (typeof delta.content !== "string") return false;
  for (const field in delta) {
    if (field !== "content" && field !== "role" && delta[field] !== null) return false;
  }
  return true;
}

function malformed(message: string): AdapterError {
  return new AdapterError("malformed_frame", message);
}

function cutByLimit(call: ChatToolCall): AdapterError {
  return new AdapterError(
    "output_limit",
    `The output limit cut the call of tool ${quote(call.name ?? "")}`,
  );
}

/** What a word means: some servers put the reason of a filter behind it. */
function finishOf(word: string): Finish {
  return FINISH_REASONS.get(word) ?? FINISH_REASONS.get(word.split(":", 1)[0] as string) ??
    "unknown_stop_reason";
}

function without(text: string, tag: string): string {
  return text.startsWith(tag) ? text.slice(tag.length) : text;
}

/** Finds the item of a kept list that a new one is more of. */
function findSame(field: string, list: readonly unknown[], item: unknown): number {
  if (!isPlainObject(item)) return -1;
  if (field === "executed_tools") {
    return list.findIndex((other) =>
      isPlainObject(other) && other.index !== undefined && other.index === item.index
    );
  }
  const last = list.at(-1);
  // A signature ends a block.
  const isSame = field === "thinking_blocks" && isPlainObject(last) && item.type === "thinking" &&
    last.type === "thinking" && !last.signature;
  return isSame ? list.length - 1 : -1;
}

function isError(error: unknown): boolean {
  return isPlainObject(error) || (typeof error === "string" && error !== "");
}

/** An error that is the payload itself. */
function isFlatError(payload: Fields): boolean {
  const { message, code, type, detail } = payload;
  return payload.object === "error" || type === "error" ||
    (typeof detail === "string" && detail !== "") ||
    (typeof message === "string" && code !== 0 &&
      (code !== undefined || type !== undefined || Object.keys(payload).length === 1));
}

/**
 * Adds a reasoning detail, or to the last one where it is more of the same; returns how much that is,
 * in UTF-16 code units.
 */
function mergeDetail(details: Record<string, unknown>[], detail: Fields): number {
  const last = details.at(-1);
  const isSame = last && detail.index !== undefined && detail.index === last.index &&
    detail.type === last.type &&
    (detail.id === undefined || detail.id === null || last.id === undefined || last.id === null ||
      detail.id === last.id) &&
    (detail.data === undefined || last.data === undefined);
  if (isSame) return mergeFields(last, detail, ["text", "summary"]);
  details.push({ ...detail });
  return jsonSize(detail);
}
