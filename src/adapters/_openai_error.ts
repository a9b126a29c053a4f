import { isPlainObject } from "../_json.ts";
import type { AssistantErrorDetails } from "../types.ts";
import { AdapterError } from "./_adapter.ts";

/**
 * Reads an error that came in the body: as an object or a text under `error`, or flat, as the payload
 * itself. Its words and its type are kept.
 */
export function readOpenAiError(value: unknown): AdapterError {
  if (typeof value === "string") return new AdapterError("provider_error", value);
  const fields = isPlainObject(value) ? value : {};
  const { message, type, code, status } = fields;
  const name = [type, code].find((name) => typeof name === "string" && name !== "");
  const number = [status, code].find((number) =>
    Number.isInteger(number) && (number as number) >= 400 && (number as number) < 600
  );
  const details: AssistantErrorDetails = {
    ...(name !== undefined && { providerErrorType: name as string }),
    ...(number !== undefined && { status: number as number }),
  };
  return new AdapterError("provider_error", readMessage(message, fields, name), details);
}

function readMessage(message: unknown, fields: object, name: unknown): string {
  if (typeof message === "string" && message !== "") return message;
  if (name !== undefined) return String(name);
  return Object.keys(fields).length > 0
    ? JSON.stringify(fields).slice(0, 1_000)
    : "The provider sent an error without a message";
}
