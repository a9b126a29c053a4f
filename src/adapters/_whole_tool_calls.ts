import { firstDifference } from "../_json.ts";
import { quote } from "../_quote.ts";
import type { JsonObject, SuccessfulStopReason } from "../types.ts";
import { AdapterError } from "./_adapter.ts";
import type { BlockSerializer, SerializedBlock } from "./_block_serializer.ts";
import { jsonSize } from "./_json_size.ts";

/** A tool call as the wire has it, checked as far as can be told what it is. */
export interface WholeToolCall {
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** The arguments; the serializer says whether they are a JSON object. */
  readonly arguments: unknown;
}

/** The tool calls of a wire that sends each one whole, its arguments as an object. */
export class WholeToolCalls {
  readonly #blocks: BlockSerializer;
  readonly #byId = new Map<string, WholeToolCall>();
  /** A call without arguments, which a length limit may have cut before they began. */
  #doubtful: { readonly call: WholeToolCall; readonly block: SerializedBlock } | undefined;

  /**
   * Creates the calls of one response.
   *
   * @param blocks Where their blocks go.
   */
  constructor(blocks: BlockSerializer) {
    this.#blocks = blocks;
  }

  /**
   * Reads a call; nothing for one that was said before.
   *
   * @throws {AdapterError} Its id or name is neither a text nor left out, or another call has its id.
   */
  read(id: unknown, name: unknown, args: unknown): WholeToolCall | undefined {
    const call: WholeToolCall = {
      id: readKey(id, "id"),
      name: readKey(name, "name"),
      arguments: args ?? undefined,
    };
    const same = call.id === undefined ? undefined : this.#byId.get(call.id);
    if (!same) return call;
    const isRepeat = same.name === call.name &&
      firstDifference("arguments", same.arguments ?? {}, call.arguments ?? {}) === undefined;
    if (isRepeat) return undefined;
    throw new AdapterError(
      "ambiguous_tool_call",
      `Expected another id for a second tool call, received ${quote(call.id as string)} again`,
    );
  }

  /**
   * Takes a call that was read, once the one before it was settled.
   *
   * @returns Its block, which is closed once it is sure that nothing cut the call.
   * @throws {AdapterError} It has no name, its arguments are not a JSON object, or they are more than
   * the limit.
   */
  add(call: WholeToolCall): SerializedBlock {
    if (call.id !== undefined) this.#byId.set(call.id, call);
    const block = this.#blocks.open("tool_call");
    this.#blocks.identify(block, call.id, call.name);
    // As deltas they would have been counted.
    if (call.arguments !== undefined) this.#blocks.count(jsonSize(call.arguments));
    if (call.arguments === undefined && call.name !== undefined) this.#doubtful = { call, block };
    else this.#blocks.closeToolCall(block, call.arguments as JsonObject);
    return block;
  }

  /** Takes note that something follows: no length limit cut the last call. */
  settle(): void {
    if (!this.#doubtful) return;
    const { block } = this.#doubtful;
    this.#doubtful = undefined;
    this.#blocks.closeToolCall(block);
  }

  /**
   * Takes the reason why the response ends.
   *
   * @throws {AdapterError} The output limit may have cut the last call.
   */
  finish(reason: SuccessfulStopReason): void {
    if (reason === "length" && this.#doubtful) {
      const { name } = this.#doubtful.call;
      throw new AdapterError(
        "output_limit",
        `The output limit cut the call of tool ${quote(name as string)}`,
      );
    }
    this.settle();
  }
}

/** Reads an id or a name; empty and `null` are none. */
function readKey(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return value;
  throw new AdapterError("malformed_frame", `Expected a tool call's ${field} to be a string`);
}
