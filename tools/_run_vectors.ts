/**
 * Runs all vectors against the copy of the sources in a folder and prints the first that is red.
 * A process of its own, since a mutant may hang or use up the memory.
 *
 * @module
 */

import { readVectorFiles, runVector } from "../tests/_vectors.ts";

/** What became of the run. */
export type VectorRun =
  | { readonly outcome: "green" }
  | { readonly outcome: "red"; readonly vector: string; readonly failure: string }
  | { readonly outcome: "broken"; readonly failure: string };

async function run(folder: string): Promise<VectorRun> {
  let validator;
  try {
    validator = await import(`file://${folder}/stream_event_validator.ts`);
  } catch (error) {
    return { outcome: "broken", failure: String(error) };
  }
  for (const { code, vectors } of readVectorFiles()) {
    for (const vector of vectors) {
      let failure: string | undefined;
      try {
        failure = runVector(validator.createStreamEventValidator, vector)[0];
      } catch (error) {
        failure = String(error);
      }
      if (failure !== undefined) {
        return { outcome: "red", vector: `${code}: ${vector.name}`, failure };
      }
    }
  }
  return { outcome: "green" };
}

const [folder] = Deno.args;
if (folder === undefined) throw new TypeError("Expected the folder of the sources");
console.log(JSON.stringify(await run(folder)));
