/**
 * What the tests use of `@std/assert`, over `node:assert`, for machines that JSR does not answer.
 *
 * @module
 */

import nodeAssert from "node:assert";

// deno-lint-ignore no-explicit-any -- what `@std/assert` takes too: a class with any constructor
type Class<T> = abstract new (...args: any[]) => T;

class AssertionError extends Error {
  override readonly name = "AssertionError";
}

function suffix(message: string | undefined): string {
  return message ? `: ${message}` : ".";
}

function fail(message?: string): never {
  throw new AssertionError(`Failed assertion${suffix(message)}`);
}

export function assert(condition: unknown, message?: string): asserts condition {
  if (!condition) fail(message);
}

export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  nodeAssert.deepStrictEqual(actual, expected, message);
}

export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  message?: string,
): asserts actual is T {
  nodeAssert.strictEqual(actual, expected, message);
}

export function assertInstanceOf<T>(
  actual: unknown,
  expected: Class<T>,
  message?: string,
): asserts actual is T {
  if (!(actual instanceof expected)) {
    fail(message ?? `Expected an instance of ${expected.name}, received ${Deno.inspect(actual)}`);
  }
}

export function assertStringIncludes(actual: string, expected: string, message?: string): void {
  if (!actual.includes(expected)) {
    fail(message ?? `Expected ${JSON.stringify(actual)} to include ${JSON.stringify(expected)}`);
  }
}

function assertError<E extends Error>(
  error: unknown,
  ErrorClass: Class<E> | undefined,
  words: string | undefined,
): E {
  assertInstanceOf(error, (ErrorClass ?? Error) as Class<E>);
  if (words !== undefined) assertStringIncludes(error.message, words);
  return error;
}

export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass?: Class<E>,
  words?: string,
): E {
  try {
    fn();
  } catch (error) {
    return assertError(error, ErrorClass, words);
  }
  fail("Expected function to throw");
}

export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass?: Class<E>,
  words?: string,
): Promise<E> {
  try {
    await fn();
  } catch (error) {
    return assertError(error, ErrorClass, words);
  }
  fail("Expected function to reject");
}
