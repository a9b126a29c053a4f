import { type Engine, parseVerdicts, REFERENCE } from "./_engines.ts";
import { installPackages, installPacked } from "./_packages.ts";
import { runOrThrow } from "./_process.ts";

/**
 * Makes JavaScript of the suite in the folder of a user who has installed the packed package.
 * `command.js` imports the package as installed; in `worker.bundle.js` and `page.bundle.js` it is
 * bundled, as for the edge and for browsers.
 *
 * @returns The folder.
 */
export async function bundleSuite(): Promise<string> {
  const names = ["command", "worker", "page"];
  return await bundleFor("suite", names.map((name) => `tests/runtimes/${name}.ts`));
}

/**
 * Makes JavaScript of programs in the folder of a user who has installed the packed package: each as
 * it imports the package, and as a `.bundle.js` that has the package within it.
 *
 * @returns The folder.
 */
export async function bundleFor(name: string, programs: readonly string[]): Promise<string> {
  const esbuild = `${await installPackages()}/node_modules/.bin/esbuild`;
  const folder = await installPacked(name);
  const options = ["--bundle", "--format=esm", "--target=es2022", "--log-level=error"];
  await runOrThrow(esbuild, [
    ...programs,
    ...options,
    "--platform=node",
    "--external:@agent-stream/validator",
    `--outdir=${folder}`,
  ]);
  for (const program of programs) {
    const path = `${folder}/${program.replace(/^.*\/|\.ts$/g, "")}`;
    await runOrThrow(esbuild, [
      `${path}.js`,
      ...options,
      "--platform=browser",
      "--external:node:*",
      `--outfile=${path}.bundle.js`,
    ]);
  }
  return folder;
}

/** The engine that the others are held to. */
export function denoEngine(folder: string, server: string): Engine {
  return {
    name: REFERENCE,
    async run() {
      const args = ["run", "--allow-all", "--node-modules-dir=manual", "command.js", server];
      return {
        version: Deno.version.deno,
        verdicts: parseVerdicts(await runOrThrow(Deno.execPath(), args, { cwd: folder })),
      };
    },
  };
}
