/**
 * Packs the package for npm: what `deno pack` makes, and what it leaves out of `package.json`.
 * Prints the path of the tarball.
 *
 * @module
 */

import { runOrThrow } from "./_process.ts";

/** Where the tarball goes. */
const DESTINATION = "dist";

/** What bundlers and people need to know beyond what `deno pack` writes. */
const ADDITIONS = {
  description: "Validates the event streams of language models, as a TransformStream",
  keywords: ["llm", "streaming", "validator", "transformstream", "sse", "ndjson"],
  // To import the command line is to run it.
  sideEffects: ["./src/cli/main.js"],
  bin: { "stream-validator": "./src/cli/main.js" },
  engines: { node: ">=20" },
};

const scratch = await Deno.makeTempDir();
try {
  const tarball = `${scratch}/package.tgz`;
  await runOrThrow(Deno.execPath(), ["pack", "--allow-dirty", "--output", tarball]);
  await runOrThrow("tar", ["-xzf", tarball, "-C", scratch]);
  const manifest = `${scratch}/package/package.json`;
  const packed = JSON.parse(await Deno.readTextFile(manifest));
  await Deno.writeTextFile(manifest, JSON.stringify({ ...packed, ...ADDITIONS }, null, 2) + "\n");
  await Deno.mkdir(DESTINATION, { recursive: true });
  const [{ filename }] = JSON.parse(
    await runOrThrow("npm", [
      "pack",
      `${scratch}/package`,
      "--pack-destination",
      DESTINATION,
      "--json",
    ]),
  );
  console.log(`${DESTINATION}/${filename}`);
} finally {
  await Deno.remove(scratch, { recursive: true });
}
