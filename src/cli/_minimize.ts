import { firstDifference, isPlainObject } from "../_json.ts";
import { setMember } from "../_set_member.ts";
import { createStreamEventValidator, type StreamEventLimits } from "../stream_event_validator.ts";
import { StreamSequenceError } from "../stream_sequence_error.ts";
import type { AssistantContent, StreamEvent } from "../types.ts";
import { NeutralTexts } from "./_neutral_text.ts";
import {
  type Allowance,
  type Care,
  isDenseArray,
  isPlainArray,
  keepFew,
  type Path,
  shrinkText,
  shrinkTexts,
  shrinkValues,
} from "./_shrink.ts";

/** Options of {@linkcode minimizeStream}. */
export interface MinimizeOptions {
  /**
   * Whether what is left of the texts, names, ids and numbers stays as it is, instead of being
   * replaced by neutral ones.
   *
   * @default {false}
   */
  readonly keepText?: boolean;
  /** The limits that the stream is judged by. */
  readonly limits?: StreamEventLimits;
}

/** The smallest stream that was found, and how it fails. */
export interface MinimizedStream {
  readonly events: unknown[];
  readonly error: StreamSequenceError;
}

/** How often everything is gone through again as long as something changes. */
const MAX_ROUNDS = 16;

/** How much one step may read again and again: events, and as many times 64 UTF-16 code units. */
const STEP_WORK = 4_000_000;
const CODE_UNITS = 64;
const MIN_QUESTIONS = 100;
const MAX_QUESTIONS = 5_000;

/** What a message has for those who read it, though no rule does. */
const MESSAGE_FIELDS: ReadonlySet<unknown> = new Set([
  ...["role", "provider", "model", "usage", "timestamp", "stopReason"],
]);

/** The fields of an event that say what it brings. */
const EVENT_FIELDS: ReadonlyMap<unknown, readonly unknown[]> = new Map([
  ["text_start", ["contentIndex"]],
  ["text_delta", ["contentIndex", "delta"]],
  ["text_end", ["contentIndex", "content"]],
  ["thinking_start", ["contentIndex"]],
  ["thinking_delta", ["contentIndex", "delta"]],
  ["thinking_end", ["contentIndex", "content"]],
  ["tool_call_start", ["contentIndex", "id", "name"]],
  ["tool_call_delta", ["contentIndex", "argumentsDelta"]],
  ["tool_call_end", ["contentIndex", "toolCall"]],
  ["done", ["reason", "message"]],
  ["error", ["reason", "message"]],
]);

/** Words of the code that made an event, rather than content. */
const WORD = /^[A-Za-z_][\w-]{0,39}$/;

type Kind = AssistantContent["type"];
type Fields = Readonly<Record<string, unknown>>;

