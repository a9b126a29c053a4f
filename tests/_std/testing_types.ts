/**
 * What the tests use of `@std/testing/types`, for machines that JSR does not answer.
 *
 * @module
 */

/** Compiles only for `true`. */
export type AssertTrue<T extends true> = never;

/** Whether two types are the same. */
export type IsExact<T, U> = (<G>() => G extends T ? 1 : 2) extends (<G>() => G extends U ? 1 : 2)
  ? true
  : false;
