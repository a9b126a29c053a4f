import { kindOf } from "../_json.ts";
import { quote } from "../_quote.ts";
import type { StreamEventFormat } from "./_frame_parser.ts";
import { StreamDecodeError } from "./stream_decode_error.ts";

/** What a content type says, by its essence. */
const FORMATS: Readonly<Record<string, StreamEventFormat>> = {
  "application/x-ndjson": "ndjson",
  "application/ndjson": "ndjson",
  "application/jsonl": "ndjson",
  "text/event-stream": "sse",
};

/** Refuses a response that is no success: its body is a page or a message of another kind. */
export function checkStatus(response: Response): void {
  if (response.ok) return;
  throw new StreamDecodeError(`expected an OK status, received ${response.status}`, {
    code: "unexpected_status",
    status: response.status,
  });
}

/** Reads the format from a response's content type. */
export function formatOf(response: Response): StreamEventFormat {
  const contentType = response.headers.get("content-type");
  const essence = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!Object.hasOwn(FORMATS, essence)) {
    throw new StreamDecodeError(
      `expected content type "application/x-ndjson" or "text/event-stream", or the option "format", received ${
        contentType === null ? "none" : quote(contentType)
      }`,
      { code: "unsupported_content_type" },
    );
  }
  return FORMATS[essence] as StreamEventFormat;
}

/** Checks a format that a caller names. */
export function checkFormat(format: StreamEventFormat): StreamEventFormat {
  if (format !== "ndjson" && format !== "sse") {
    const received = typeof format === "string" ? quote(format) : kindOf(format);
    throw new TypeError(`Expected format "ndjson" or "sse", received ${received}`);
  }
  return format;
}
