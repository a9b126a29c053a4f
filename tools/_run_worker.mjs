/**
 * Runs the Worker of the suite in workerd, and prints what it streams out. For Node, where miniflare
 * is at home.
 */

import { createRequire } from "node:module";
import process from "node:process";

const [packages, scriptPath, server] = process.argv.slice(2);
const { Miniflare } = createRequire(`${packages}/package.json`)("miniflare");

const miniflare = new Miniflare({
  modules: true,
  scriptPath,
  // The oldest that will do: before it, a transform stream of this engine holds nothing back.
  compatibilityDate: "2024-12-16",
  // So that only those count as unhandled that stay so.
  compatibilityFlags: ["unhandled_rejection_after_microtask_checkpoint"],
  bindings: { SERVER: server },
});
const response = await miniflare.dispatchFetch("http://worker.example/");
for await (const chunk of response.body) process.stdout.write(chunk);
await miniflare.dispose();
