/**
 * Opens the page of the command line in Chromium: `deno task test:page [--screenshots FOLDER]`.
 *
 * Chromium is that of the machine (`CHROMIUM` says where, if it is in no usual place); what drives
 * it is installed once, into a folder that git ignores.
 *
 * @module
 */

import { renderPage } from "../src/cli/_page.ts";
import { PAGES } from "../tests/cli/_pages.ts";

const DRIVER = "playwright-core@1.65.1";
const CACHE = ".cache/test_page";

const PLACES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

async function run(command: string, args: readonly string[]): Promise<boolean> {
  const process = new Deno.Command(command, {
    args: [...args],
    stdin: "null",
    signal: AbortSignal.timeout(600_000),
  });
  return (await process.spawn().status).success;
}

async function findChromium(): Promise<string> {
  const own = Deno.env.get("CHROMIUM");
  for (const path of own ? [own] : PLACES.map((name) => `/usr/bin/${name}`)) {
    const info = await Deno.stat(path).catch(() => undefined);
    if (info?.isFile) return path;
  }
  throw new Error("Expected Chromium to be installed: `apt-get install chromium`, or set CHROMIUM");
}

const [flag, screenshots] = Deno.args;
if (Deno.args.length > 0 && (flag !== "--screenshots" || !screenshots)) {
  throw new TypeError("Expected no arguments, or --screenshots FOLDER");
}
const chromium = await findChromium();
const wanted = `${CACHE}/${DRIVER}`;
if (!await Deno.stat(wanted).catch(() => undefined)) {
  await Deno.mkdir(CACHE, { recursive: true });
  const args = ["install", "--prefix", CACHE, "--no-audit", "--no-fund", "--no-save", DRIVER];
  if (!await run("npm", args)) throw new Error(`Installing ${DRIVER} failed`);
  await Deno.writeTextFile(wanted, "");
}
const driver = await Deno.realPath(`${CACHE}/node_modules/playwright-core/index.js`);
const folder = await Deno.makeTempDir();
let isGood: boolean;
try {
  for (const [name, streams] of Object.entries(PAGES)) {
    await Deno.writeTextFile(`${folder}/${name}.html`, renderPage(streams));
  }
  if (screenshots) await Deno.mkdir(screenshots, { recursive: true });
  const args = ["tools/_open_pages.mjs", driver, chromium, folder];
  isGood = await run("node", screenshots ? [...args, screenshots] : args);
} finally {
  await Deno.remove(folder, { recursive: true });
}
Deno.exit(isGood ? 0 : 1);
