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

/** Decodes, splits and parses a body of NDJSON, with no stream. */
export function parseChunks(chunks) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  let count = 0;
  for (const chunk of chunks) {
    const text = rest + decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end; (end = text.indexOf("\n", start)) !== -1; start = end + 1) {
      JSON.parse(text.slice(start, end));
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
