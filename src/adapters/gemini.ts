import { isPlainObject, kindOf } from "../_json.ts";
import { quote } from "../_quote.ts";
import type { JsonValue, ProviderReplay, SuccessfulStopReason } from "../types.ts";
import {
  type Adapter,
  AdapterError,
  type AdapterOptions,
  type AssistantErrorCode,
} from "./_adapter.ts";
import type { SerializedBlock } from "./_block_serializer.ts";
import { PartialArguments } from "./_partial_arguments.ts";
import { readProviderError } from "./_provider_error.ts";
import { checkReplayDepth } from "./_replay_depth.ts";
import { type WholeToolCall, WholeToolCalls } from "./_whole_tool_calls.ts";
import { WireAdapter } from "./_wire_adapter.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a `finishReason` means: a reason to stop, or what is wrong. */
type Finish = SuccessfulStopReason | AssistantErrorCode;

const FINISH_REASONS: ReadonlyMap<string, Finish> = new Map<string, Finish>([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["SAFETY", "content_filter"],
  ["RECITATION", "content_filter"],
  ["LANGUAGE", "content_filter"],
  ["BLOCKLIST", "content_filter"],
  ["PROHIBITED_CONTENT", "content_filter"],
  ["SPII", "content_filter"],
  ["MODEL_ARMOR", "content_filter"],
  ["ESCALATION", "content_filter"],
  ["IMAGE_SAFETY", "content_filter"],
  ["IMAGE_PROHIBITED_CONTENT", "content_filter"],
  ["IMAGE_RECITATION", "content_filter"],
  ["MALFORMED_FUNCTION_CALL", "invalid_tool_arguments"],
  ["UNEXPECTED_TOOL_CALL", "provider_error"],
  ["TOO_MANY_TOOL_CALLS", "provider_error"],
  ["MISSING_THOUGHT_SIGNATURE", "provider_error"],
  ["MALFORMED_RESPONSE", "provider_error"],
  ["PUP_LIMITED_DISABLED", "provider_error"],
  ["OTHER", "provider_error"],
  ["IMAGE_OTHER", "provider_error"],
  ["NO_IMAGE", "provider_error"],
  ["CONTINUATION", "paused"],
]);

/** A later reason replaces one before it in this list; what is not in it, nothing replaces. */
const SUCCESSES: readonly Finish[] = ["stop", "length"];

/** What some servers put where there is no reason. */
const NO_REASONS: readonly unknown[] = [
  undefined,
  null,
  "",
  "FINISH_REASON_UNSPECIFIED",
  "BLOCKED_REASON_UNSPECIFIED",
  "BLOCK_REASON_UNSPECIFIED",
];

/** What a candidate has beside its content, and the events cannot express. */
const KEPT_FIELDS = ["groundingMetadata", "citationMetadata", "urlContextMetadata"];

/** The fields of a part that the events can express, or that only say what it is. */
const KNOWN_FIELDS = new Set(["text", "thought", "thoughtSignature", "functionCall"]);

/** A part as the next turn must send it. */
interface ReplayPart {
  /** All of it, but for the text. */
  fields: Fields;
  /** The block that it is of, if it is of one. */
  readonly block: SerializedBlock | undefined;
  /** Where in the text of the block its own begins and ends; nothing for one without text. */
  readonly start: number | undefined;
  end: number | undefined;
  /** Whether more of the same text belongs to it: a signature is that of its own part alone. */
  readonly isOpen: boolean;
}

/** A call whose arguments come in pieces. */
interface StreamedCall {
  readonly call: WholeToolCall;
  readonly block: SerializedBlock;
  readonly args: PartialArguments;
  readonly part: ReplayPart;
}

