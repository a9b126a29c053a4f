/**
 * Delta debugging: makes lists, texts and trees of JSON smaller as long as something holds of them.
 * Every function is a function of its arguments alone, so that what was shrunk once stays as it is.
 *
 * @module
 */

import { isPlainObject } from "../_json.ts";
import { setMember } from "../_set_member.ts";

/** A way into a value. */
export type Path = ReadonlyArray<string | number>;

/**
 * What may not happen to a part of a value: `fixed` is neither left out nor changed, though its
 * parts may be; `stays` is not left out; `whole` is not changed.
 */
export type Care = "fixed" | "stays" | "whole" | undefined;

/** How many questions may still be asked. */
export interface Allowance {
  left: number;
}

/** Up to which length every character of a text is tried, in UTF-16 code units. */
const MAX_TRIED_LENGTH = 256;

/** From how many levels on a value is first tried with some of them left out. */
const MANY_LEVELS = 4;

const ABSENT = Symbol("absent");

/** Leaves out as many items as can go. */
export function keepFew<T>(
  items: readonly T[],
  holds: (kept: readonly T[]) => boolean,
  allowance: Allowance,
): readonly T[] {
  const ask = (kept: readonly T[]) => allowance.left-- > 0 && holds(kept);
  if (items.length === 0) return items;
  if (ask([])) return [];
  let kept = items;
  for (let size = Math.ceil(items.length / 2); allowance.left > 0;) {
    let hasChanged = false;
    for (let at = 0; at < kept.length && kept.length > 1 && allowance.left > 0;) {
      const rest = [...kept.slice(0, at), ...kept.slice(at + size)];
      if (rest.length > 0 && ask(rest)) {
        kept = rest;
        hasChanged = true;
      } else at += size;
    }
    if (size === 1 && !hasChanged) break;
    size = Math.max(1, Math.floor(size / 2));
  }
  return kept;
}

/** Makes a text shorter. */
export function shrinkText(
  text: string,
  holds: (text: string) => boolean,
  allowance: Allowance,
): string {
  const ask = (text: string) => allowance.left-- > 0 && holds(text);
  if (text === "") return text;
  for (const shorter of ["", firstCharacter(text)]) {
    if (shorter.length < text.length && ask(shorter)) return shorter;
  }
  let shortest = text;
  const prefix = bisect(text.length, (length) => ask(text.slice(0, length)));
  shortest = shortest.slice(0, prefix);
  const suffix = bisect(shortest.length, (length) => ask(shortest.slice(prefix - length)));
  shortest = shortest.slice(prefix - suffix);
  if (shortest.length > MAX_TRIED_LENGTH) return shortest;
  return keepFew([...shortest], (kept) => holds(kept.join("")), allowance).join("");
}

/** Makes two texts shorter that differ, without what they have in common. */
export function shrinkTexts(
  [one, other]: readonly [string, string],
  holds: (one: string, other: string) => boolean,
  allowance: Allowance,
): readonly [string, string] {
  const ask = (one: string, other: string) => allowance.left-- > 0 && holds(one, other);
  let [left, right] = [one, other];
  const [ownLeft, ownRight] = differingParts(one, other);
  const candidates = [
    ["", ""],
    ["", firstCharacter(ownRight)],
    [firstCharacter(ownLeft), ""],
    [firstCharacter(ownLeft), firstCharacter(ownRight)],
    [ownLeft, ownRight],
  ] as const;
  for (const [first, second] of candidates) {
    if (first.length + second.length >= left.length + right.length) continue;
    if (ask(first, second)) {
      [left, right] = [first, second];
      break;
    }
  }
  left = shrinkText(left, (text) => holds(text, right), allowance);
  right = shrinkText(right, (text) => holds(left, text), allowance);
  return [left, right];
}

/**
 * Makes values smaller: first all together, what they have in common at the same places, then each
 * alone. What is no tree of JSON values is replaced as a whole or not at all.
 */
export function shrinkValues(
  values: readonly unknown[],
  holds: (values: readonly unknown[]) => boolean,
  allowance: Allowance,
  careOf: (path: Path) => Care = () => undefined,
): readonly unknown[] {
  const shrinker = new ValueShrinker(values, holds, allowance, careOf);
  const all = values.map((_, index) => index);
  shrinker.shrink(all);
  if (all.length > 1) { for (const index of all) shrinker.shrink([index]); }
  return shrinker.values;
}

class ValueShrinker {
  values: readonly unknown[];
  readonly #holds: (values: readonly unknown[]) => boolean;
  readonly #allowance: Allowance;
  readonly #careOf: (path: Path) => Care;

  constructor(
    values: readonly unknown[],
    holds: (values: readonly unknown[]) => boolean,
    allowance: Allowance,
    careOf: (path: Path) => Care,
  ) {
    this.values = values;
    this.#holds = holds;
    this.#allowance = allowance;
    this.#careOf = careOf;
  }

