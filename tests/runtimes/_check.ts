/** One thing that the suite tries. */
export interface Check {
  /** What is tried; no other check has this name. */
  readonly name: string;
  /**
   * Tries it.
   *
   * @returns What became of it, in words that are the same in every engine.
   * @throws {NotRun} The engine cannot try it.
   * @throws {Error} What became of it is wrong, whatever another engine says.
   */
  readonly run: () => string | Promise<string>;
  /** What should become of it, where that is known beforehand. */
  readonly expected?: string;
}

/** What became of a check. */
export interface Verdict {
  readonly name: string;
  readonly verdict: string;
  /** Whether the verdict is wrong, whatever another engine says. */
  readonly isWrong?: boolean;
  /** Whether it never came to an end. */
  readonly isHanging?: boolean;
  /** Whether the engine could not try it; the verdict says why. */
  readonly isNotRun?: boolean;
}

/** Says why an engine cannot try something. */
export class NotRun extends Error {}

/** The check of how the engine tells of a broken connection; engines differ. */
export const BROKEN_CONNECTION = "what a broken connection is to the engine";

/** How long a check may take before it counts as hanging, in milliseconds. */
const PATIENCE = 8_000;

/** Runs one check. It always comes to a verdict. */
export async function runCheck({ name, run, expected }: Check): Promise<Verdict> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hanging = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE);
  });
  try {
    const verdict = await Promise.race([(async () => await run())(), hanging]);
    if (verdict === undefined) {
      return { name, verdict: `nothing in ${PATIENCE / 1000} s`, isWrong: true, isHanging: true };
    }
    return expected === undefined || verdict === expected
      ? { name, verdict }
      : { name, verdict: `${verdict}; expected ${expected}`, isWrong: true };
  } catch (error) {
    if (error instanceof NotRun) return { name, verdict: error.message, isNotRun: true };
    return { name, verdict: String(error), isWrong: true };
  } finally {
    clearTimeout(timer);
  }
}