/**
 * Creates an adapter for one response of Gemini's `streamGenerateContent`.
 *
 * Its payloads are the decoded `data` of the server-sent events (`alt=sse`). Only the first candidate
 * is read.
 *
 * This format has no end marker, and a `finishReason` may come before the last text, so a response
 * ends with its body. A response without a `finishReason` is `truncated`. Set `idleTimeout` in case
 * a server holds the body open.
 *
 * Adjacent parts of one kind form one block. If the arguments of a call arrive in pieces
 * (`streamFunctionCallArguments`), they are put together; they have no deltas, because the pieces
 * are values, not text. What the events cannot express is in the message's `providerReplay`. If
 * there are thought signatures, files, code that the provider ran or its own tools, `data.content`
 * is the content of the model's turn in the form in which the API expects it back. `providerReplay`
 * also has `groundingMetadata`, `citationMetadata` and `urlContextMetadata`, each as a list of all
 * that arrived, and the `continuationToken` of a paused response.
 *
 * @param options What the response does not say.
 * @returns A new adapter, for one response.
 * @throws {TypeError} An option is of the wrong kind.
 * @throws {RangeError} A limit is out of range.
 *
 * @example Converting the chunks of an official client
 * ```ts
 * import type { StreamEvent } from "@agent-stream/validator";
 * import { createGeminiAdapter } from "@agent-stream/validator/gemini";
 * import { assertEquals } from "@std/assert";
 *
 * const chunks = [
 *   { candidates: [{ content: { parts: [{ text: "Let me see.", thought: true }] } }] },
 *   { candidates: [{ content: { parts: [{ text: "Hello" }] }, finishReason: "STOP" }] },
 * ];
 *
 * const events: StreamEvent[] = [];
 * const adapter = createGeminiAdapter();
 * for (const chunk of chunks) adapter.push(chunk, (event) => events.push(event));
 * adapter.end((event) => events.push(event));
 *
 * const last = events.at(-1);
 * assertEquals(last?.type === "done" && last.message.content, [
 *   { type: "thinking", thinking: "Let me see." },
 *   { type: "text", text: "Hello" },
 * ]);
 * ```
 */
export function createGeminiAdapter(options: AdapterOptions = {}): Adapter {
  return new GeminiAdapter(options);
}

class GeminiAdapter extends WireAdapter {
  readonly #calls = new WholeToolCalls(this.blocks);
  /** The block that goes on where a part is more of the same kind, and its length so far. */
  #open: { readonly block: SerializedBlock; length: number } | undefined;
  readonly #parts: ReplayPart[] = [];
  /** Whether a part holds what the events cannot express. */
  #isOpaque = false;
  readonly #kept = new Map<string, unknown[]>();
  /** The call whose arguments come in pieces. */
  #streamed: StreamedCall | undefined;
  #hasStreamed = false;
  #continuationToken: string | undefined;
  readonly #tokens = new Map<string, number>();
  #finish: { readonly finish: Finish; readonly word: string; readonly why: string } | undefined;
  #hasModel = false;

  constructor(options: AdapterOptions) {
    super(options, "google");
  }

  protected override take(payload: unknown): void {
    if (payload === "[DONE]") return this.takeEnd(); // Of a gateway; the API has none.
    // As without `alt=sse`: an error often comes so.
    if (Array.isArray(payload) && payload.length > 0 && payload.every(isPlainObject)) {
      for (const chunk of payload) this.take(chunk);
      return;
    }
    if (!isPlainObject(payload)) {
      throw malformed(`Expected a chunk to be an object, received ${kindOf(payload)}`);
    }
    const { candidates, error, modelVersion, promptFeedback, usageMetadata } = payload;
    if (!this.#hasModel && typeof modelVersion === "string" && modelVersion !== "") {
      this.#hasModel = true;
      this.blocks.model = modelVersion;
    }
    if (isPlainObject(usageMetadata)) this.#count(usageMetadata);
    if (isPlainObject(error) || (typeof error === "string" && error !== "")) {
      throw readProviderError(payload);
    }
    if (isPlainObject(promptFeedback)) checkPrompt(promptFeedback);
    if (candidates === undefined || candidates === null) return; // Usage and the like.
    if (!Array.isArray(candidates)) throw malformed("Expected candidates to be an array");
    let hasFirst = false;
    for (const candidate of candidates) {
      if (!isPlainObject(candidate)) throw malformed("Expected a candidate to be an object");
      const { index } = candidate;
      const isUnnumbered = index === undefined || index === null;
      // Other candidates are other answers: spliced together they would be none.
      if (isUnnumbered ? !hasFirst : index === 0) this.#candidate(candidate);
      hasFirst ||= isUnnumbered || index === 0;
    }
  }

