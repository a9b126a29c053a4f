/**
 * JSON-ness, equality and copies of values that nobody vouches for: any nesting, any cycle, any
 * realm. Nothing here recurses further than it was told to.
 *
 * @module
 */

import { clip } from "./_quote.ts";
import { setMember } from "./_set_member.ts";

/** How many UTF-16 code units around a difference a debugger gets to see. */
const EXCERPT_LENGTH = 40;

/** How long a path in a message may become, in UTF-16 code units. */
const PATH_LENGTH = 200;

/** Where two values part, and what stands there. */
export interface Difference {
  readonly path: string;
  readonly offset?: number;
  readonly expected: string;
  readonly received: string;
}

/** What became of copying a value. */
export interface JsonCopy {
  /** The copy; worth nothing where the value nests too deep or is not JSON. */
  readonly value: unknown;
  /** Whether the value nests deeper than allowed, or contains itself. */
  readonly tooDeep: boolean;
  /** Where the first part that JSON cannot express is, if there is one. */
  readonly notJson?: string;
  /** Whether an object stands in more than one place of the value. */
  readonly shared: boolean;
}

/** An array or object that is being walked: its members, and which of them is next. */
interface Frame {
  readonly source: object;
  /** `undefined` for an array that is walked by its indices. */
  keys: readonly string[] | undefined;
  next: number;
}

/** A walk that copies: what has been copied, and how deep that nests. */
interface CopyFrame extends Frame {
  readonly copy: object;
  height: number;
}

/** Whether a value is an array of any realm, but not of a subclass: their prototypes are no arrays. */
function isPlainArray(value: unknown): value is unknown[] {
  return Array.isArray(value) && Array.isArray(Object.getPrototypeOf(value));
}

/** Whether a value is a plain object of any realm: what `{}` and `JSON.parse` make. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ||
    // Of another realm: only an Object.prototype has no prototype and this method of its own.
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf"));
}

/** Whether a value has a key that JSON would write. */
function hasKey(value: object, key: string): boolean {
  return Object.prototype.propertyIsEnumerable.call(value, key);
}

function keysOf(value: object): readonly string[] | undefined {
  return Array.isArray(value) ? undefined : Object.keys(value);
}

function keyAt(frame: Frame, index: number): string | number {
  return frame.keys ? frame.keys[index] as string : index;
}

function sizeOf(frame: Frame): number {
  return frame.keys ? frame.keys.length : (frame.source as unknown[]).length;
}

function memberOf(source: object, key: string | number): unknown {
  return (source as Record<string | number, unknown>)[key];
}

/** Writes the way from `root` to the member that each frame is at, cut to a bound. */
function pathOf(root: string, frames: readonly Frame[], last?: string): string {
  let path = root;
  const add = (key: string | number): void => {
    path += typeof key === "number"
      ? `[${key}]`
      : /^[A-Za-z_$][\w$]{0,63}$/.test(key)
      ? `.${key}`
      : `[${JSON.stringify(clip(key))}]`;
  };
  for (const frame of frames) {
    if (path.length > PATH_LENGTH) return `${path.slice(0, PATH_LENGTH)}…`;
    add(keyAt(frame, frame.next - 1));
  }
  if (last !== undefined) add(last);
  return path;
}

/** Names the kind of a value, for a message that must not show the value. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  if (Array.isArray(value)) return "an array";
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return "bytes";
  return isPlainObject(value) ? "an object" : "a class instance";
}

function excerpt(value: unknown, offset: number): string {
  if (typeof value === "string") {
    const start = Math.max(0, offset - EXCERPT_LENGTH / 2);
    return value.slice(start, start + EXCERPT_LENGTH);
  }
  return typeof value === "number" || typeof value === "boolean" ? String(value) : kindOf(value);
}

/** Where two texts part, in UTF-16 code units. */
function offsetOfDifference(expected: string, received: string): number {
  let offset = 0;
  while (offset < expected.length && expected[offset] === received[offset]) offset++;
  return offset;
}

/** Describes how two values differ that are known to. */
export function differenceOf(path: string, expected: unknown, received: unknown): Difference {
  if (typeof expected === "string" && typeof received === "string") {
    const offset = offsetOfDifference(expected, received);
    return {
      path,
      offset,
      expected: excerpt(expected, offset),
      received: excerpt(received, offset),
    };
  }
  return { path, expected: excerpt(expected, 0), received: excerpt(received, 0) };
}

/**
 * Whether two values are the same JSON, as far as one quick walk down to `depth` levels can say:
 * `true` is sure, `false` is not. `expected` must be JSON; nothing is known of `received`.
 */
export function sameJson(expected: unknown, received: unknown, depth: number): boolean {
  // With enumerable keys on the built-in prototypes, `for` … `in` would see more than an object has.
  for (const _ in []) return false;
  return isSame(expected, received, depth);
}

/**
 * One walk that checks JSON-ness and equality together, without an array of keys: a quarter of what
 * `JSON.parse` took to make the value, where comparing `Object.keys` took half, and sorting them
 * more than twice.
 */