/** A block that was streamed, without what no rule reads. */
interface Block {
  readonly kind: Kind;
  readonly isOpen: boolean;
  /** Its deltas together. */
  readonly text: string;
  /** Whether there was a delta: an empty one counts where it is a tool call's. */
  readonly isStreamed: boolean;
  /** Of a tool call, like what follows. */
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

/** A block, and what the terminal message has in its place. */
interface Row {
  readonly block?: Block;
  readonly item?: { readonly value: unknown };
  /** Whether the two say the same. */
  readonly isTwin: boolean;
}

/** An event; the content of its message stands in the rows where `hasContent`. */
interface Frame {
  readonly event: unknown;
  readonly hasContent: boolean;
  /** Whether the event stays as it is, since something in it cannot be read. */
  readonly isSealed: boolean;
}

/** A stream that breaks a rule by its last event, or by its end. */
interface Draft {
  readonly isStarted: boolean;
  readonly rows: readonly Row[];
  /** The terminal event before the last event, where there was one. */
  readonly terminal?: Frame;
  /** The event that is refused; none where the stream is cut off. */
  readonly last?: Frame;
  /** How far its `contentIndex` is from the position behind the closed blocks, where that moves. */
  readonly indexOffset?: number;
}

/**
 * Finds the smallest stream that breaks the same rule by the same type of event in the same way: the
 * error's detail is the same but for numbers, names and places, and where it compares lengths or
 * positions, the same side has more.
 *
 * First whole blocks go, with their places in the message, and the indices close up. Then the texts
 * and arguments of the blocks that are left, and what the offending event has that the failure does
 * not need. Texts that have to differ keep a character of the difference. A terminal message keeps
 * what readers of a wire ask of it.
 *
 * Then what is left of texts is replaced by neutral ones of the same length and shape, the same for
 * the same; tool calls and tools are numbered, token counts are 0. JSON stays JSON of the same
 * structure. Event types, reasons, names of fields and what JSON cannot express stay as they are.
 *
 * Minimizing the result changes nothing.
 *
 * @throws {TypeError} The events break no rule.
 */
export function minimizeStream(
  events: readonly unknown[],
  options: MinimizeOptions = {},
): MinimizedStream {
  const { keepText = false, limits = {} } = options;
  const error = violationOf(events, limits);
  if (!error) {
    throw new TypeError(
      `Expected events that break a rule, received ${events.length} that break none`,
    );
  }
  const isEnd = error.code === "truncated";
  let smallest = isEnd ? [...events] : events.slice(0, error.eventIndex + 1);
  const failure = failureOf(error, smallest);
  let isNeutral = false;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const minimizer = new Minimizer(draftOf(smallest, isEnd), failure, limits);
    minimizer.minimize();
    const { draft, hasChanged } = minimizer;
    const isLast = round === MAX_ROUNDS - 1;
    // Neutral texts may be smaller than the real ones could become: then on from there.
    const becomesNeutral = !keepText && (isLast || !hasChanged);
    smallest = render(becomesNeutral ? neutralOf(draft) : draft);
    if (!hasChanged && (isNeutral || keepText)) break;
    isNeutral = becomesNeutral;
  }
  const proof = violationOf(smallest, limits);
  if (!proof || failureOf(proof, smallest) !== failure) {
    throw new Error(
      `Expected the smaller stream to break the rule "${error.code}" in the same way, ` +
        (proof ? `it breaks "${proof.code}"` : "it breaks none"),
    );
  }
  return { events: smallest, error: proof };
}

/** Judges a stream up to its first violation. */
function violationOf(
  events: readonly unknown[],
  limits: StreamEventLimits,
): StreamSequenceError | undefined {
  const validator = createStreamEventValidator({ limits });
  try {
    for (const event of events) validator.accept(event as StreamEvent);
    validator.end();
    return undefined;
  } catch (error) {
    if (StreamSequenceError.is(error)) return error;
    throw error;
  }
}

/** Writes down how a stream fails, without what may be otherwise in a smaller one. */
function failureOf(error: StreamSequenceError, events: readonly unknown[]): string {
  const detail = error.detail
    .replace(/"(?:[^"\\]|\\.)*"/g, '""')
    .replace(/\barguments[.[].*/s, "arguments")
    .replace(/\bcontent\[\d+\](\.\w+)?.*/s, "content[]$1")
    .replace(/\d+(\.\d+)?(e[+-]\d+)?/g, "0");
  const place = error.code === "truncated" || error.eventIndex === events.length - 1;
  return JSON.stringify([error.code, error.eventType, detail, sideOf(error, events), place]);
}

/** Which side has more where lengths or positions are compared, and what a text lacks to be JSON. */
function sideOf(error: StreamSequenceError, events: readonly unknown[]): unknown {
  const { code, contentIndex = 0, path = "", partialContent = [] } = error;
  const event = events[error.eventIndex] as Fields;
  switch (code) {
    case "unexpected_index":
    case "wrong_index":
      return Math.sign((event.contentIndex as number) - contentIndex);
    case "content_mismatch":
      return Math.sign((event.content as string).length - textOf(partialContent.at(-1)).length);
    case "arguments_not_json":
      return lackOf(lastArgumentsText(events));
    case "arguments_mismatch":
      return missingOf(error);
    case "message_mismatch": {
      const { content } = event.message as { readonly content: readonly unknown[] };
      if (path === "content.length") return Math.sign(content.length - partialContent.length);
      const place = Number(/^content\[(\d+)\]\.(?:text|thinking)$/.exec(path)?.[1]);
      return error.offset === undefined || Number.isNaN(place)
        ? missingOf(error)
        : Math.sign(textOf(content[place]).length - textOf(partialContent[place]).length);
    }
    default:
      return undefined;
  }
}

/** Which side of a comparison was not there; two texts, which alone have an offset, both were. */
function missingOf({ offset, expected, received }: StreamSequenceError): unknown {
  return offset === undefined && [expected === "undefined", received === "undefined"];
}