  protected override takeEnd(): void {
    if (!this.#finish) {
      throw new AdapterError("truncated", "Expected a finishReason before the end of the response");
    }
    const { finish, word, why } = this.#finish;
    const fail = (what: string) =>
      new AdapterError(finish as AssistantErrorCode, `${what} ${quote(word)}${why}`, {
        providerErrorType: word,
      });
    switch (finish) {
      case "stop":
      case "length":
        this.#calls.finish(finish);
        this.blocks.finish(finish, this.replay());
        return;
      case "content_filter":
        throw fail("A content filter stopped the response: finishReason");
      case "invalid_tool_arguments":
        throw fail("The model wrote a function call that cannot be read: finishReason");
      case "paused":
        throw fail("The response was paused: finishReason");
      case "provider_error":
        throw fail("The provider broke off: finishReason");
      default:
        throw fail("Expected a known finishReason, received");
    }
  }

  protected override replay(): ProviderReplay | undefined {
    const data: Record<string, unknown> = {};
    if (this.#isOpaque) {
      data.content = { role: "model", parts: writeParts(this.#parts) };
    }
    for (const [field, values] of this.#kept) data[field] = values;
    if (this.#continuationToken) data.continuationToken = this.#continuationToken;
    if (Object.keys(data).length === 0) return undefined;
    return { api: "gemini-generate-content", data: data as JsonValue };
  }

  #candidate(candidate: Fields): void {
    const { content, continuationToken, finishReason } = candidate;
    if (content !== undefined && content !== null) {
      if (!isPlainObject(content)) throw malformed("Expected a content to be an object");
      const parts = content.parts ?? [];
      if (!Array.isArray(parts)) throw malformed("Expected parts to be an array");
      for (const part of parts) {
        if (!isPlainObject(part)) throw malformed("Expected a part to be an object");
        this.#part(part);
      }
    }
    for (const field of KEPT_FIELDS) {
      const value = candidate[field];
      if (!isPlainObject(value) || Object.keys(value).length === 0) continue;
      this.#keep(value);
      const values = this.#kept.get(field);
      if (values) values.push(value);
      else this.#kept.set(field, [value]);
    }
    if (typeof continuationToken === "string") this.#continuationToken = continuationToken;
    if (NO_REASONS.includes(finishReason)) return;
    if (typeof finishReason !== "string") throw malformed("Expected finishReason to be a string");
    this.#finishWith(finishReason, candidate.finishMessage);
  }

  #part(part: Fields): void {
    const { text: _, ...fields } = part;
    const { functionCall, functionResponse, thought } = part;
    const text = readText(part, "text");
    const isSigned = readText(part, "thoughtSignature") !== "";
    if (thought !== undefined && thought !== null && typeof thought !== "boolean") {
      throw malformed("Expected thought to be a boolean");
    }
    if (isPlainObject(functionResponse)) {
      // Else the call would be run twice, and the answers to two requests would be one.
      throw new AdapterError(
        "wire_order",
        "Expected no result of a call in a response, received one of a client that runs calls itself",
      );
    }
    const isCall = functionCall !== undefined && functionCall !== null;
    const isOther = Object.keys(part).some((key) =>
      !KNOWN_FIELDS.has(key) && part[key] !== null && part[key] !== undefined
    );
    const isPlain = !isSigned && !isOther;
    if (!isPlain) {
      this.#keep({ ...fields, functionCall: undefined });
      this.#isOpaque = true;
    }
    if (text !== "") {
      // A part has one kind of content; where it has two, what else it says is the call's.
      const textFields = isCall ? { ...(thought && { thought }) } : fields;
      this.#text(thought ? "thinking" : "text", text, textFields, isPlain || isCall);
    }
    if (isCall) {
      this.#call(functionCall, fields);
    } else if (text === "" && !isPlain) {
      if (isOther) this.#closeText();
      // An empty text stays where it is: the API wants a signed part back as it came.
      this.#replay(part, undefined);
    }
  }

  /** Takes text: more for the block that is open, if it is of that kind. */
  #text(kind: "text" | "thinking", text: string, fields: Fields, isPlain: boolean): void {
    if (this.#open?.block.kind !== kind) {
      this.#closeText();
      this.#open = { block: this.blocks.open(kind), length: 0 };
    }
    const { block, length: start } = this.#open;
    this.blocks.append(block, text);
    const end = this.#open.length = start + text.length;
    const last = this.#parts.at(-1);
    if (isPlain && last?.isOpen && last.block === block) last.end = end;
    else this.#parts.push({ fields, block, start, end, isOpen: isPlain });
  }

  #call(functionCall: unknown, fields: Fields): void {
    if (!isPlainObject(functionCall)) throw malformed("Expected a functionCall to be an object");
    const { id, name, args, partialArgs, willContinue, ...more } = functionCall;
    if (this.#streamed || hasMembers(partialArgs) || willContinue) {
      this.#streamCall(functionCall, fields);
      return;
    }
    // The end of a call that was streamed, once more.
    if (this.#hasStreamed && Object.keys(functionCall).length === 0) return;
    const call = this.#calls.read(id, name, args);
    if (!call) return;
    if (Object.keys(more).length > 0) {
      this.#keep(more);
      this.#isOpaque = true;
    }
    this.#closeText();
    this.#replay(fields, this.#calls.add(call));
  }

  /** Takes a piece of a call whose arguments are streamed; only one of them is open at a time. */
  #streamCall({ id, name, args, partialArgs, willContinue }: Fields, fields: Fields): void {
    const call = this.#calls.read(id, name, args);
    if (!call || (!this.#streamed && call.name === undefined)) {
      throw ambiguous("Expected a piece of a function call to belong to one that has begun");
    }
    if (hasMembers(args)) {
      throw new AdapterError(
        "invalid_tool_arguments",
        "Expected the arguments of a function call in one piece or in several, received both",
      );
    }
    const streamed = this.#streamed ??= this.#beginCall(call);
    const isOther = (call.name ?? streamed.call.name) !== streamed.call.name ||
      (call.id ?? streamed.call.id) !== streamed.call.id;
    if (isOther) {
      const tool = quote(streamed.call.name as string);
      throw ambiguous(`Expected the end of the call of tool ${tool} before another call`);
    }
    const { part } = streamed;
    part.fields = { ...part.fields, ...fields };
    for (const piece of readList(partialArgs, "partialArgs")) {
      this.blocks.count(streamed.args.add(piece));
    }
    if (willContinue) return;
    const { value } = streamed.args;
    this.#streamed = undefined;
    this.blocks.closeToolCall(streamed.block, value);
    const { id: callId, name: tool } = streamed.call;
    const functionCall = { ...(callId !== undefined && { id: callId }), name: tool, args: value };
    part.fields = { ...part.fields, functionCall };
  }

  #beginCall(call: WholeToolCall): StreamedCall {
    this.#closeText();
    const block = this.blocks.open("tool_call");
    this.blocks.identify(block, call.id, call.name);
    this.#hasStreamed = true;
    return { call, block, args: new PartialArguments(), part: this.#replay({}, block) };
  }

  #replay(fields: Fields, block: SerializedBlock | undefined): ReplayPart {
    const part = { fields, block, start: undefined, end: undefined, isOpen: false };
    this.#parts.push(part);
    return part;
  }

