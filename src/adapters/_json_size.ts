/**
 * How long a value is as JSON text, but for escapes, in UTF-16 code units: what it counts towards the
 * length of a message where it is kept. At any depth, and of anything that is no JSON too.
 */
export function jsonSize(value: unknown): number {
  const seen = new Set<unknown>();
  const waiting = [value];
  let size = 0;
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === "string") {
      size += next.length + 2;
    } else if (typeof next !== "object" || next === null) {
      size += String(next).length;
    } else if (!seen.has(next)) {
      seen.add(next);
      size += 2;
      if (Array.isArray(next)) {
        size += next.length;
        for (const member of next) waiting.push(member);
        continue;
      }
      for (const [key, member] of Object.entries(next)) {
        size += key.length + 4;
        waiting.push(member);
      }
    }
  }
  return size;
}
