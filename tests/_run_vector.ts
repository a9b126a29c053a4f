/** Runs vectors anywhere. `vectors/README.md` explains the format. */

import type {
  createStreamEventValidator,
  StreamEvent,
  StreamEventLimits,
  StreamSequenceErrorCode,
  StreamSequenceErrorJson,
} from "../mod.ts";

/** What a vector says of an event that is refused, or of an end that comes too early. */
export interface ExpectedRejection {
  readonly code: StreamSequenceErrorCode;
  readonly eventIndex: number;
  readonly phase?: string;
  readonly contentIndex?: number;
  readonly path?: string;
  readonly offset?: number;
  /** What the detail contains, in this order. */
  readonly words?: readonly string[];
}

/** One stream and what becomes of it. */
export interface Vector {
  readonly name: string;
  readonly kind: "first" | "late" | "order" | "recovery" | "near_miss";
  readonly host?: "javascript";
  readonly limits?: { readonly [Name in keyof StreamEventLimits]?: number };
  readonly limitsRefused?: "wrong_kind" | "out_of_range";
  readonly events: readonly unknown[];
  readonly rejected: readonly ExpectedRejection[];
  readonly end?: "complete" | "truncated";
  readonly partialContent?: readonly unknown[];
}

/** A file of vectors. */
export interface VectorFile {
  readonly code: StreamSequenceErrorCode;
  readonly vectors: readonly Vector[];
}

/** `JSON.parse` of another realm: what it makes has other prototypes than what is made here. */
export type ParseElsewhere = (text: string) => unknown;

/**
 * Runs one vector.
 *
 * @param onRefusal Told of everything that is refused, as the vector says or not.
 * @returns What was not as the vector says; empty where all was.
 */
export function runVector(
  create: typeof createStreamEventValidator,
  vector: Vector,
  parseElsewhere: ParseElsewhere,
  onRefusal: (where: string, error: unknown) => void = () => {},
): string[] {
  const { limits, events } = (vector.host ? revive(vector, parseElsewhere) : vector) as Vector;
  if (vector.limitsRefused !== undefined) {
    const refused = thrownBy(() => create({ limits: limits ?? {} }));
    onRefusal("the limits", refused);
    const expected = vector.limitsRefused === "wrong_kind" ? TypeError : RangeError;
    return refused instanceof expected ? [] : [`the limits: ${refused ?? "were taken"}`];
  }
  const validator = create(limits === undefined ? {} : { limits });
  const failures: string[] = [];
  const state = () => JSON.stringify([validator.phase, validator.partialContent()]);
  const compare = (where: string, act: () => void, expected: ExpectedRejection | undefined) => {
    // What was streamed may be too much to compare after each of thousands of events.
    const before = expected && state();
    const error = thrownBy(act);
    if (error !== undefined) onRefusal(where, error);
    if (expected === undefined) {
      if (error !== undefined) failures.push(`${where}: ${error}`);
      return;
    }
    if (error === undefined) {
      failures.push(`${where}: accepted, should be ${expected.code}`);
      return;
    }
    failures.push(...differences(error, expected).map((difference) => `${where}: ${difference}`));
    if (state() !== before) {
      failures.push(`${where}: the rejection changed ${before} to ${state()}`);
    }
  };

  for (const [index, event] of events.entries()) {
    const expected = vector.rejected.find(({ eventIndex }) => eventIndex === index);
    compare(`event ${index}`, () => validator.accept(event as StreamEvent), expected);
  }
  if (vector.end !== undefined) {
    const expected = vector.rejected.find(({ eventIndex }) => eventIndex === events.length);
    compare("the end", () => validator.end(), expected);
  }
  if (vector.partialContent !== undefined) {
    const expected = JSON.stringify(vector.partialContent);
    const actual = JSON.stringify(validator.partialContent());
    if (actual !== expected) failures.push(`the content: ${actual}, should be ${expected}`);
  }
  return failures;
}

function thrownBy(act: () => void): unknown {
  try {
    act();
    return undefined;
  } catch (error) {
    return error ?? "nothing";
  }
}