  #closeText(): void {
    this.#calls.settle();
    if (this.#open) this.blocks.close(this.#open.block);
    this.#open = undefined;
  }

  /** Counts what the next turn must send back, within the limits. */
  #keep(value: Fields): void {
    checkReplayDepth(value, "a part");
    this.blocks.count(JSON.stringify(value).length);
  }

  /** A finishReason holds until a later one says more: some servers send one before the text. */
  #finishWith(word: string, message: unknown): void {
    const finish = FINISH_REASONS.get(word.toUpperCase()) ?? "unknown_stop_reason";
    const before = this.#finish;
    const isWeaker = before && SUCCESSES.includes(finish) &&
      SUCCESSES.indexOf(finish) <= SUCCESSES.indexOf(before.finish);
    if (!before || (SUCCESSES.includes(before.finish) && !isWeaker)) {
      this.#finish = { finish, word, why: because(message) };
    }
  }

  /** Takes the usage so far: what a later chunk says replaces what an earlier one said. */
  #count(usage: Fields): void {
    const read = (name: string): number => {
      const value = usage[name];
      if (Number.isFinite(value) && (value as number) >= 0) {
        this.#tokens.set(name, value as number);
      }
      return this.#tokens.get(name) ?? 0;
    };
    const cacheRead = read("cachedContentTokenCount");
    // What the provider's own tools answered is input that the prompt does not count.
    const toolUse = read("toolUsePromptTokenCount");
    const input = Math.max(0, read("promptTokenCount") - cacheRead) + toolUse;
    const output = read("candidatesTokenCount") + read("thoughtsTokenCount");
    this.blocks.usage = {
      input,
      output,
      cacheRead,
      cacheWrite: 0,
      totalTokens: Number.isFinite(usage.totalTokenCount)
        ? read("totalTokenCount")
        : input + cacheRead + output,
      cost: this.blocks.usage.cost,
    };
  }
}

