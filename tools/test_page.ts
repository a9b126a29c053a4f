/**
 * Opens the page of the command line in Chromium, if it is installed:
 * `deno task test:page [--screenshots FOLDER]`.
 *
 * @module
 */

import { renderPage } from "../src/cli/_page.ts";
import { PAGES } from "../tests/cli/_pages.ts";
import { installPackages } from "./_packages.ts";
import { firstThere, run } from "./_process.ts";

const [flag, screenshots] = Deno.args;
if (Deno.args.length > 0 && (flag !== "--screenshots" || screenshots === undefined)) {
  throw new TypeError("Expected no arguments, or --screenshots FOLDER");
}
const packages = await installPackages();
const node = await firstThere([`${packages}/node_modules/node24/bin/node`, "node"]);
const chromium = await firstThere(["chromium", "chromium-browser", "google-chrome"]);
if (node === undefined || chromium === undefined) {
  throw new Error("Expected Node and Chromium to be installed: `apt-get install chromium`");
}
const folder = await Deno.makeTempDir();
try {
  for (const [name, streams] of Object.entries(PAGES)) {
    await Deno.writeTextFile(`${folder}/${name}.html`, renderPage(streams));
  }
  if (screenshots !== undefined) await Deno.mkdir(screenshots, { recursive: true });
  const args = ["tools/_open_pages.mjs", packages, chromium, folder, screenshots ?? ""];
  const { success, text } = await run(node, args);
  console.log(text.trimEnd());
  Deno.exitCode = success ? 0 : 1;
} finally {
  await Deno.remove(folder, { recursive: true });
}
