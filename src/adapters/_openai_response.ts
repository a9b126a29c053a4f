import type { ResponseFormat } from "./_stream_response.ts";

/** What the responses of both APIs have in common, and those of their imitators and proxies. */
export const OPENAI_RESPONSE: ResponseFormat = {
  format: "sse",
  contentTypes: ["text/event-stream"],
  requestIdHeaders: [
    "x-request-id",
    "request-id",
    "apim-request-id",
    "x-ms-request-id",
    "x-amzn-requestid",
    "x-generation-id",
    "cf-ray",
  ],
};
