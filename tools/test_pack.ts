/**
 * Packs the package, installs the tarball as a user would, and runs consumers and the command line under
 * Node 20 and Bun; and compiles it with tsc, the ways people configure it.
 *
 * @module
 */

const VERSIONS = ["node@20", "bun@1", "typescript@5", "@types/node@20"];

/** What to run in the folder where the tarball is installed: a command, and its arguments. */
const STEPS: ReadonlyArray<readonly [name: string, command: string, args: readonly string[]]> = [
  [
    "tsc, nodenext, @types/node alone",
    "tsc",
    [
      ...["--module", "nodenext", "--lib", "es2022", "--types", "node"],
      ...["consumer.ts", "command_line.ts"],
    ],
  ],
  [
    "tsc, bundler, DOM",
    "tsc",
    [
      ...["--module", "esnext", "--moduleResolution", "bundler", "--typeRoots", "none"],
      ...["--lib", "es2022,dom,dom.iterable,dom.asynciterable", "consumer.ts"],
    ],
  ],
  ["Node 20", "node", ["consumer.js"]],
  ["Bun", "bun", ["consumer.js"]],
  ["the command line, Node 20", "node", ["command_line.js"]],
  ["the command line, Bun", "bun", ["command_line.js"]],
  ["the command line, by its name", "stream-validator", ["explain"]],
];

async function run(
  command: string,
  args: readonly string[],
  cwd?: string,
): Promise<Deno.CommandOutput> {
  return await new Deno.Command(command, {
    args: [...args],
    ...(cwd && { cwd }),
    stdin: "null",
    signal: AbortSignal.timeout(300_000),
  }).output();
}

function textOf({ stdout, stderr }: Deno.CommandOutput): string {
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

const packing = await run(Deno.execPath(), ["task", "--quiet", "pack"]);
if (!packing.success) throw new Error(`Packing failed: ${textOf(packing)}`);
const tarball = await Deno.realPath(new TextDecoder().decode(packing.stdout).trim());

const folder = await Deno.makeTempDir();
let failed = 0;
try {
  await Deno.writeTextFile(`${folder}/package.json`, '{ "private": true, "type": "module" }\n');
  for (const name of ["consumer.ts", "command_line.ts"]) {
    await Deno.copyFile(`tests/package/${name}`, `${folder}/${name}`);
  }
  const installing = await run(
    "npm",
    ["install", "--no-audit", "--no-fund", tarball, ...VERSIONS],
    folder,
  );
  if (!installing.success) throw new Error(`Installing failed: ${textOf(installing)}`);
  for (const [name, command, args] of STEPS) {
    const all = command === "tsc"
      ? [...args, "--strict", "--exactOptionalPropertyTypes", "--target", "es2022"]
      : args;
    const output = await run(`${folder}/node_modules/.bin/${command}`, all, folder);
    if (!output.success) failed++;
    console.log(`${output.success ? "ok" : "FAILED"} ${name}`);
    if (!output.success) console.log(textOf(output));
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
console.log(
  `\n${failed === 0 ? "ok" : "FAILED"} | ${STEPS.length - failed} passed | ${failed} failed`,
);
Deno.exit(failed === 0 ? 0 : 1);
