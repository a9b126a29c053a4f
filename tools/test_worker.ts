/**
 * Packs the package, bundles the example Worker with it, and runs it in workerd between a provider and
 * up to a thousand clients.
 *
 * @module
 */

import { installPackages } from "./_packages.ts";
import { runOrThrow } from "./_process.ts";
import { bundleFor } from "./_suite.ts";

/** What the driver found. */
interface Finding {
  readonly name: string;
  readonly isFine: boolean;
  readonly text: string;
}

const packages = await installPackages();
const folder = await bundleFor("worker", ["examples/worker_proxy.ts"]);
const output = await runOrThrow(`${packages}/node_modules/node24/bin/node`, [
  "tools/_drive_worker.mjs",
  packages,
  `${folder}/worker_proxy.bundle.js`,
  "tests/recordings/anthropic/text.sse",
]);
const findings: Finding[] = output.trim().split("\n").map((line) => JSON.parse(line));
for (const { name, isFine, text } of findings) {
  console.log(`${isFine ? "ok" : "FAILED"} ${name}: ${text}`);
}
const failed = findings.filter(({ isFine }) => !isFine).length;
const passed = findings.length - failed;
console.log(`\n${failed === 0 ? "ok" : "FAILED"} | ${passed} passed | ${failed} failed`);
Deno.exit(failed === 0 ? 0 : 1);