function isSame(expected: unknown, received: unknown, depth: number): boolean {
  if (
    depth === 0 || typeof expected !== "object" || typeof received !== "object" ||
    expected === null || received === null
  ) return false;
  if (Array.isArray(expected)) {
    if (!isPlainArray(received) || received.length !== expected.length) return false;
    for (let i = 0; i < expected.length; i++) {
      const value = expected[i];
      const other = received[i];
      if (value === other ? !isJsonLeaf(value) : !isSame(value, other, depth - 1)) return false;
    }
    return true;
  }
  // What JSON.parse makes in this realm. Other plain objects are for the slow way.
  if (Object.getPrototypeOf(received) !== Object.prototype) return false;
  // Every key of `received` is one of `expected` with the same value, and there are as many: so
  // they are the same keys. A key that `expected` lacks reads as `undefined` or as a method of every
  // object, which are no leaves; `__proto__` alone can be read without being there.
  let missing = 0;
  for (const key in received) {
    if (key === "__proto__") return false;
    missing--;
    const value = (expected as Record<string, unknown>)[key];
    const other = (received as Record<string, unknown>)[key];
    if (value === other ? !isJsonLeaf(value) : !isSame(value, other, depth - 1)) return false;
  }
  for (const _ in expected) missing++;
  return missing === 0;
}

/**
 * Finds the first place where two values are not the same JSON. `expected` must be JSON; nothing is
 * known of `received`. Exact at any depth, linear even where objects are shared.
 */
export function firstDifference(
  root: string,
  expected: unknown,
  received: unknown,
): Difference | undefined {
  const seen = new Map<object, Set<unknown>>();
  const frames: Array<Frame & { readonly received: object }> = [];
  for (;;) {
    if (typeof expected !== "object" || expected === null) {
      if (expected !== received) return differenceOf(pathOf(root, frames), expected, received);
    } else {
      const isSameKind = Array.isArray(expected)
        ? isPlainArray(received) && received.length === expected.length
        : isPlainObject(received);
      if (!isSameKind) return differenceOf(pathOf(root, frames), expected, received);
      const pairs = seen.get(expected) ?? new Set();
      if (!pairs.has(received)) {
        seen.set(expected, pairs.add(received));
        const source = expected;
        const other = received as object;
        const keys = keysOf(source);
        if (keys) {
          const key = keys.find((key) => !hasKey(other, key)) ??
            Object.keys(other).find((key) => !hasKey(source, key));
          if (key !== undefined) {
            return differenceOf(
              pathOf(root, frames, key),
              hasKey(source, key) ? memberOf(source, key) : undefined,
              hasKey(other, key) ? memberOf(other, key) : undefined,
            );
          }
        }
        frames.push({ source, received: other, keys, next: 0 });
      }
    }
    let frame = frames.at(-1);
    while (frame && frame.next === sizeOf(frame)) {
      frames.pop();
      frame = frames.at(-1);
    }
    if (!frame) return undefined;
    const key = keyAt(frame, frame.next++);
    expected = memberOf(frame.source, key);
    received = memberOf(frame.received, key);
  }
}

/**
 * Copies a value that may be anything. What stands in several places is copied once, so that not
 * even a value that shares its way to 2^1000 leaves takes long.
 */
export function copyJson(root: string, value: unknown, maxDepth: number): JsonCopy {
  const finished = new Map<object, { readonly copy: object; readonly height: number }>();
  const open = new Set<object>();
  const frames: CopyFrame[] = [];
  let shared = false;
  let notJson: string | undefined;
  for (;;) {
    let copy: unknown = value;
    let height = 0;
    let entered = false;
    if (isPlainArray(value) || isPlainObject(value)) {
      const known = finished.get(value);
      const tooDeep = frames.length + (known ? known.height : 1) > maxDepth;
      if (tooDeep || open.has(value)) return { value: undefined, tooDeep: true, shared };
      if (known) {
        shared = true;
        ({ copy, height } = known);
      } else {
        entered = true;
        open.add(value);
        const target = Array.isArray(value) ? [] : {};
        frames.push({ source: value, keys: keysOf(value), next: 0, copy: target, height: 0 });
      }
    } else if (!isJsonLeaf(value)) {
      notJson ??= pathOf(root, frames);
      const frame = frames.at(-1);
      if (frame && !frame.keys && !hasKey(frame.source, String(frame.next - 1))) {
        // A hole: look on by the keys that are there, since an array can claim 2^32 holes.
        frame.keys = Object.keys(frame.source).filter((key) => /^\d+$/.test(key));
        frame.next = 0;
        entered = true;
      }
    }
    let frame = frames.at(-1);
    if (frame && !entered) put(frame, copy, height);
    while (frame && frame.next === sizeOf(frame)) {
      frames.pop();
      open.delete(frame.source);
      copy = frame.copy;
      height = frame.height + 1;
      finished.set(frame.source, { copy: frame.copy, height });
      frame = frames.at(-1);
      if (frame) put(frame, copy, height);
    }
    if (!frame) return { value: copy, tooDeep: false, ...(notJson && { notJson }), shared };
    value = memberOf(frame.source, keyAt(frame, frame.next++));
  }
}

/** Whether a value that holds no others is JSON. */
function isJsonLeaf(value: unknown): boolean {
  return value === null || typeof value === "string" || typeof value === "boolean" ||
    Number.isFinite(value);
}

/** Puts a finished copy where its original stands. */
function put(frame: CopyFrame, value: unknown, height: number): void {
  frame.height = Math.max(frame.height, height);
  const key = keyAt(frame, frame.next - 1);
  if (key in frame.copy) {
    // Inherited.
    setMember(frame.copy, key, value);
  } else {
    (frame.copy as Record<string | number, unknown>)[key] = value;
  }
}
