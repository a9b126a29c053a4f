/**
 * Packs the package for npm: what `deno pack` makes, and what it leaves out of `package.json`.
 * Prints the path of the tarball.
 *
 * @module
 */

/** Where the tarball goes. */
const DESTINATION = "dist";

/** What bundlers and people need to know beyond what `deno pack` writes. */
const ADDITIONS = {
  description: "Validates the event streams of language models, as a TransformStream",
  keywords: ["llm", "streaming", "validator", "transformstream", "sse", "ndjson"],
  // To import the command line is to run it.
  sideEffects: ["./src/cli/main.js"],
  bin: { "stream-validator": "./src/cli/main.js" },
  engines: { node: ">=20" },
};

async function run(command: string, args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args, stdin: "null" })
    .output();
  if (!success) {
    throw new Error(`${command} ${args.join(" ")} failed: ${new TextDecoder().decode(stderr)}`);
  }
  return new TextDecoder().decode(stdout);
}

const scratch = await Deno.makeTempDir();
try {
  const tarball = `${scratch}/package.tgz`;
  await run(Deno.execPath(), ["pack", "--allow-dirty", "--output", tarball]);
  await run("tar", ["-xzf", tarball, "-C", scratch]);
  const manifest = `${scratch}/package/package.json`;
  const packed = JSON.parse(await Deno.readTextFile(manifest));
  await Deno.writeTextFile(manifest, JSON.stringify({ ...packed, ...ADDITIONS }, null, 2) + "\n");
  await Deno.mkdir(DESTINATION, { recursive: true });
  const [{ filename }] = JSON.parse(
    await run("npm", ["pack", `${scratch}/package`, "--pack-destination", DESTINATION, "--json"]),
  );
  console.log(`${DESTINATION}/${filename}`);
} finally {
  await Deno.remove(scratch, { recursive: true });
}
