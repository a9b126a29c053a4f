import type { Vector, VectorFile } from "../_run_vector.ts";

/** A stream that really went wrong, rebuilt; see `tests/cases`. */
export interface Case {
  readonly id: string;
  readonly input: string;
  readonly input_b64?: string;
  readonly expected: "accept" | "reject" | "truncated";
  readonly code?: string;
  readonly eventIndex?: number;
  readonly terminal: string | null;
  readonly final: readonly unknown[] | null;
  readonly safe?: readonly unknown[];
}

/** What the suite runs on, read from `tests/` by whoever serves it. */
export interface Materials {
  readonly vectors: readonly VectorFile[];
  /** The cases by wire; `unified` is this protocol's own. */
  readonly cases: Readonly<Record<string, readonly Case[]>>;
  /** The file names of the recordings, by wire. */
  readonly recordings: Readonly<Record<string, readonly string[]>>;
}

export type { Vector };
