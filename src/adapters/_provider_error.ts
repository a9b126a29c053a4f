import { isPlainObject } from "../_json.ts";
import type { AssistantErrorDetails } from "../types.ts";
import { AdapterError } from "./_adapter.ts";

/** How much of an error without a message is shown, in UTF-16 code units. */
const EXCERPT_LENGTH = 1_000;

const RETRY_INFO = /\bgoogle\.rpc\.RetryInfo$/;

/** A duration as protocol buffers write it in JSON: in seconds. */
const RETRY_DELAY = /^(\d{1,12}(?:\.\d{1,9})?)s$/;

/**
 * Reads an error that came in a body: as an object or a text under `error` or `detail`, in an array, or
 * flat, as the value itself. Its words and its type are kept.
 */
export function readProviderError(value: unknown): AdapterError {
  const outer = Array.isArray(value) ? value[0] : value;
  const inner = isPlainObject(outer) ? outer.error ?? outer.detail ?? outer : outer;
  if (typeof inner === "string" && inner !== "") {
    return new AdapterError("provider_error", inner, requestIdOf(outer));
  }
  const fields = isPlainObject(inner) ? inner : {};
  const { message, type, code, status } = fields;
  const names = [type, code, status];
  const name = names.find((name) => typeof name === "string" && name !== "" && name !== "error") as
    | string
    | undefined;
  const number = [status, code].find((number) =>
    Number.isInteger(number) && (number as number) >= 400 && (number as number) < 600
  );
  const retryAfter = readRetryInfo(fields.details);
  const details: AssistantErrorDetails = {
    ...(name !== undefined && { providerErrorType: name }),
    ...(number !== undefined && { status: number as number }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...requestIdOf(outer),
  };
  return new AdapterError("provider_error", readMessage(message, inner, name), details);
}

/**
 * Reads how long Google's APIs ask to wait, in milliseconds: they say it here, and in no header.
 *
 * @see {@link https://cloud.google.com/apis/design/errors#error_details}
 */
function readRetryInfo(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    if (!isPlainObject(detail)) continue;
    const { "@type": type, retryDelay } = detail;
    if (typeof type !== "string" || !RETRY_INFO.test(type)) continue;
    const seconds = typeof retryDelay === "string" ? RETRY_DELAY.exec(retryDelay)?.[1] : undefined;
    if (seconds !== undefined) return Number(seconds) * 1000;
  }
  return undefined;
}

function requestIdOf(outer: unknown): Pick<AssistantErrorDetails, "requestId"> {
  const id = isPlainObject(outer) ? outer.request_id : undefined;
  return typeof id === "string" && id !== "" ? { requestId: id } : {};
}

function readMessage(message: unknown, value: unknown, name: string | undefined): string {
  if (typeof message === "string" && message !== "") return message;
  if (name !== undefined) return name;
  const isSaying = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  // Nesting overflows JSON.stringify, which the caller catches.
  return isSaying
    ? JSON.stringify(value).slice(0, EXCERPT_LENGTH)
    : "The provider sent an error without a message";
}
