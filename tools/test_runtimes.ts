/**
 * Packs the package, installs the tarball as a user would, and runs the suite of `tests/runtimes` in
 * Deno, Node, Bun and workerd. Each verdict is held to Deno's. Arguments name the engines to run.
 *
 * @module
 */

import { bundleSuite, denoEngine } from "./_suite.ts";
import { type Engine, type EngineRun, parseVerdicts, runEngines } from "./_engines.ts";
import { installPackages } from "./_packages.ts";
import { run, runOrThrow } from "./_process.ts";
import { serveSuite } from "./_suite_server.ts";

const packages = await installPackages();
const folder = await bundleSuite();
const server = await serveSuite();

/** Runs the suite by a command line. */
async function runCommand(
  command: string,
  args: readonly string[],
  version: readonly string[],
): Promise<EngineRun | undefined> {
  if (!await isFile(command)) return undefined;
  return {
    version: (await runOrThrow(command, version)).trim().replace(/^v/, ""),
    verdicts: parseVerdicts(await runOrThrow(command, args, { cwd: folder })),
  };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return false;
  }
}

const nodes = ["20", "22", "24"].map((major): Engine => ({
  name: `Node ${major}`,
  run: () =>
    runCommand(`${packages}/node_modules/node${major}/bin/node`, ["command.js", server.url], [
      "--version",
    ]),
}));

const bun: Engine = {
  name: "Bun",
  run: () =>
    runCommand(`${packages}/node_modules/bun/bin/bun.exe`, ["command.js", server.url], [
      "--version",
    ]),
};

const workerd: Engine = {
  name: "workerd",
  mayLack: "no other realm",
  note:
    "compatibility date 2024-12-16 or later, or the flag `fixup-transform-stream-backpressure`: " +
    "before it, a TransformStream of this engine holds nothing back",
  async run() {
    const binary = `${packages}/node_modules/.bin/workerd`;
    const node = `${packages}/node_modules/node24/bin/node`;
    if (!await isFile(binary) || !await isFile(node)) return undefined;
    const version = await runOrThrow(binary, ["--version"]);
    const { success, text, stdout } = await run(node, [
      "tools/_run_worker.mjs",
      packages,
      `${folder}/worker.bundle.js`,
      server.url,
    ]);
    if (!success) throw new Error(text);
    return { version: version.trim().replace(/^workerd /, ""), verdicts: parseVerdicts(stdout) };
  },
};

const wanted = [...nodes, bun, workerd].filter(({ name }) =>
  Deno.args.length === 0 || Deno.args.includes(name)
);
const isFine = await runEngines([denoEngine(folder, server.url), ...wanted]);
await server.close();
Deno.exit(isFine ? 0 : 1);
