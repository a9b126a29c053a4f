import { isPlainObject, kindOf } from "../_json.ts";
import { quote } from "../_quote.ts";
import type { JsonValue, ProviderReplay, SuccessfulStopReason } from "../types.ts";
import { type Adapter, AdapterError, type AdapterOptions } from "./_adapter.ts";
import type { SerializedBlock } from "./_block_serializer.ts";
import { readProviderError } from "./_provider_error.ts";
import { checkReplayDepth } from "./_replay_depth.ts";
import { WholeToolCalls } from "./_whole_tool_calls.ts";
import { WireAdapter } from "./_wire_adapter.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a `done_reason` means; `idle` is that there was nothing to answer. */
const DONE_REASONS: ReadonlyMap<string, SuccessfulStopReason | "idle"> = new Map<
  string,
  SuccessfulStopReason | "idle"
>([
  // Servers before version 0.1.35 give none.
  ["", "stop"],
  ["stop", "stop"],
  ["length", "length"],
  // Of servers that imitate the API.
  ["tool_calls", "tool_use"],
  ["load", "idle"],
  ["unload", "idle"],
]);

/**
 * Creates an adapter for one response of Ollama's `/api/chat`.
 *
 * Its payloads are the decoded lines.
 *
 * Only what the server itself puts under `thinking` is reasoning: a `<think>` tag in the content is
 * text. Images that a model generated are in the message's `providerReplay`, under `data.images`.
 * The answer to a request without messages, which only loads or unloads the model, ends in
 * `unknown_stop_reason`, because the model did not answer. The lines of `/api/generate` are
 * rejected.
 *
 * @param options What the response does not say.
 * @returns A new adapter, for one response.
 * @throws {TypeError} An option is of the wrong kind.
 * @throws {RangeError} A limit is out of range.
 *
 * @example Converting the parts of an official client
 * ```ts
 * import type { StreamEvent } from "@agent-stream/validator";
 * import { createOllamaChatAdapter } from "@agent-stream/validator/ollama";
 * import { assertEquals } from "@std/assert";
 *
 * const parts = [
 *   { model: "m", message: { role: "assistant", content: "", thinking: "Hm" }, done: false },
 *   { model: "m", message: { role: "assistant", content: "Hello" }, done: false },
 *   { model: "m", message: { role: "assistant", content: "" }, done: true, done_reason: "stop" },
 * ];
 *
 * const events: StreamEvent[] = [];
 * const adapter = createOllamaChatAdapter();
 * for (const part of parts) adapter.push(part, (event) => events.push(event));
 * adapter.end((event) => events.push(event));
 *
 * const last = events.at(-1);
 * assertEquals(last?.type === "done" && last.message.content, [
 *   { type: "thinking", thinking: "Hm" },
 *   { type: "text", text: "Hello" },
 * ]);
 * ```
 */
export function createOllamaChatAdapter(options: AdapterOptions = {}): Adapter {
  return new OllamaChatAdapter(options);
}

class OllamaChatAdapter extends WireAdapter {
  readonly #calls = new WholeToolCalls(this.blocks);
  /** The block that goes on where a line has more of the same kind. */
  #open: SerializedBlock | undefined;
  readonly #images: unknown[] = [];
  #hasModel = false;
  #doneReason: string | undefined;

  constructor(options: AdapterOptions) {
    super(options, "ollama");
  }

  protected override take(payload: unknown): void {
    if (payload === "[DONE]") return this.takeEnd(); // Of a gateway; the API has none.
    if (!isPlainObject(payload)) {
      throw malformed(`Expected a line to be an object, received ${kindOf(payload)}`);
    }
    const { done, error, message, model } = payload;
    if (!this.#hasModel && typeof model === "string" && model !== "") {
      this.#hasModel = true;
      this.blocks.model = model;
    }
    this.#count(payload);
    if (isPlainObject(error) || (typeof error === "string" && error !== "")) {
      throw readProviderError(payload);
    }
    if ((message === undefined || message === null) && typeof payload.response === "string") {
      throw malformed(
        "Expected a message, as of /api/chat, received a response, as of /api/generate",
      );
    }
    if (message !== undefined && message !== null) {
      if (!isPlainObject(message)) throw malformed("Expected a message to be an object");
      this.#message(message);
    }
    if (done !== undefined && done !== null && typeof done !== "boolean") {
      throw malformed("Expected done to be a boolean");
    }
    const word = readText(payload, "done_reason");
    if (word !== "") this.#doneReason = word;
    if (done) this.#finish(this.#doneReason ?? "");
  }

