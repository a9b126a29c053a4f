import { isPlainObject } from "../_json.ts";
import { quote } from "../_quote.ts";
import { setMember } from "../_set_member.ts";
import type { JsonObject } from "../types.ts";
import { AdapterError } from "./_adapter.ts";

type Fields = Readonly<Record<string, unknown>>;
type Value = null | boolean | number | string;

/** A step of a path: `.name`, `[0]`, `['name']` or `["name"]`. */
const STEP = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/suy;

/** What is escaped in a name between quotes, but for a character that stands for itself. */
const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** The arguments of a call that come value by value, each with the path where it belongs. */
export class PartialArguments {
  /** The arguments so far. */
  readonly value: JsonObject = {};

  /**
   * Takes one value.
   *
   * @returns How much longer the arguments are with it, as JSON text without escapes, in UTF-16 code
   * units.
   * @throws {AdapterError} It has no place, or contradicts what came before.
   */
  add(part: unknown): number {
    if (!isPlainObject(part)) throw invalid("Expected a piece of arguments to be an object");
    const { jsonPath } = part;
    if (typeof jsonPath !== "string") throw invalid("Expected a piece of arguments to have a path");
    const value = valueOf(part);
    if (value === undefined) return 0; // More will follow.
    const steps = stepsOf(jsonPath);
    let parent: object = this.value;
    let size = typeof value === "string" ? value.length : 0;
    for (const [at, step] of steps.entries()) {
      if (Array.isArray(parent) !== (typeof step === "number")) throw conflict(jsonPath);
      const before = memberOf(parent, step);
      const next = steps[at + 1];
      // A name or a place in a list, and what a value takes at least.
      if (before === undefined) size += String(step).length + 4;
      if (next === undefined) {
        put(parent, step, joined(before, value, jsonPath));
      } else {
        const child = before === undefined ? typeof next === "number" ? [] : {} : before;
        if (typeof child !== "object" || child === null) throw conflict(jsonPath);
        if (before === undefined) put(parent, step, child);
        parent = child;
      }
    }
    return size;
  }
}

/** The value that a piece has; nothing for one that only says that one will come. */
function valueOf(part: Fields): Value | undefined {
  const { stringValue, numberValue, boolValue } = part;
  const given = [stringValue, numberValue, boolValue].filter((value) =>
    value !== undefined && value !== null
  );
  const isNull = given.length === 0 && Object.hasOwn(part, "nullValue");
  if (isNull) return null;
  const [value] = given;
  const isKnown = typeof value === "string" && value === stringValue ||
    Number.isFinite(value) && value === numberValue ||
    typeof value === "boolean" && value === boolValue;
  if (given.length === 0) return undefined;
  if (given.length > 1 || !isKnown) throw invalid("Expected a piece of arguments to have a value");
  return value as Value;
}

/**
 * Reads a path to one value.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9535}
 */
function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  let at = path.startsWith("$") ? 1 : path.length + 1;
  while (at < path.length) {
    STEP.lastIndex = at;
    const [, name, index, single, double] = STEP.exec(path) ?? [];
    const quoted = single ?? double;
    if (name !== undefined) steps.push(name);
    else if (index !== undefined) steps.push(Number(index));
    else if (quoted !== undefined) steps.push(unescaped(quoted));
    else break;
    at = STEP.lastIndex;
  }
  if (at !== path.length || steps.length === 0) {
    throw invalid(`Expected a path to a value, received ${quote(path)}`);
  }
  return steps;
}

function unescaped(name: string): string {
  return name.replace(
    /\\(?:u([0-9a-f]{4})|(.))/gis,
    (_, code, char) => code ? String.fromCharCode(parseInt(code, 16)) : ESCAPES[char] ?? char,
  );
}

function memberOf(parent: object, step: string | number): unknown {
  return Object.hasOwn(parent, step)
    ? (parent as Record<string | number, unknown>)[step]
    : undefined;
}

/** Sets a member, whatever it is called; in an array it must be there, or be the next. */
function put(parent: object, step: string | number, value: unknown): void {
  if (Array.isArray(parent) && (step as number) > parent.length) {
    throw invalid(`Expected item ${parent.length} of a list of arguments, received item ${step}`);
  }
  setMember(parent, step, value);
}

/** More of a text, or a value that was not there, or is the same. */
function joined(before: unknown, value: Value, path: string): unknown {
  if (before === undefined) return value;
  if (typeof before === "string" && typeof value === "string") return before + value;
  if (before === value) return value;
  throw conflict(path);
}

function conflict(path: string): AdapterError {
  return invalid(`Expected one value as the argument ${quote(path)}, received another`);
}

function invalid(message: string): AdapterError {
  return new AdapterError("invalid_tool_arguments", message);
}