/** Fails where the prompt was blocked. */
function checkPrompt({ blockReason, blockReasonMessage }: Fields): void {
  if (NO_REASONS.includes(blockReason)) return;
  if (typeof blockReason !== "string") throw malformed("Expected blockReason to be a string");
  throw new AdapterError(
    "content_filter",
    `The prompt was blocked: blockReason ${quote(blockReason)}${because(blockReasonMessage)}`,
    { providerErrorType: blockReason },
  );
}

/** Whether the events say what the part does: a call that may be half is left out of both. */
function isSaid({ block, start }: ReplayPart): boolean {
  return start !== undefined || block === undefined || block.isClosed;
}

/**
 * Writes the parts for the next turn. The text of a block is asked for once: to put it together for
 * each of its parts would be quadratic.
 */
function writeParts(parts: readonly ReplayPart[]): Fields[] {
  let current: SerializedBlock | undefined;
  let text: string | undefined;
  return parts.filter(isSaid).map(({ fields, block, start, end }) => {
    if (start === undefined) return fields;
    if (block !== current) text = (current = block)?.text;
    return { text: text?.slice(start, end), ...fields };
  });
}

function because(message: unknown): string {
  return typeof message === "string" && message !== "" ? `: ${message}` : "";
}

function malformed(message: string): AdapterError {
  return new AdapterError("malformed_frame", message);
}

function ambiguous(message: string): AdapterError {
  return new AdapterError("ambiguous_tool_call", message);
}

/** Whether a value is a list or an object that is not empty, or one that should be. */
function hasMembers(value: unknown): boolean {
  return isPlainObject(value) || Array.isArray(value)
    ? Object.keys(value).length > 0
    : value !== undefined && value !== null;
}

/** Reads a list; `null` and none are empty. */
function readList(list: unknown, field: string): readonly unknown[] {
  if (Array.isArray(list)) return list;
  if (list === null || list === undefined) return [];
  throw malformed(`Expected ${field} to be an array, received ${kindOf(list)}`);
}

/** Reads a text; `null` and none say nothing. */
function readText(fields: Fields, field: string): string {
  const text = fields[field];
  if (typeof text === "string") return text;
  if (text === null || text === undefined) return "";
  throw malformed(`Expected ${field} to be a string, received ${kindOf(text)}`);
}
