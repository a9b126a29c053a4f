import { DeltaText } from "../_delta_text.ts";
import { isPlainObject, sameJson } from "../_json.ts";
import { quote } from "../_quote.ts";
import type { JsonObject } from "../types.ts";
import { AdapterError } from "./_adapter.ts";
import { jsonSize } from "./_json_size.ts";
import { mergeFields } from "./_merge_fields.ts";

/** A tool call as far as the wire has named it. */
export interface ChatToolCall {
  /** What the wire numbers it by; any value, not a position. */
  readonly index: string | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** Whether its input is free text, and not JSON. */
  readonly isCustom: boolean;
  /** The arguments' text so far. */
  readonly text: DeltaText;
  /** The arguments, where they came as an object. */
  readonly object: JsonObject | undefined;
  /** Fields beyond the standard ones, such as signatures, which the next turn must send back. */
  readonly extra: Readonly<Record<string, unknown>> | undefined;
}

/** What one fragment adds, and to which call. */
export interface ChatToolCallFragment {
  readonly call: ChatToolCall;
  /** Whether the fragment began the call. */
  readonly isNew: boolean;
  /** More of the arguments' text; never empty. */
  readonly delta: string | undefined;
  /** How much else of the call is kept since, in UTF-16 code units. */
  readonly kept: number;
}

interface MutableCall extends ChatToolCall {
  index: string | undefined;
  id: string | undefined;
  name: string | undefined;
  isCustom: boolean;
  object: JsonObject | undefined;
  extra: Record<string, unknown> | undefined;
}

/** A fragment, read. */
interface Entry {
  readonly index: string | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly isCustom: boolean;
  readonly delta: string | undefined;
  readonly object: JsonObject | undefined;
  readonly extra: Readonly<Record<string, unknown>> | undefined;
}

const KNOWN_FIELDS = new Set(["index", "id", "function", "custom"]);
const KNOWN_TYPES: readonly unknown[] = ["function", "custom", "", null];

/**
 * Finds out which call each fragment belongs to, whatever the wire leaves out or repeats. Where two
 * calls could be meant, it refuses: the wrong arguments would run.
 */
export class ChatToolCalls {
  /** In the order in which they first appeared. */
  readonly all: ChatToolCall[] = [];
  /** The newest call at each index. */
  readonly #byIndex = new Map<string, MutableCall>();
  readonly #byId = new Map<string, MutableCall>();
  /** The call named by the last delta that named exactly one. */
  #lastNamed: MutableCall | undefined;

  /**
   * Takes the `tool_calls` of one delta.
   *
   * @throws {AdapterError} A fragment fits no call, or more than one.
   */
  push(entries: readonly unknown[], take: (fragment: ChatToolCallFragment) => void): void {
    const named = new Set<MutableCall>();
    for (const value of entries) {
      const entry = readEntry(value);
      const isBare = entry.index === undefined && entry.id === undefined &&
        entry.name === undefined;
      const found = isBare ? this.#findBare(entry, named) : this.#find(entry);
      if (!found && (isBare || isNothing(entry))) continue;
      const call = found ?? this.#add(entry);
      if (!isBare) named.add(call);
      const before = call.object;
      const kept = this.#fill(call, entry);
      const delta = this.#append(call, entry);
      const given = call.object === before ? 0 : jsonSize(call.object);
      take({ call, isNew: !found, delta, kept: kept + given });
    }
    if (named.size > 0) this.#lastNamed = named.size === 1 ? [...named][0] : undefined;
  }

