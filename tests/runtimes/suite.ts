/**
 * The suite that every runtime and browser runs: no test framework, Web APIs only, against the packed
 * library. What it gives is plain JSON, so that verdicts can be compared across engines.
 *
 * @module
 */

import type { ParseElsewhere } from "../_run_vector.ts";
import { bodyChecks, recordingChecks } from "./_body_checks.ts";
import { caseChecks } from "./_case_checks.ts";
import { runCheck, type Verdict } from "./_check.ts";
import { lifeCycleChecks } from "./_life_cycle_checks.ts";
import type { Materials } from "./_materials.ts";
import { turn } from "./_reading.ts";
import { vectorChecks } from "./_vector_checks.ts";

export type { Verdict };

/** What the suite has to know of where it runs. */
export interface Host {
  /** The address of the server with the materials and the bodies. */
  readonly server: string;
  /** `JSON.parse` of another realm, where the engine has one. */
  readonly parseElsewhere?: ParseElsewhere | undefined;
  /** The rejections that nobody handled so far. */
  readonly unhandled: readonly unknown[];
}

/** After how many checks that hang the suite stops. */
const MAX_HANGING = 10;

/** Runs everything. */
export async function* runSuite(
  { server, parseElsewhere, unhandled }: Host,
): AsyncGenerator<Verdict> {
  let hanging = 0;
  const response = await fetch(new URL("materials", server));
  const materials: Materials = await response.json();
  for (
    const checks of [
      vectorChecks(materials, parseElsewhere),
      caseChecks(materials),
      lifeCycleChecks(),
      bodyChecks(server),
      recordingChecks(materials, server),
    ]
  ) {
    for (const check of checks) {
      const verdict = await runCheck(check);
      yield verdict;
      // What hangs takes its time; who reads of this many knows enough.
      if (verdict.isHanging && ++hanging === MAX_HANGING) return;
    }
  }
  yield await runCheck({
    name: "no rejection went unhandled",
    async run() {
      await turn();
      return unhandled.map(String).join("; ") || "none";
    },
    expected: "none",
  });
}
