/**
 * Whether a value has fields: what an object of JSON has. Of any class, since to ask for the prototype
 * takes V8 40 nanoseconds.
 */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