function textOf(item: unknown): string {
  const { text, thinking } = (item ?? {}) as Fields;
  return [text, thinking].find((value) => typeof value === "string") as string ?? "";
}

/** The deltas of the last tool call, together. */
function lastArgumentsText(events: readonly unknown[]): string {
  const deltas = [];
  for (let index = events.length - 2; index >= 0; index--) {
    const { type, argumentsDelta } = events[index] as Fields;
    if (type !== "tool_call_delta") break;
    deltas.push(argumentsDelta);
  }
  return deltas.reverse().join("");
}

/** What is roughly wrong with a text that is not JSON. */
function lackOf(text: string): "all" | "end" | "something" {
  if (text === "") return "all";
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isString && character === "\\") at++;
    else if (character === '"') isString = !isString;
    else if (!isString && (character === "{" || character === "[")) depth++;
    else if (!isString && (character === "}" || character === "]")) depth--;
  }
  return isString || depth > 0 ? "end" : "something";
}

/** Makes a draft smaller for as long as it fails in the same way. */
class Minimizer {
  draft: Draft;
  /** Whether something became smaller. */
  hasChanged = false;
  readonly #failure: string;
  readonly #limits: StreamEventLimits;

  constructor(draft: Draft, failure: string, limits: StreamEventLimits) {
    this.draft = draft;
    this.#failure = failure;
    this.#limits = limits;
  }

  minimize(): void {
    this.#leaveOutRows();
    this.#emptyRows();
    this.#gatherText();
    this.#shrinkRows();
    this.#shrinkOpenBlock();
    this.#shrinkFrame("terminal");
    this.#shrinkFrame("last");
    this.#fitIndex();
  }

  /** Takes over a smaller draft if it fails in the same way. */
  #try(change: Partial<Draft>): boolean {
    const draft = { ...this.draft, ...change };
    let events: readonly unknown[];
    try {
      events = render(draft);
    } catch (error) {
      // A value that nests too deep to be written as JSON.
      if (error instanceof RangeError) return false;
      throw error;
    }
    const violation = violationOf(events, this.#limits);
    if (!violation || failureOf(violation, events) !== this.#failure) return false;
    this.draft = draft;
    this.hasChanged = true;
    return true;
  }

  #tryRow(index: number, row: Row): boolean {
    return this.#try({ rows: this.draft.rows.with(index, row) });
  }

