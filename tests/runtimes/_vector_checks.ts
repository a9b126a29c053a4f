import { createStreamEventValidator, StreamSequenceError } from "@agent-stream/validator";
import { type ParseElsewhere, runVector } from "../_run_vector.ts";
import { type Check, NotRun } from "./_check.ts";
import type { Materials } from "./_materials.ts";

/** Every vector, with what was refused of it. */
export function* vectorChecks(
  { vectors }: Materials,
  parseElsewhere: ParseElsewhere = () => {
    throw new NotRun("no other realm");
  },
): Generator<Check> {
  for (const file of vectors) {
    for (const vector of file.vectors) {
      yield {
        name: `vector ${file.code}: ${vector.name}`,
        run() {
          const refusals: string[] = [];
          const failures = runVector(
            createStreamEventValidator,
            vector,
            parseElsewhere,
            (where, error) => refusals.push(`${where}: ${refusalOf(error)}`),
          );
          if (failures.length > 0) throw new Error(failures.join("; "));
          return refusals.join("; ") || "accepted";
        },
      };
    }
  }
}

function refusalOf(error: unknown): string {
  return StreamSequenceError.is(error) ? `${error.code}, ${error.message}` : String(error);
}
