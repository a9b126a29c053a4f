import type { AssistantErrorDetails } from "../types.ts";
import { AdapterError } from "./_adapter.ts";
import { readProviderError } from "./_provider_error.ts";
import { requestIdOf, retryAfterOf } from "./_response_headers.ts";

/** What Anthropic's and OpenAI's clients say where their signal fired; their errors have no name. */
const ABORTED = "Request was aborted.";

/** What the clients of providers put on the errors that they throw. */
interface ClientError {
  readonly message: string;
  /** The status of the response: Anthropic's, OpenAI's and Google's clients. */
  readonly status?: unknown;
  /** The same, of Ollama's client. */
  readonly status_code?: unknown;
  /** The body of the response, or the `error` in it. Google's client has it as JSON in the message. */
  readonly error?: unknown;
  readonly headers?: Partial<Headers>;
  readonly requestID?: unknown;
  /** Whose fault it is, by AWS's clients, where the name of the error is its type. */
  readonly $fault?: unknown;
  /** What they have of the response. */
  readonly $metadata?: { readonly httpStatusCode?: unknown; readonly requestId?: unknown };
  readonly name: string;
}

/**
 * Reads what the client of a provider throws where the provider refuses, or says in the body that it
 * failed. They are known by their looks, since each has a class of its own.
 *
 * @param cause What was thrown.
 * @param requestIdHeaders The headers that may hold the id of the request.
 * @param now Gives the time, in Unix milliseconds.
 * @returns What the response itself would have said, or `undefined` where it is another error.
 */
export function readClientError(
  cause: unknown,
  requestIdHeaders: readonly string[],
  now: () => number,
): AdapterError | undefined {
  try {
    return cause instanceof Error
      ? readError(cause as ClientError, requestIdHeaders, now)
      : undefined;
  } catch {
    // An error that cannot be read is none of theirs.
    return undefined;
  }
}

function readError(
  cause: ClientError,
  requestIdHeaders: readonly string[],
  now: () => number,
): AdapterError | undefined {
  const { message, headers, $metadata } = cause;
  const status = cause.status ?? cause.status_code ?? $metadata?.httpStatusCode;
  if (status === undefined && "status" in cause && message === ABORTED) {
    return new AdapterError("aborted", message);
  }
  const isRefused = typeof status === "number" && status >= 300 && status < 600;
  const said = bodyOf(cause);
  if (!isRefused && said === undefined) return undefined;

  const read = typeof headers?.get === "function" ? headers as Headers : new Headers();
  const id = cause.requestID ?? $metadata?.requestId;
  const requestId = typeof id === "string" ? id : requestIdOf(read, requestIdHeaders);
  const retryAfter = retryAfterOf(read, now);
  const failure = said === undefined ? undefined : readProviderError(said);
  const details: AssistantErrorDetails = {
    ...(requestId && { requestId }),
    ...failure?.details,
    ...(isRefused && { status }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
  const text = failure?.message ?? message;
  return isRefused
    ? new AdapterError("http_error", withStatus(status, text), details)
    : new AdapterError("provider_error", text, details);
}

/** The body that an error tells, where it has one. */
function bodyOf({ error, message, name, $fault }: ClientError): unknown {
  if (typeof $fault === "string") return { type: name, message };
  if (isSaying(error)) return error;
  if (typeof error === "string" && error !== "") return { error };
  if (!message.startsWith("{")) return undefined;
  try {
    return JSON.parse(message);
  } catch {
    return undefined;
  }
}

/** Whether a value is a body, and not another error or a box of nothing. */
function isSaying(error: unknown): boolean {
  return typeof error === "object" && error !== null && Object.keys(error).length > 0;
}

/** What some clients write before a message already. */
function withStatus(status: number, text: string): string {
  const rest = text.startsWith(`${status} `) ? text.slice(`${status} `.length) : text;
  return `HTTP status ${status}: ${rest}`;
}