  /** The call of a fragment that names none; nothing for a fragment that adds nothing. */
  #findBare(entry: Entry, named: ReadonlySet<MutableCall>): MutableCall | undefined {
    if (entry.delta === undefined && entry.object === undefined && !entry.extra) return undefined;
    const call = this.#lastNamed ?? (named.size === 1 ? [...named][0] : undefined);
    const isSure = call !== undefined && [...named].every((other) => other === call);
    if (!isSure) {
      throw new AdapterError(
        "ambiguous_tool_call",
        this.all.length === 0
          ? "Expected a tool call before a fragment without index and id"
          : "Expected a fragment of one of several tool calls to have an index or an id",
      );
    }
    return call;
  }

  /** The call that a fragment names; nothing where it begins one. */
  #find(entry: Entry): MutableCall | undefined {
    const { index, id, name } = entry;
    const known = id === undefined ? undefined : this.#byId.get(id);
    if (known) {
      if (index !== undefined && known.index !== undefined && known.index !== index) {
        throw ambiguous(`Tool call id ${quote(id as string)} came at two indexes`);
      }
      this.#checkName(known, name);
      return known;
    }
    if (index === undefined) {
      // A call that has no name of its own yet, or is known by nothing else.
      if (id !== undefined) return undefined;
      return this.#findByName(name as string);
    }
    const newest = this.#byIndex.get(index);
    if (!newest || id === undefined || newest.id === undefined) {
      if (newest && name !== undefined && newest.name !== undefined && name !== newest.name) {
        // The name alone tells them apart, where the first one is whole.
        if (isWhole(newest)) return undefined;
        this.#checkName(newest, name);
      }
      return newest;
    }
    // Another id at the same index: with a name it is another call. Without one it is the same call,
    // renumbered by the server, as long as its arguments have not ended.
    if (name !== undefined) return undefined;
    if (isWhole(newest) && (entry.delta?.trim() || entry.object)) {
      throw ambiguous(`Tool call id ${quote(id)} came without a name, after a call that was whole`);
    }
    return newest;
  }

  /** A call known by its name alone, told from a repetition of the same one. */
  #findByName(name: string): MutableCall | undefined {
    const last = this.all.at(-1) as MutableCall | undefined;
    if (!last || last.name !== name || last.index !== undefined || last.id !== undefined) {
      return undefined;
    }
    if (isWhole(last) && !isEmptyObject(last)) return undefined;
    throw ambiguous(`Tool ${quote(name)} was named twice without index and id`);
  }

  #checkName(call: MutableCall, name: string | undefined): void {
    if (name === undefined || call.name === undefined || name === call.name) return;
    throw ambiguous(
      `Expected a fragment of tool ${quote(call.name)}, received tool ${quote(name)}`,
    );
  }

  #add(entry: Entry): MutableCall {
    const call: MutableCall = {
      index: entry.index,
      id: undefined,
      name: undefined,
      isCustom: entry.isCustom,
      text: new DeltaText(),
      object: undefined,
      extra: undefined,
    };
    this.all.push(call);
    return call;
  }

  /** Takes what names a call, and what is kept of it; says how much that is. */
  #fill(call: MutableCall, entry: Entry): number {
    if (entry.index !== undefined) {
      call.index ??= entry.index;
      this.#byIndex.set(entry.index, call);
    }
    if (entry.id !== undefined) {
      call.id ??= entry.id;
      // A server that renumbers a call may come back to any of its numbers.
      this.#byId.set(entry.id, call);
    }
    call.name ??= entry.name;
    call.isCustom ||= entry.isCustom;
    return entry.extra ? mergeFields(call.extra ??= {}, entry.extra) : 0;
  }

  #append(call: MutableCall, entry: Entry): string | undefined {
    const { delta, object } = entry;
    if (object) {
      const isRepeat = call.object && sameJson(call.object, object, 64);
      if (!isRepeat && (call.object || !call.text.isEmpty)) throw twoValues(call);
      call.object ??= object;
    }
    if (delta === undefined) return undefined;
    if (call.object) {
      if (delta.trim() !== "") throw twoValues(call);
      return undefined;
    }
    call.text.append(delta);
    return delta;
  }
}

function ambiguous(message: string): AdapterError {
  return new AdapterError("ambiguous_tool_call", message);
}

function twoValues(call: ChatToolCall): AdapterError {
  return new AdapterError(
    "invalid_tool_arguments",
    `Expected one value as the arguments of tool ${quote(call.name ?? "")}, received another`,
  );
}

/** Whether nothing can be missing of a call's arguments. Only the rare fragments ask. */
function isWhole(call: ChatToolCall): boolean {
  if (call.object) return true;
  try {
    return isPlainObject(JSON.parse(call.text.text()));
  } catch {
    return false;
  }
}

function isEmptyObject(call: ChatToolCall): boolean {
  return Object.keys(call.object ?? JSON.parse(call.text.text())).length === 0;
}

function malformed(message: string): AdapterError {
  return new AdapterError("malformed_frame", message);
}

function readEntry(value: unknown): Entry {
  if (!isPlainObject(value)) throw malformed("Expected each tool call to be an object");
  const { index, id, type } = value;
  const isCustom = type === "custom" || isPlainObject(value.custom);
  const body = (isCustom ? value.custom : value.function) ?? {};
  if (!isPlainObject(body)) throw malformed("Expected a tool call's function to be an object");
  const content = isCustom ? body.input : body.arguments;
  if (
    content !== undefined && content !== null && typeof content !== "string" &&
    (isCustom || !isPlainObject(content))
  ) {
    throw new AdapterError(
      "invalid_tool_arguments",
      "Expected a tool call's arguments to be a string or an object",
    );
  }
  const extras = Object.keys(value).filter((key) =>
    !KNOWN_FIELDS.has(key) && value[key] !== null &&
    !(key === "type" && KNOWN_TYPES.includes(type))
  );
  return {
    index: readKey(index, "index"),
    id: readKey(id, "id"),
    name: readName(body.name),
    isCustom,
    delta: typeof content === "string" && content !== "" ? content : undefined,
    object: isPlainObject(content) ? content as JsonObject : undefined,
    extra: extras.length > 0
      ? Object.fromEntries(extras.map((key) => [key, value[key]]))
      : undefined,
  };
}

/** Whether a fragment says nothing but where it would belong: some servers fill in every field. */
function isNothing({ id, name, isCustom, delta, object, extra }: Entry): boolean {
  return id === undefined && name === undefined && !isCustom && delta === undefined &&
    object === undefined && extra === undefined;
}

/** An index or id, of either type; empty and `null` are none. */
function readKey(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string" || Number.isFinite(value)) return String(value);
  throw malformed(`Expected a tool call's ${field} to be a string or a number`);
}

function readName(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return value;
  throw malformed("Expected a tool call's name to be a string");
}
