/** The command line was used wrongly. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** What was to be read cannot be. */
export class UnreadableError extends Error {
  override readonly name: string = "UnreadableError";
}

/** What was to be written cannot be. */
export class UnwritableError extends Error {
  override readonly name: string = "UnwritableError";
}

/** Nobody reads what is written any more. */
export class ClosedOutputError extends Error {
  override readonly name: string = "ClosedOutputError";
}