  protected override takeEnd(): void {
    // Some servers give the reason, and leave out that it is the end.
    if (this.#doneReason !== undefined) return this.#finish(this.#doneReason);
    throw new AdapterError("truncated", "Expected done before the end of the response");
  }

  protected override replay(): ProviderReplay | undefined {
    if (this.#images.length === 0) return undefined;
    return { api: "ollama-chat", data: { images: this.#images as JsonValue[] } };
  }

  /** The order within a message is that in which a model makes it: reasoning, text, calls. */
  #message(message: Fields): void {
    this.#text("thinking", readText(message, "thinking"));
    this.#text("text", readText(message, "content"));
    for (const call of readList(message, "tool_calls")) {
      if (!isPlainObject(call)) throw malformed("Expected a tool call to be an object");
      if (!isPlainObject(call.function)) {
        throw malformed("Expected a tool call's function to be an object");
      }
      this.#call(call.id, call.function);
    }
    for (const image of readList(message, "images")) this.#keep(image);
  }

  /** Takes text: more for the block that is open, if it is of that kind. */
  #text(kind: "text" | "thinking", text: string): void {
    if (text === "") return;
    if (this.#open?.kind !== kind) {
      this.#closeText();
      this.#open = this.blocks.open(kind);
    }
    this.blocks.append(this.#open, text);
  }

  #call(id: unknown, { name, arguments: args }: Fields): void {
    const call = this.#calls.read(id, name, args);
    if (!call) return;
    this.#closeText();
    this.#calls.add(call);
  }

  #closeText(): void {
    this.#calls.settle();
    if (this.#open) this.blocks.close(this.#open);
    this.#open = undefined;
  }

  #keep(image: unknown): void {
    checkReplayDepth(image, "an image");
    this.blocks.count(JSON.stringify(image).length);
    this.#images.push(image);
  }

  #finish(word: string): void {
    const reason = DONE_REASONS.get(word);
    switch (reason) {
      case "stop":
      case "length":
      case "tool_use":
        this.#calls.finish(reason);
        this.blocks.finish(reason, this.replay());
        return;
      case "idle":
        throw new AdapterError(
          "unknown_stop_reason",
          `Expected an answer, received done_reason ${quote(word)}: the request had no messages`,
          { providerErrorType: word },
        );
      default:
        throw new AdapterError(
          "unknown_stop_reason",
          `Expected a known done_reason, received ${quote(word)}`,
          { providerErrorType: word },
        );
    }
  }

  /** Takes the usage so far. A prompt that the server had in its cache may be left out. */
  #count({ prompt_eval_count: prompt, eval_count: evaluated }: Fields): void {
    const { usage } = this.blocks;
    const input = readCount(prompt, usage.input);
    const output = readCount(evaluated, usage.output);
    this.blocks.usage = { ...usage, input, output, totalTokens: input + output };
  }
}

function malformed(message: string): AdapterError {
  return new AdapterError("malformed_frame", message);
}

/** Reads a text; `null` and none say nothing. */
function readText(fields: Fields, field: string): string {
  const text = fields[field];
  if (typeof text === "string") return text;
  if (text === null || text === undefined) return "";
  throw malformed(`Expected ${field} to be a string, received ${kindOf(text)}`);
}

/** Reads a list; `null` and none are empty. */
function readList(fields: Fields, field: string): readonly unknown[] {
  const list = fields[field];
  if (Array.isArray(list)) return list;
  if (list === null || list === undefined) return [];
  throw malformed(`Expected ${field} to be an array, received ${kindOf(list)}`);
}

/** Reads a count of tokens, where there is one. */
function readCount(value: unknown, before: number): number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value) ? value : before;
}
