/**
 * Prints the table of the engines that the suite passed in, with their versions. With `--readme` it
 * becomes that of the README.
 *
 * @module
 */

import { tableOfEngines } from "./_engines.ts";

const README = "README.md";

/** What is between these, without the blank lines. */
const TABLE = /(?<=<!-- engines -->\n\n)[^]*?(?=\n\n<!-- \/engines -->)/;

const table = await tableOfEngines();
console.log(table);
if (Deno.args.includes("--readme")) {
  const text = await Deno.readTextFile(README);
  if (!TABLE.test(text)) throw new Error(`Expected the marks of the table in ${README}`);
  await Deno.writeTextFile(README, text.replace(TABLE, () => table));
}
