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
  const esbuild = `${await installPackages()}/node_modules/.bin/esbuild`;
  const folder = await installPacked("suite");
  const options = ["--bundle", "--format=esm", "--target=es2022", "--log-level=error"];
  await runOrThrow(esbuild, [
    ...["command", "worker", "page"].map((name) => `tests/runtimes/${name}.ts`),
    ...options,
    "--platform=node",
    "--external:@agent-stream/validator",
    `--outdir=${folder}`,
  ]);
  for (const name of ["worker", "page"]) {
    await runOrThrow(esbuild, [
      `${folder}/${name}.js`,
      ...options,
      "--platform=browser",
      `--outfile=${folder}/${name}.bundle.js`,
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
