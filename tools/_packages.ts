import { run, runOrThrow } from "./_process.ts";

/** Where everything is kept that the tests install; git ignores it. */
export const CACHE = `${Deno.cwd()}/.cache`;

/** What the tests install from npm, the versions pinned here alone. */
const PACKAGES = {
  // An engine that has no build for this machine is missing; the others run.
  optionalDependencies: {
    "node20": "npm:node@20.20.2",
    "node22": "npm:node@22.23.3",
    "node24": "npm:node@24.21.0",
    "bun": "1.4.5",
  },
  dependencies: {
    "@cloudflare/workers-types": "5.20261117.1",
    "@types/node": "20.19.43",
    "esbuild": "0.28.2",
    // Not optional: npm would leave it out where its own Node is too old for it. It runs in node24.
    "miniflare": "4.20260730.0",
    "puppeteer-core": "25.16.0",
    "rollup": "4.68.8",
    "@rollup/plugin-node-resolve": "16.0.3",
    "typescript": "5.9.3",
    "typescript-latest": "npm:typescript@7.0.2",
  },
};

/** The folder with the packages, installed if they are not yet. */
export async function installPackages(): Promise<string> {
  const folder = `${CACHE}/packages`;
  const manifest = JSON.stringify({ private: true, type: "module", ...PACKAGES }, null, 2);
  const stamp = `${folder}/installed.json`;
  if (await readIfThere(stamp) !== manifest) {
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(`${folder}/package.json`, manifest);
    await install(folder, []);
    await Deno.writeTextFile(stamp, manifest);
  }
  return folder;
}

/** A folder of a user who has installed the packed package, made anew. */
export async function installPacked(name: string): Promise<string> {
  const folder = `${CACHE}/${name}`;
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/package.json`, '{ "private": true, "type": "module" }\n');
  const packed = await runOrThrow(Deno.execPath(), ["task", "--quiet", "pack"]);
  await install(folder, [await Deno.realPath(packed.trim())]);
  return folder;
}

async function install(folder: string, packages: readonly string[]): Promise<void> {
  const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...packages];
  const installing = await run("npm", args, { cwd: folder });
  if (!installing.success) throw new Error(`Installing failed: ${installing.text}`);
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch {
    return undefined;
  }
}
