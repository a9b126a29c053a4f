/** The id of a request, by the first header that has one. */
export function requestIdOf(headers: Headers, names: readonly string[]): string | undefined {
  for (const name of names) {
    const id = headers.get(name);
    if (id) return id;
  }
  return undefined;
}

/** Reads how long to wait, in milliseconds: as such, in seconds, or until a date. */
export function retryAfterOf(headers: Headers, now: () => number): number | undefined {
  const milliseconds = readNumber(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return milliseconds;
  const after = headers.get("retry-after");
  const seconds = readNumber(after);
  if (seconds !== undefined) return seconds * 1000;
  // Every date of HTTP has its day in words, and nothing else that stands here has letters.
  const date = after && /[a-z]/i.test(after) ? Date.parse(after) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now());
}

function readNumber(value: string | null): number | undefined {
  if (value === null || !/^\s*\d{1,15}(\.\d+)?\s*$/.test(value)) return undefined;
  return Number(value);
}