  /** How often a step may ask: the less, the longer the stream is. */
  #allowance(): Allowance {
    const events = render(this.draft);
    const length = this.draft.rows.reduce((sum, { block }) => sum + (block?.text.length ?? 0), 0);
    const questions = Math.floor(STEP_WORK / (events.length + length / CODE_UNITS + 1));
    return { left: Math.min(MAX_QUESTIONS, Math.max(MIN_QUESTIONS, questions)) };
  }

  #leaveOutRows(): void {
    keepFew(this.draft.rows, (rows) => this.#try({ rows }), this.#allowance());
  }

  #emptyRows(): void {
    const { rows } = this.draft;
    const full = [...rows.keys()].filter((index) => !isEmpty(rows[index] as Row));
    keepFew(full, (kept) => {
      const stays = new Set(kept);
      const isEmptied = new Set(full.filter((index) => !stays.has(index)));
      return this.#try({
        rows: rows.map((row, index) => isEmptied.has(index) ? emptied(row) : row),
      });
    }, this.#allowance());
  }

  /** Puts all that was streamed into the delta that is refused, where it is the sum that counts. */
  #gatherText(): void {
    const { rows, last } = this.draft;
    if (last?.isSealed || !isPlainObject(last?.event)) return;
    const field = last.event.type === "tool_call_delta" ? "argumentsDelta" : "delta";
    const own = last.event[field];
    const open = rows.find(({ block }) => block?.isOpen);
    const text = rows.map(({ block }) => block?.text ?? "").join("");
    if (typeof own !== "string" || !open || text === "") return;
    const event = { ...last.event, [field]: text + own };
    this.#try({ rows: [emptied(open)], last: { ...last, event } });
  }

  /** Makes the blocks and items smaller that could not be emptied. */
  #shrinkRows(): void {
    const allowance = this.#allowance();
    for (const index of this.draft.rows.keys()) {
      if (allowance.left <= 0) return;
      this.#shrinkRow(index, allowance);
    }
  }

  #shrinkRow(index: number, allowance: Allowance): void {
    const row = this.draft.rows[index] as Row;
    const { block, item } = row;
    if (isEmpty(row) && (row.isTwin || !item)) return;
    if (block && item && !row.isTwin) {
      const empty = emptied({ block, isTwin: false });
      const smaller: Row[] = [{ block, isTwin: false }, { item, isTwin: false }];
      if (!isEmptyBlock(block)) smaller.push({ ...empty, item });
      allowance.left -= smaller.length;
      smaller.some((part) => this.#tryRow(index, part));
      if (this.draft.rows[index] !== row) return this.#shrinkRow(index, allowance);
    }
    if (block?.isOpen && block.kind === "tool_call") return;
    if (block?.kind === "tool_call" && block.isStreamed) {
      const unstreamed = { ...block, isStreamed: false, text: "" };
      if (this.#tryRow(index, { ...row, block: unstreamed })) {
        return this.#shrinkRow(index, allowance);
      }
    }
    const values = [block && contentOf(block), row.isTwin ? undefined : item?.value];
    const sides = [0, 1].filter((side) => side === 0 ? block : item && !row.isTwin);
    shrinkValues(
      sides.map((side) => values[side]),
      (smaller) => {
        const content = block ? smaller[0] : undefined;
        const changed = block && blockOf(content, this.draft.rows[index]?.block as Block);
        if (block && !changed) return false;
        const value = row.isTwin ? content : smaller.at(-1);
        return this.#tryRow(index, {
          isTwin: row.isTwin,
          ...(changed && { block: changed }),
          ...(item && { item: { value } }),
        });
      },
      allowance,
      careOfContent,
    );
  }

  /** Makes the open block smaller, in step with the event that would end it. */
  #shrinkOpenBlock(): void {
    const index = this.draft.rows.findIndex(({ block }) => block?.isOpen);
    const row = this.draft.rows[index];
    const block = row?.block;
    if (!block || isEmpty(row)) return;
    const allowance = this.#allowance();
    const { last } = this.draft;
    const event = !last?.isSealed && isPlainObject(last?.event) ? last.event : undefined;
    const withText = (text: string, change?: Fields) =>
      this.#try({
        rows: this.draft.rows.with(index, {
          ...row,
          block: { ...block, text, isStreamed: block.kind === "tool_call" || text !== "" },
        }),
        ...(change && last && { last: { ...last, event: { ...event, ...change } } }),
      });
    if (event?.type === `${block.kind}_end` && typeof event.content === "string") {
      const texts = [block.text, event.content] as const;
      shrinkTexts(texts, (text, content) => withText(text, { content }), allowance);
      return;
    }
    const toolCall = event?.type === "tool_call_end" ? event.toolCall : undefined;
    const spelled = isPlainObject(toolCall) ? spelledBy(block.text) : undefined;
    if (spelled) {
      shrinkValues(
        [spelled.value, (toolCall as Fields).arguments],
        ([value, given]) =>
          withText(JSON.stringify(value), {
            toolCall: { ...(toolCall as Fields), arguments: given },
          }),
        allowance,
      );
      return;
    }
    if (row.item) return;
    shrinkText(block.text, (text) => withText(text), allowance);
  }

  #shrinkFrame(name: "terminal" | "last"): void {
    const frame = this.draft[name];
    if (!frame || frame.isSealed) return;
    const isMoving = this.draft.indexOffset !== undefined;
    shrinkValues(
      [frame.event],
      ([event]) => this.#try({ [name]: { ...frame, event } }),
      this.#allowance(),
      (path) => careOfEvent(frame, path, isMoving && name === "last"),
    );
  }

  /** Lets the offending event be about the block at hand, or the one beside it. */
  #fitIndex(): void {
    const { indexOffset } = this.draft;
    if (indexOffset === undefined || Math.abs(indexOffset) <= 1) return;
    for (const offset of [0, 1, -1]) if (this.#try({ indexOffset: offset })) return;
  }
}