  /** Shrinks some of the values in step. */
  shrink(indices: readonly number[]): void {
    let spine: Path = [];
    const areTrees = indices.every((index) => isTree(this.values[index]));
    const open: Array<{ readonly path: Path; readonly isHoisted: boolean }> = [
      { path: [], isHoisted: false },
    ];
    for (let next = 0; next < open.length && this.#allowance.left > 0; next++) {
      const { path, isHoisted } = open[next] as {
        readonly path: Path;
        readonly isHoisted: boolean;
      };
      const care = this.#careOf(path);
      const isChanging = care === undefined || care === "stays";
      if (care === "whole") continue;
      const nodes = indices.map((index) => nodeAt(this.values[index], path));
      const isNeeded = isBegin(path, spine);
      if (isChanging && !isNeeded) {
        const simplest = simplestOf(nodes);
        const isSimplest = nodes.every((node, place) => isAsSimple(node, simplest[place]));
        if (isSimplest || this.#ask(indices, path, simplest)) continue;
      }
      if (!areTrees) continue;
      if (nodes.some(isContainer)) {
        // What can be lifted out of a value was lifted at its top.
        if (isChanging && !isHoisted) {
          this.#hoist(indices, path);
          spine = this.#cut(indices, path);
        }
        if (!isNeeded || nodes.some((node) => keysOf(node).length > 1)) {
          this.#leaveOut(indices, path);
        }
        for (const key of this.#keysAt(indices, path)) {
          open.push({ path: [...path, key], isHoisted: isHoisted || isChanging });
        }
      } else if (isChanging) this.#shrinkTexts(indices, path, nodes);
    }
  }

  #ask(indices: readonly number[], path: Path, nodes: readonly unknown[]): boolean {
    if (this.#allowance.left-- <= 0) return false;
    return this.#try(indices, path, nodes);
  }

  #try(indices: readonly number[], path: Path, nodes: readonly unknown[]): boolean {
    const next = [...this.values];
    indices.forEach((index, place) => {
      if (nodes[place] !== ABSENT) next[index] = withNode(next[index], path, nodes[place]);
    });
    if (!this.#holds(next)) return false;
    this.values = next;
    return true;
  }

  #nodesAt(indices: readonly number[], path: Path): unknown[] {
    return indices.map((index) => nodeAt(this.values[index], path));
  }

  #keysAt(indices: readonly number[], path: Path): Array<string | number> {
    return [...new Set(this.#nodesAt(indices, path).flatMap(keysOf))];
  }

  /** Leaves out members, at the same places of all. */
  #leaveOut(indices: readonly number[], path: Path): void {
    const nodes = this.#nodesAt(indices, path);
    const keys = [...new Set(nodes.flatMap(keysOf))];
    const canGo: Array<string | number> = [];
    const stays: Array<string | number> = [];
    for (const key of keys) {
      const care = this.#careOf([...path, key]);
      (care === "fixed" || care === "stays" ? stays : canGo).push(key);
    }
    keepFew(canGo, (kept) => {
      const all = new Set([...stays, ...kept]);
      return this.#try(indices, path, nodes.map((node) => withKeys(node, all)));
    }, this.#allowance);
  }

  /** Puts what is deep inside in the place of what it is in, where there are many levels. */
  #hoist(indices: readonly number[], path: Path): void {
    const nodes = this.#nodesAt(indices, path);
    const [deepest] = nodes.map(deepestPath).sort((one, other) => other.length - one.length);
    if (!deepest || deepest.length < MANY_LEVELS) return;
    const levels = deepest.length;
    const hoisted = (depth: number) => nodes.map((node) => nodeAt(node, deepest.slice(0, depth)));
    bisect(levels, (left) => this.#ask(indices, path, hoisted(levels - left)));
  }

  /** Cuts what nests deepest where it can be cut, and tells what of it is needed. */
  #cut(indices: readonly number[], path: Path): Path {
    const nodes = this.#nodesAt(indices, path);
    const [deepest] = nodes.map(deepestPath).sort((one, other) => other.length - one.length);
    if (!deepest || deepest.length < MANY_LEVELS) return [];
    const wayTo = (depth: number) => [...path, ...deepest.slice(0, depth)];
    const depth = bisect(deepest.length, (depth) => {
      const way = wayTo(depth);
      return this.#ask(indices, way, simplestOf(this.#nodesAt(indices, way)));
    });
    return wayTo(depth - 1);
  }

  #shrinkTexts(indices: readonly number[], path: Path, nodes: readonly unknown[]): void {
    const texts = [...new Set(nodes.filter((node) => typeof node === "string"))] as string[];
    const withTexts = (change: ReadonlyMap<unknown, string>) =>
      this.#try(indices, path, nodes.map((node) => change.has(node) ? change.get(node) : node));
    const [one, other] = texts;
    if (one === undefined || texts.length > 2) return;
    if (other === undefined) {
      shrinkText(one, (text) => withTexts(new Map([[one, text]])), this.#allowance);
    } else {
      shrinkTexts(
        [one, other],
        (left, right) => withTexts(new Map([[one, left], [other, right]])),
        this.#allowance,
      );
    }
  }
}

/** Whether a path is on the way to what another one leads to. */
function isBegin(path: Path, whole: Path): boolean {
  return path.length > 0 && path.length <= whole.length &&
    path.every((key, level) => key === whole[level]);
}

