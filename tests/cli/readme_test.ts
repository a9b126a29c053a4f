import { assert, assertEquals } from "@std/assert";
import { runCli } from "./_cli.ts";

/** The commands of the README, and what it says that they write. */
const README = Deno.readTextFileSync(new URL("../../README.md", import.meta.url));
const EXAMPLES = [...README.matchAll(/^```console\n\$ stream-validator (.*)\n([^]*?)^```$/gm)];

Deno.test("README shows what the commands really write", async () => {
  assert(EXAMPLES.length >= 2, `${EXAMPLES.length} examples`);
  for (const [, command, expected] of EXAMPLES) {
    const { stdout, stderr } = await runCli((command as string).split(" "));
    assertEquals(`${stdout}${stderr}`, expected as string, command);
  }
});

Deno.test("README names every command", async () => {
  const { stdout } = await runCli(["--help"]);
  for (const [, name] of stdout.matchAll(/^ {2}(\w+) /gm)) {
    assert(README.includes(`\n| \`${name}\` `), name);
  }
});
