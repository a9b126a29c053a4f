/** Runs the suite in Deno, Node or Bun, and prints its verdicts, one a line. */

import process from "node:process";
import { runInNewContext } from "node:vm";
import { runSuite } from "./suite.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

const [server] = process.argv.slice(2);
if (server === undefined) throw new TypeError("Expected the address of the server");
const parseElsewhere = (text: string) => runInNewContext("JSON.parse(text)", { text });
for await (const verdict of runSuite({ server, parseElsewhere, unhandled })) {
  console.log(JSON.stringify(verdict));
}
// What an engine keeps open is no reason to wait.
process.exit(0);
