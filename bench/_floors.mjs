/**
 * The least that has to be done, to measure against.
 *
 * @module
 */

/** Accumulates the text, parses the arguments, compares the text exactly: no rule is checked. */
export function floor(events) {
  let text = "";
  let isSame = true;
  const content = [];
  for (let i = 0; i < events.length; i++) {
    const event = events[i];
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
        text += event.delta;
        break;
      case "tool_call_delta":
        text += event.argumentsDelta;
        break;
      case "text_start":
      case "thinking_start":
      case "tool_call_start":
        text = "";
        break;
      case "text_end":
      case "thinking_end":
        if (text !== event.content) isSame = false;
        content.push(text);
        break;
      case "tool_call_end":
        content.push(JSON.parse(text));
        break;
      case "done":
        return isSame;
    }
  }
  return isSame;
}

/** Whether a value that holds no others is JSON. */
function isLeaf(value) {
  return value === null || typeof value === "string" || typeof value === "boolean" ||
    Number.isFinite(value);
}

/** Whether a value is the same JSON as another that is known to be JSON, and is plain. */
function isSame(json, value) {
  if (typeof json !== "object" || typeof value !== "object" || json === null || value === null) {
    return json === value && isLeaf(value);
  }
  if (Array.isArray(json)) {
    if (!Array.isArray(value) || !Array.isArray(Object.getPrototypeOf(value))) return false;
    if (json.length !== value.length) return false;
    for (let i = 0; i < json.length; i++) if (!isSame(json[i], value[i])) return false;
    return true;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  let missing = 0;
  for (const key in value) {
    if (!isSame(json[key], value[key])) return false;
    missing++;
  }
  for (const _ in json) missing--;
  return missing === 0;
}

/**
 * The floor in bounded memory, with all that the rules ask to be compared: text as flat as the
 * library keeps it, a call's arguments against its deltas, and the message against the blocks. No
 * event is checked for anything else.
 *
 * @param DeltaText The library's text that grows by small pieces.
 */
export function comparingFloor(events, DeltaText) {
  const text = new DeltaText();
  let same = true;
  const content = [];
  for (let i = 0; i < events.length; i++) {
    const event = events[i];
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
        text.append(event.delta);
        break;
      case "tool_call_delta":
        text.append(event.argumentsDelta);
        break;
      case "text_start":
      case "thinking_start":
      case "tool_call_start":
        text.clearText();
        break;
      case "text_end":
        if (text.text() !== event.content) same = false;
        content.push({ type: "text", text: event.content });
        break;
      case "thinking_end":
        if (text.text() !== event.content) same = false;
        content.push({ type: "thinking", thinking: event.content });
        break;
      case "tool_call_end": {
        const { type, id, name, arguments: received } = event.toolCall;
        const args = JSON.parse(text.text());
        if (!isSame(args, received)) same = false;
        content.push({ type, id, name, arguments: args });
        break;
      }
      case "done":
        return same && isSame(content, event.message.content);
    }
  }
  return same;
}

/** The floor of one stream among many: what it has to remember from one event to the next. */
export class Accumulator {
  #text = "";
  #content = [];

  accept(event) {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
        this.#text += event.delta;
        break;
      case "tool_call_delta":
        this.#text += event.argumentsDelta;
        break;
      case "text_start":
      case "thinking_start":
      case "tool_call_start":
        this.#text = "";
        break;
      case "text_end":
      case "thinking_end":
        if (this.#text !== event.content) throw new Error("Expected the text as streamed");
        this.#content.push(this.#text);
        break;
      case "tool_call_end":
        this.#content.push(JSON.parse(this.#text));
        break;
    }
  }
}

/** Hands values to a loop, with nothing in between. */
export function iterate(values) {
  let i = 0;
  const next = () =>
    Promise.resolve(
      i < values.length ? { done: false, value: values[i++] } : { done: true, value: undefined },
    );
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/** Decodes, splits and parses the chunks of a body of server-sent events. */
export function createEventStreamParser(createParser, take) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const parser = createParser({
    onEvent({ data }) {
      if (data.startsWith("{")) take(JSON.parse(data));
    },
  });
  return (chunk) => parser.feed(decoder.decode(chunk, { stream: true }));
}

/**
 * Reads a body chunk by chunk and hands events over in a loop: nothing goes wrong, and nobody leaves.
 *
 * @param chunks The body.
 * @param createChunkParser What takes a function for each event, and gives one for each chunk.
 */
export async function readInLoop(chunks, createChunkParser) {
  const reader = sourceOf(chunks).getReader();
  let events = [];
  let head = 0;
  const parse = createChunkParser((event) => events.push(event));
  const take = () => ({ done: false, value: events[head++] });
  const next = async () => {
    events = [];
    head = 0;
    while (events.length === 0) {
      const { done, value } = await reader.read();
      if (done) return { done, value };
      parse(value);
    }
    return take();
  };
  const iterator = { next: () => head < events.length ? Promise.resolve(take()) : next() };
  for await (const _ of { [Symbol.asyncIterator]: () => iterator });
}

/** Decodes, splits and parses the chunks of a body of NDJSON. */
export function createChunkParser(take) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  return (chunk) => {
    const text = rest + decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end; (end = text.indexOf("\n", start)) !== -1; start = end + 1) {
      take(JSON.parse(text.slice(start, end)));
    }
    rest = text.slice(start);
  };
}

/** Decodes, splits and parses a body of NDJSON, with no stream. */
export function parseChunks(chunks) {
  let count = 0;
  const parse = createChunkParser(() => count++);
  for (const chunk of chunks) parse(chunk);
  return count;
}

/** A source that gives its values when asked. */
export function sourceOf(values) {
  let i = 0;
  return new ReadableStream({
    pull(controller) {
      if (i < values.length) controller.enqueue(values[i++]);
      else controller.close();
    },
  }, { highWaterMark: 0 });
}

/** Reads a stream to its end. */
export async function drain(readable) {
  const reader = readable.getReader();
  let count = 0;
  while (!(await reader.read()).done) count++;
  return count;
}