/** Takes a stream apart whose events but the last one are legal. */
function draftOf(events: readonly unknown[], isEnd: boolean): Draft {
  const blocks: Block[] = [];
  let texts: unknown[] = [];
  let isStarted = false;
  let terminal: unknown;
  for (const event of (isEnd ? events : events.slice(0, -1)) as readonly Fields[]) {
    const type = event.type as string;
    const [, kind, step] = /^(text|thinking|tool_call)_(start|delta|end)$/.exec(type) ?? [];
    const open = blocks.at(-1) as Block;
    if (step === "start") {
      const { id, name } = event as { readonly id: string; readonly name: string };
      const call = kind === "tool_call" ? { id, name } : { id: "", name: "" };
      blocks.push({
        kind: kind as Kind,
        isOpen: true,
        text: "",
        isStreamed: false,
        ...call,
        arguments: {},
      });
      texts = [];
    } else if (step === "delta") {
      texts.push(kind === "tool_call" ? event.argumentsDelta : event.delta);
      if (texts.length === 1) blocks[blocks.length - 1] = { ...open, isStreamed: true };
    } else if (step === "end") {
      const { toolCall } = event as { readonly toolCall?: Fields };
      const args = toolCall ? toolCall.arguments : {};
      blocks[blocks.length - 1] = { ...open, isOpen: false, text: texts.join(""), arguments: args };
    } else if (type === "start") isStarted = true;
    else terminal = event;
  }
  const open = blocks.at(-1);
  if (open?.isOpen) blocks[blocks.length - 1] = { ...open, text: texts.join("") };
  const last = isEnd ? undefined : { event: events.at(-1) };
  const isSealed = !isReadable(last?.event);
  const content = contentIn(terminal) ?? (isSealed ? undefined : contentIn(last?.event));
  const index = !isSealed && isPlainObject(last?.event) ? last.event.contentIndex : undefined;
  const isMoving = typeof index === "number" && Number.isInteger(index) && index >= 0;
  const closed = blocks.filter(({ isOpen }) => !isOpen).length;
  return {
    isStarted,
    rows: rowsOf(blocks, content ?? []),
    ...(terminal !== undefined && { terminal: frameOf(terminal, content) }),
    ...(last && {
      last: { ...frameOf(last.event, terminal === undefined ? content : undefined), isSealed },
    }),
    ...(isMoving && { indexOffset: index - closed }),
  };
}

/** The content of a terminal event's message, where it can be taken apart. */
function contentIn(event: unknown): readonly unknown[] | undefined {
  if (!isPlainObject(event) || (event.type !== "done" && event.type !== "error")) return undefined;
  const { message } = event;
  return isPlainObject(message) && isDenseArray(message.content) ? message.content : undefined;
}

function frameOf(event: unknown, content: readonly unknown[] | undefined): Frame {
  const isSealed = false;
  if (!content) return { event, hasContent: false, isSealed };
  const { message, ...rest } = event as { readonly message: Fields };
  return { event: { ...rest, message: { ...message, content: [] } }, hasContent: true, isSealed };
}

/** Whether everything in a value can be read: it has no getter that throws. */
function isReadable(value: unknown): boolean {
  const seen = new Set<unknown>();
  const open = [value];
  try {
    for (let next = 0; next < open.length; next++) {
      const node = open[next];
      if (typeof node !== "object" || node === null || seen.has(node)) continue;
      seen.add(node);
      if (ArrayBuffer.isView(node)) continue;
      for (const member of Object.values(node)) open.push(member);
    }
    return true;
  } catch {
    return false;
  }
}

/** Puts each block beside what the message has for it: those at both ends that are the same first. */
function rowsOf(blocks: readonly Block[], items: readonly unknown[]): Row[] {
  const isSame = (block: Block | undefined, item: unknown) => {
    const content = block && contentOf(block);
    return content !== undefined && firstDifference("", content, item) === undefined;
  };
  const shorter = Math.min(blocks.length, items.length);
  let begin = 0;
  while (begin < shorter && isSame(blocks[begin], items[begin])) begin++;
  let end = 0;
  while (end < shorter - begin && isSame(blocks.at(-1 - end), items.at(-1 - end))) end++;
  const rows: Row[] = [];
  const add = (block: Block | undefined, place: number | undefined) => {
    const hasItem = place !== undefined && place < items.length;
    rows.push({
      isTwin: hasItem && isSame(block, items[place]),
      ...(block && { block }),
      ...(hasItem && { item: { value: items[place] } }),
    });
  };
  const middle = Math.max(blocks.length, items.length) - end;
  for (let place = 0; place < middle; place++) {
    add(
      place < blocks.length - end ? blocks[place] : undefined,
      place < items.length - end ? place : undefined,
    );
  }
  for (let back = end; back > 0; back--) add(blocks.at(-back), items.length - back);
  return rows;
}

