import { kindOf } from "../_json.ts";
import { printable, quoteText } from "./_text.ts";

/** How many UTF-16 code units of an event's text one line shows. */
const TEXT_LENGTH = 48;

type Fields = Readonly<Record<string, unknown>>;

/** Says in one line what an event is and carries. Whatever it is, the line is safe to print. */
export function describeEvent(event: unknown): string {
  if (!isFields(event) || typeof event.type !== "string") return describeValue(event);
  const {
    type,
    contentIndex,
    delta,
    argumentsDelta,
    content,
    id,
    name,
    toolCall,
    reason,
    message,
  } = event;
  const parts: string[] = [];
  if (typeof contentIndex === "number") parts.push(`contentIndex ${contentIndex}`);
  if (typeof name === "string") parts.push(printable(name.slice(0, TEXT_LENGTH)));
  if (typeof id === "string") parts.push(quoteText(id, TEXT_LENGTH));
  for (const text of [delta, argumentsDelta, content]) {
    if (typeof text === "string") parts.push(quoteText(text, TEXT_LENGTH));
  }
  if (isFields(toolCall)) {
    if (typeof toolCall.name === "string") parts.push(printable(toolCall.name.slice(0, 48)));
    if (typeof toolCall.id === "string") parts.push(quoteText(toolCall.id, TEXT_LENGTH));
    parts.push(describeValue(toolCall.arguments));
  }
  if (typeof reason === "string") parts.push(printable(reason.slice(0, TEXT_LENGTH)));
  if (isFields(message)) {
    if (Array.isArray(message.content)) parts.push(`${message.content.length} in message.content`);
    if (typeof message.errorMessage === "string") {
      parts.push(quoteText(message.errorMessage, TEXT_LENGTH));
    }
  }
  return [printable(type.slice(0, TEXT_LENGTH)), ...parts].join("  ");
}

/** Writes the beginning of a value as JSON. */
export function describeValue(value: unknown, length = TEXT_LENGTH): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    // It nests too deep to be written.
  }
  if (text === undefined) return kindOf(value);
  return printable(text.length > length ? `${text.slice(0, length - 1)}…` : text);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
