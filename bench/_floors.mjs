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

/** Whether two values are deeply equal, for values that are known to be JSON. */
export function deepEqual(a, b) {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a)) {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!deepEqual(a[i], b[i])) return false;
    return true;
  }
  let missing = 0;
  for (const key in a) {
    if (!deepEqual(a[key], b[key])) return false;
    missing++;
  }
  for (const _ in b) missing--;
  return missing === 0;
}

/**
 * What the rules ask to be compared, compared, on the word that all of it is JSON: the floor, a call's
 * arguments against its deltas, and the message against the blocks.
 */
export function comparingFloor(events) {
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
        if (text !== event.content) isSame = false;
        content.push({ type: "text", text: event.content });
        break;
      case "thinking_end":
        if (text !== event.content) isSame = false;
        content.push({ type: "thinking", thinking: event.content });
        break;
      case "tool_call_end": {
        const { type, id, name, arguments: received } = event.toolCall;
        const args = JSON.parse(text);
        if (!deepEqual(args, received)) isSame = false;
        content.push({ type, id, name, arguments: args });
        break;
      }
      case "done":
        return isSame && deepEqual(content, event.message.content);
    }
  }
  return isSame;
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

/** Decodes, splits and parses a body of server-sent events, and makes nothing of them. */
export function parseEventStream(createParser, chunks) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let count = 0;
  const parser = createParser({
    onEvent({ data }) {
      if (data.startsWith("{")) JSON.parse(data);
      count++;
    },
  });
  for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
  return count;
}

/** Decodes, splits and parses a body of NDJSON, with no stream; keeps the events where asked to. */
export function parseChunks(chunks, events) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  let count = 0;
  for (const chunk of chunks) {
    const text = rest + decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end; (end = text.indexOf("\n", start)) !== -1; start = end + 1) {
      const event = JSON.parse(text.slice(start, end));
      if (events) events.push(event);
      count++;
    }
    rest = text.slice(start);
  }
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