/** What a block is in a message; half a tool call is nothing. */
function contentOf({ kind, isOpen, text, id, name, arguments: args }: Block): Fields | undefined {
  if (kind === "text") return { type: kind, text };
  if (kind === "thinking") return { type: kind, thinking: text };
  return isOpen ? undefined : { type: kind, id, name, arguments: args };
}

/** The block that has another content. */
function blockOf(content: unknown, block: Block): Block | undefined {
  const { text, thinking, id, name, arguments: args } = content as Fields;
  const own = block.kind === "text" ? text : thinking;
  if (block.kind !== "tool_call") {
    return typeof own === "string" ? { ...block, text: own, isStreamed: own !== "" } : undefined;
  }
  if (typeof id !== "string" || typeof name !== "string" || !isPlainObject(args)) return undefined;
  if (!block.isStreamed) return { ...block, id, name, arguments: args };
  return { ...block, id, name, arguments: args, text: JSON.stringify(args) };
}

function isEmpty({ block, item, isTwin }: Row): boolean {
  return !block || (item !== undefined && !isTwin) || isEmptyBlock(block);
}

function isEmptyBlock({ isStreamed, arguments: args }: Block): boolean {
  return !isStreamed && Object.keys(args as object).length === 0;
}

/** The same block with nothing in it. */
function emptied(row: Row): Row {
  if (!row.block || (row.item && !row.isTwin)) return row;
  const block = { ...row.block, text: "", isStreamed: false, arguments: {} };
  return { ...row, block, ...(row.item && { item: { value: contentOf(block) } }) };
}

