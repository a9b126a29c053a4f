/** Reads the vectors, and runs them here. */

import { runInNewContext } from "node:vm";
import type { createStreamEventValidator } from "../mod.ts";
import {
  revive as reviveAnywhere,
  runVector as runAnywhere,
  type Vector,
  type VectorFile,
} from "./_run_vector.ts";

/** All files, by the name of their code. */
export function readVectorFiles(): VectorFile[] {
  const folder = new URL("./vectors/", import.meta.url);
  return [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => name.endsWith(".json")).sort()
    .map((name) => JSON.parse(Deno.readTextFileSync(new URL(name, folder))));
}

/**
 * Runs one vector.
 *
 * @returns What was not as the vector says; empty where all was.
 */
export function runVector(create: typeof createStreamEventValidator, vector: Vector): string[] {
  return runAnywhere(create, vector, parseElsewhere);
}

/** Puts what JSON cannot express where `{ "$javascript": … }` stands for it. */
export function revive(value: unknown): unknown {
  return reviveAnywhere(value, parseElsewhere);
}

function parseElsewhere(text: string): unknown {
  return runInNewContext("JSON.parse(text)", { text });
}
