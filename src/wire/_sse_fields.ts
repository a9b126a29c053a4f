/** How the lines of server-sent events begin. */
export const SSE_FIELDS: readonly string[] = ["data:", "event:", "id:", "retry:", ":"];