/** Finds the least number from 1 on for which something holds, where it holds for `most`. */
function bisect(most: number, holds: (count: number) => boolean): number {
  let [fails, works] = [0, most];
  while (works - fails > 1) {
    const middle = Math.floor((fails + works) / 2);
    if (holds(middle)) works = middle;
    else fails = middle;
  }
  return works;
}

function firstCharacter(text: string): string {
  const code = text.codePointAt(0);
  return code === undefined ? "" : String.fromCodePoint(code);
}

/** What two texts have of their own between what they begin and end with alike. */
function differingParts(one: string, other: string): [string, string] {
  const shorter = Math.min(one.length, other.length);
  let begin = 0;
  while (begin < shorter && one.charCodeAt(begin) === other.charCodeAt(begin)) begin++;
  let end = 0;
  while (
    end < shorter - begin &&
    one.charCodeAt(one.length - 1 - end) === other.charCodeAt(other.length - 1 - end)
  ) end++;
  // A pair of surrogates is not cut.
  if (isCut(one, begin) || isCut(other, begin)) begin--;
  if (isCut(one, one.length - end) || isCut(other, other.length - end)) end--;
  return [one.slice(begin, one.length - end), other.slice(begin, other.length - end)];
}

function isCut(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff;
}

/** The simplest values of the same kinds; different numbers stay different. */
function simplestOf(nodes: readonly unknown[]): unknown[] {
  const numbers = [...new Set(nodes.filter((node) => typeof node === "number"))];
  return nodes.map((node) => {
    if (typeof node === "string") return "";
    if (typeof node === "number") {
      return Number.isFinite(node) ? Math.max(0, numbers.indexOf(node)) : node;
    }
    if (isPlainObject(node)) return {};
    return isDenseArray(node) ? [] : node;
  });
}

function isAsSimple(node: unknown, simplest: unknown): boolean {
  return isContainer(node) ? keysOf(node).length === 0 : node === simplest;
}

/** Whether a value is an array, and of no subclass. */
export function isPlainArray(value: unknown): value is unknown[] {
  return Array.isArray(value) && Array.isArray(Object.getPrototypeOf(value));
}

/** Whether a value is an array without holes, and of no subclass. */
export function isDenseArray(value: unknown): value is unknown[] {
  return isPlainArray(value) && Object.keys(value).length === value.length;
}

export function isContainer(value: unknown): value is object {
  return isPlainObject(value) || isDenseArray(value);
}

function keysOf(value: unknown): Array<string | number> {
  if (isDenseArray(value)) return [...value.keys()];
  return isPlainObject(value) ? Object.keys(value) : [];
}

/** Whether no object stands in a value twice. */
function isTree(value: unknown): boolean {
  const seen = new Set<object>();
  const open = [value];
  while (open.length > 0) {
    const node = open.pop();
    if (!isContainer(node)) continue;
    if (seen.has(node)) return false;
    seen.add(node);
    for (const member of Object.values(node)) open.push(member);
  }
  return true;
}

function nodeAt(value: unknown, path: Path): unknown {
  let node = value;
  for (const key of path) {
    if (!isContainer(node) || !Object.hasOwn(node, key)) return ABSENT;
    node = (node as Record<string | number, unknown>)[key];
  }
  return node;
}

/** The way to what is deepest in a tree. */
function deepestPath(value: unknown): Path {
  interface Step {
    readonly parent: Step | undefined;
    readonly key: string | number;
    readonly depth: number;
  }
  let deepest: Step | undefined;
  const open: Array<readonly [unknown, Step | undefined]> = [[value, undefined]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [node, step] = next;
    if (step && step.depth > (deepest?.depth ?? 0)) deepest = step;
    const depth = (step?.depth ?? 0) + 1;
    for (const key of keysOf(node)) {
      open.push([(node as Record<string | number, unknown>)[key], { parent: step, key, depth }]);
    }
  }
  const path: Array<string | number> = [];
  for (let step = deepest; step; step = step.parent) path.unshift(step.key);
  return path;
}

function withNode(value: unknown, path: Path, node: unknown): unknown {
  const parents: object[] = [];
  let parent = value;
  for (const key of path) {
    if (!isContainer(parent) || !Object.hasOwn(parent, key)) return value;
    parents.push(parent);
    parent = (parent as Record<string | number, unknown>)[key];
  }
  let changed = node;
  for (let level = path.length - 1; level >= 0; level--) {
    const copy = copyOf(parents[level] as object);
    setMember(copy, path[level] as string | number, changed);
    changed = copy;
  }
  return changed;
}

function withKeys(node: unknown, keys: ReadonlySet<string | number>): unknown {
  if (isDenseArray(node)) return node.filter((_, index) => keys.has(index));
  if (!isPlainObject(node)) return node;
  const copy = {};
  for (const key of Object.keys(node)) if (keys.has(key)) setMember(copy, key, node[key]);
  return copy;
}

function copyOf(value: object): object {
  if (Array.isArray(value)) return [...value];
  const copy = {};
  for (const [key, member] of Object.entries(value)) setMember(copy, key, member);
  return copy;
}
