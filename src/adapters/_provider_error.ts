import { isPlainObject } from "../_json.ts";
import type { AssistantErrorDetails } from "../types.ts";
import { AdapterError } from "./_adapter.ts";

/** How much of an error without a message is shown, in UTF-16 code units. */
const EXCERPT_LENGTH = 1_000;

const RETRY_INFO = /\bgoogle\.rpc\.RetryInfo$/;

/** A duration as protocol buffers write it in JSON: in seconds. */
const RETRY_DELAY = /^(\d{1,12}(?:\.\d{1,9})?)s$/;

/** A status as a text, as some servers have it. */
const STATUS = /^[45]\d\d$/;

/**
 * Reads an error that came in a body: as an object or a text under `error` or `detail`, in an array, or
 * flat, as the value itself. Its words and its type are kept.
 */
export function readProviderError(value: unknown): AdapterError {
  const outer = Array.isArray(value) ? value[0] : value;
  const beside = isPlainObject(outer) ? outer : {};
  const inner = beside.error ?? beside.detail ?? refusedBaseOf(beside) ?? outer;
  const fields: Readonly<Record<string, unknown>> = isPlainObject(inner)
    ? inner
    : { message: inner };
  const { message, type, code, status } = fields;
  const name = [type, code, status, beside.error_type].find(isName);
  const number = [
    status,
    code,
    fields.status_code,
    fields.http_status_code,
    beside.status,
    beside.status_code,
  ].map((number) => typeof number === "string" && STATUS.test(number) ? Number(number) : number)
    .find((number) =>
      Number.isInteger(number) && (number as number) >= 400 && (number as number) < 600
    );
  const retryAfter = readRetryInfo(fields.details);
  const details: AssistantErrorDetails = {
    ...(name !== undefined && { providerErrorType: name }),
    ...(isName(code) && code !== name && { providerErrorCode: code }),
    ...(number !== undefined && { status: number as number }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...requestIdOf(outer),
  };
  return new AdapterError("provider_error", readMessage(message, inner, name), details);
}

/** Whether a body says that a request was refused, the way that one provider does: beside the answer. */
export function isRefusedBase(value: Readonly<Record<string, unknown>>): boolean {
  return refusedBaseOf(value) !== undefined;
}

function refusedBaseOf(value: Readonly<Record<string, unknown>>) {
  const base = value.base_resp;
  if (!isPlainObject(base) || !Number.isInteger(base.status_code) || base.status_code === 0) {
    return undefined;
  }
  return { message: base.status_msg, code: String(base.status_code) };
}

/** Whether a value names an error; a status is no name, nor is a word for nothing. */
function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value !== "error" && value !== "None" &&
    !STATUS.test(value);
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