function differences(error: unknown, expected: ExpectedRejection): string[] {
  const actual = error as Partial<StreamSequenceErrorJson>;
  if (!(error instanceof Error) || error.name !== "StreamSequenceError") return [`${error}`];
  const failures = (["code", "eventIndex", "phase", "contentIndex", "path", "offset"] as const)
    .filter((field) => field in expected && actual[field] !== expected[field])
    .map((field) => `${field} ${actual[field]}, should be ${expected[field]}`);
  let from = 0;
  for (const word of expected.words ?? []) {
    const at = actual.detail?.indexOf(word, from) ?? -1;
    if (at < 0) failures.push(`detail ${JSON.stringify(actual.detail)}, should have "${word}"`);
    else from = at + word.length;
  }
  return failures;
}

/** Puts what JSON cannot express where `{ "$javascript": … }` stands for it. */
export function revive(value: unknown, parseElsewhere: ParseElsewhere): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const array = value.map((item) => revive(item, parseElsewhere));
    // An assignment would fill a hole with undefined.
    for (const [index, item] of array.entries()) if (item === HOLE) delete array[index];
    return array;
  }
  if (Object.hasOwn(value, "$javascript")) return make(value as Recipe, parseElsewhere);
  const object = {};
  for (const [key, item] of Object.entries(value)) {
    define(object, key, revive(item, parseElsewhere));
  }
  return object;
}

interface Recipe {
  readonly $javascript: string;
  readonly value?: unknown;
  readonly levels?: number;
  readonly length?: number;
  readonly field?: string;
}

const HOLE = Symbol("hole");

class Instance {
  [key: string]: unknown;
}

class NamedLikePlain {
  isPrototypeOf(): boolean {
    return false;
  }
}

class ArraySubclass extends Array {}

function make(
  { $javascript: name, value, levels = 0, length = 0, field = "" }: Recipe,
  parseElsewhere: ParseElsewhere,
): unknown {
  const inner = revive(value, parseElsewhere);
  switch (name) {
    case "undefined":
      return undefined;
    case "hole":
      return HOLE;
    case "holes":
      return new Array(length);
    case "NaN":
      return NaN;
    case "Infinity":
      return Infinity;
    case "-Infinity":
      return -Infinity;
    case "bigint":
      return 1n;
    case "symbol":
      return Symbol("a symbol");
    case "function":
      return withOwn(() => {}, inner ?? {});
    case "function of every object":
      return Object.prototype[field as "toString"];
    case "Date":
      return new Date(0);
    case "Map":
      return new Map();
    case "boxed string":
      return new String("a");
    case "code units":
      return String.fromCharCode(...(value as number[]));
    case "bytes":
      return new Uint8Array(3);
    case "instance":
      return Object.assign(new Instance(), inner);
    case "instance with isPrototypeOf":
      return Object.assign(new NamedLikePlain(), inner);
    case "instance of a class without Object.prototype":
      return Object.assign(Object.create(Object.create(null)), inner);
    case "instance of an array's subclass":
      return ArraySubclass.from(inner as unknown[]);
    case "null prototype":
      return Object.assign(Object.create(null), inner);
    case "other realm":
      return parseElsewhere(JSON.stringify(value));
    case "hidden keys":
      return Object.defineProperty({ ...(inner as object), [Symbol("hidden")]: 1 }, "hidden", {
        value: 1,
        enumerable: false,
      });
    case "hidden key":
      return Object.defineProperty(inner, field, { enumerable: false });
    case "unreadable":
      return Object.defineProperty(inner, field, {
        enumerable: true,
        get() {
          throw new Error("not for you");
        },
      });
    case "cycle": {
      const cycle: Record<string, unknown> = {};
      return Object.assign(cycle, { list: [cycle] });
    }
    case "nested": {
      let nested = inner;
      for (let level = 0; level < levels; level++) nested = { a: nested };
      return nested;
    }
    case "nested text":
      return `${'{"a":'.repeat(levels)}${JSON.stringify(value)}${"}".repeat(levels)}`;
    case "shared": {
      // Twice as many leaves with every level, out of one object a level.
      let shared = inner;
      for (let level = 0; level < levels; level++) shared = { a: shared, b: shared };
      return shared;
    }
    case "shared at two depths":
      return { a: inner, b: { c: inner } };
    default:
      throw new TypeError(`Expected a known value, received "${name}"`);
  }
}

/** Defines, since a function's `name` cannot be assigned to. */
function withOwn(target: object, properties: object): object {
  for (const [key, value] of Object.entries(properties)) define(target, key, value);
  return target;
}

function define(object: object, key: string, value: unknown): void {
  // An assignment to `__proto__` would set the prototype.
  const attributes = { configurable: true, enumerable: true, writable: true };
  Object.defineProperty(object, key, { value, ...attributes });
}