function spelledBy(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Writes the events of a draft. */
function render({ isStarted, rows, terminal, last, indexOffset }: Draft): unknown[] {
  const events: unknown[] = isStarted ? [{ type: "start" }] : [];
  let closed = 0;
  for (const { block } of rows) {
    if (!block) continue;
    const { kind, isOpen, text, isStreamed, id, name, arguments: args } = block;
    const isCall = kind === "tool_call";
    const contentIndex = closed;
    events.push({ type: `${kind}_start`, contentIndex, ...(isCall && { id, name }) });
    if (isStreamed && (isCall || text !== "")) {
      const delta = isCall ? { argumentsDelta: text } : { delta: text };
      events.push({ type: `${kind}_delta`, contentIndex, ...delta });
    }
    if (isOpen) continue;
    const whole = isCall
      ? { toolCall: { type: kind, id, name, arguments: args } }
      : { content: text };
    events.push({ type: `${kind}_end`, contentIndex, ...whole });
    closed++;
  }
  if (terminal) events.push(withContent(terminal, rows));
  if (!last) return events;
  const event = withContent(last, rows);
  events.push(
    indexOffset === undefined || !Object.hasOwn(event as Fields, "contentIndex")
      ? event
      : { ...(event as Fields), contentIndex: Math.max(0, closed + indexOffset) },
  );
  return events;
}

function withContent({ event, hasContent }: Frame, rows: readonly Row[]): unknown {
  if (!hasContent) return event;
  const content = rows.flatMap(({ item }) => item ? [item.value] : []);
  const { message } = event as { readonly message: Fields };
  return { ...(event as Fields), message: { ...message, content } };
}

function careOfContent(path: Path): Care {
  const [field] = path;
  if (path.length === 0 || (path.length === 1 && field === "type")) return "fixed";
  return path.length === 1 && (field === "id" || field === "name") ? "whole" : undefined;
}

/** What an event of its type has stays, so that nothing else becomes wrong with it. */
function careOfEvent({ event, hasContent }: Frame, path: Path, isMoving: boolean): Care {
  if (!isPlainObject(event) || typeof event.type !== "string") return undefined;
  const [field, inner] = path;
  const fields = EVENT_FIELDS.get(event.type) ?? [];
  if (field === undefined) return "fixed";
  if (path.length === 1) {
    const { [field]: value } = event;
    if (field === "type" || field === "reason") return "fixed";
    if (!fields.includes(field)) return field === "contentIndex" && isMoving ? "whole" : undefined;
    const isName = (field === "id" || field === "name") && typeof value === "string";
    return isName || isPlainObject(value) || (field === "contentIndex" && isMoving)
      ? "fixed"
      : "stays";
  }
  if (path.length > 2 || !fields.includes(field)) {
    return field === "message" && inner === "usage" && fields.includes(field) ? "fixed" : undefined;
  }
  if (field === "message") {
    if (inner === "content" && !hasContent) return "stays";
    return inner === "errorMessage"
      ? "stays"
      : inner === "content" || MESSAGE_FIELDS.has(inner)
      ? "fixed"
      : undefined;
  }
  if (field !== "toolCall") return undefined;
  return inner === "arguments"
    ? "stays"
    : ["type", "id", "name"].includes(inner as string)
    ? "fixed"
    : undefined;
}

/** Replaces every text of a draft by a neutral one. */
function neutralOf(draft: Draft): Draft {
  const texts = new NeutralTexts();
  const rows = draft.rows.map((row): Row => {
    const block = row.block && neutralBlock(row.block, texts);
    const value = row.isTwin ? block && contentOf(block) : neutralFields(row.item?.value, texts);
    return {
      isTwin: row.isTwin,
      ...(block && { block }),
      ...(row.item && { item: { value } }),
    };
  });
  const neutralFrame = (frame: Frame): Frame => ({
    ...frame,
    event: frame.isSealed ? frame.event : neutralFields(frame.event, texts),
  });
  return {
    ...draft,
    rows,
    ...(draft.terminal && { terminal: neutralFrame(draft.terminal) }),
    ...(draft.last && { last: neutralFrame(draft.last) }),
  };
}

function neutralBlock(block: Block, texts: NeutralTexts): Block {
  if (block.kind !== "tool_call") return { ...block, text: texts.text(block.text) };
  return {
    ...block,
    id: texts.id(block.id),
    name: texts.name(block.name),
    text: texts.json(block.text),
    arguments: texts.value(block.arguments),
  };
}

/** Replaces the texts of an event, a message, a tool call or an item of a message. */
function neutralFields(value: unknown, texts: NeutralTexts): unknown {
  if (!isPlainObject(value)) return texts.value(value);
  const copy = {};
  for (const [key, member] of Object.entries(value)) {
    setMember(copy, WORD.test(key) ? key : texts.text(key), neutralField(key, member, texts));
  }
  return copy;
}

function neutralField(key: string, value: unknown, texts: NeutralTexts): unknown {
  switch (key) {
    case "type":
      return typeof value === "string" ? value : texts.value(value);
    case "role":
    case "reason":
    case "stopReason":
      return typeof value === "string" && WORD.test(value) ? value : texts.value(value);
    case "contentIndex":
      return typeof value === "number" ? value : texts.value(value);
    case "id":
      return typeof value === "string" ? texts.id(value) : texts.value(value);
    case "name":
      return typeof value === "string" ? texts.name(value) : texts.value(value);
    case "argumentsDelta":
      return typeof value === "string" ? texts.json(value) : texts.value(value);
    case "message":
    case "toolCall":
      return neutralFields(value, texts);
    case "content":
      return isPlainArray(value) ? neutralItems(value, texts) : texts.value(value);
    case "timestamp":
      return typeof value === "number" ? 0 : texts.value(value);
    case "usage":
      return withoutCounts(value, texts);
    default:
      return texts.value(value);
  }
}

/** Replaces the texts of a message's content, which may have holes without end. */
function neutralItems(items: readonly unknown[], texts: NeutralTexts): unknown[] {
  const copy = new Array(items.length);
  for (const [place, item] of Object.entries(items)) {
    setMember(copy, place, neutralFields(item, texts));
  }
  return copy;
}

/** Usage with every number 0. */
function withoutCounts(value: unknown, texts: NeutralTexts): unknown {
  if (typeof value === "number") return 0;
  if (!isPlainObject(value)) return texts.value(value);
  const copy = {};
  for (const [key, member] of Object.entries(value)) {
    setMember(
      copy,
      WORD.test(key) ? key : texts.text(key),
      key === "cost" || typeof member === "number"
        ? withoutCounts(member, texts)
        : texts.value(member),
    );
  }
  return copy;
}
