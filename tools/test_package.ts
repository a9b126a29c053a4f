/**
 * Packs the package, installs the tarball as a user would, and looks at it as a compiler, a bundler and
 * a shell do: whether consumers compile, how much a browser has to load, what an import leaves out, and
 * whether the command line runs.
 *
 * @module
 */

import { gzipSync } from "node:zlib";
import { installPackages, installPacked } from "./_packages.ts";
import { run, runOrThrow } from "./_process.ts";

/**
 * What the core may weigh, minified and compressed by gzip, in bytes: what it does weigh, so that it
 * does not grow unseen. The goal is 4,000. The messages alone take 1,500. Without what finds the path
 * of a difference, copies arguments, checks limits, hints at what to do, serialises errors and stands
 * in for a missing `cancel` hook, the rest would still take 4,670.
 */
const CORE_BUDGET = 5_750;

/** Where the web's types come from, by what people have. */
const LIBRARIES = {
  "DOM": { lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable"], types: [] },
  "@types/node alone": { lib: ["es2022"], types: ["node"] },
  "Cloudflare's types alone": { lib: ["es2022"], types: ["@cloudflare/workers-types"] },
};

const MODULES = {
  nodenext: { module: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
};

/** What a program imports, and what may not come with it. */
const SHAKEN = [
  {
    name: "the validator alone",
    code: 'export { createStreamEventValidator } from "@agent-stream/validator";',
    without: /TransformStream|ReadableStream|WritableStream|AbortController|TextEncoder|Outcome/,
  },
  {
    name: "the error alone",
    code: 'export { StreamSequenceError } from "@agent-stream/validator";',
    without: /TransformStream|ReadableStream|WritableStream|duplicate_start/,
  },
  {
    name: "one adapter",
    code: 'export { streamOllamaChat } from "@agent-stream/validator/ollama";',
    without: /message_start|finish_reason|streamGenerateContent|TransformStream/,
  },
  {
    name: "types alone",
    code: 'import "@agent-stream/validator"; import "@agent-stream/validator/wire";',
    without: /./,
  },
];

let passed = 0;
let failed = 0;

function tell(name: string, isFine: boolean, text = ""): void {
  if (isFine) passed++;
  else failed++;
  console.log(`${isFine ? "ok" : "FAILED"} ${name}${text && `: ${text}`}`);
}

const packages = await installPackages();
// Within that folder, so that the compilers' types are found, as they would be beside the package.
const folder = await installPacked("packages/consumer");
const esbuild = `${packages}/node_modules/.bin/esbuild`;

async function compile(compiler: string): Promise<void> {
  const tsc = `${packages}/node_modules/${compiler}/bin/tsc`;
  const version = (await runOrThrow("node", [tsc, "--version"])).trim().replace("Version ", "");
  for (const [library, { lib, types }] of Object.entries(LIBRARIES)) {
    for (const [resolution, module] of Object.entries(MODULES)) {
      const compilerOptions = {
        ...{ target: "es2022", lib, types, ...module, noEmit: true },
        ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      };
      const project = `${folder}/tsconfig.json`;
      await Deno.writeTextFile(
        project,
        JSON.stringify({ compilerOptions, files: ["consumer.ts"] }),
      );
      const { success, text } = await run("node", [tsc, "--project", project], { cwd: folder });
      tell(`TypeScript ${version}, ${resolution}, ${library}`, success, text.trim());
    }
  }
}

/** Bundles a program for browsers, minified or so that it can be read. */
async function bundle(code: string, minify: boolean): Promise<Uint8Array<ArrayBuffer>> {
  await Deno.writeTextFile(`${folder}/entry.js`, code);
  await runOrThrow(esbuild, [
    `${folder}/entry.js`,
    ...["--bundle", "--format=esm", "--platform=browser", "--log-level=error"],
    ...(minify ? ["--minify"] : []),
    `--outfile=${folder}/bundle.js`,
  ]);
  return await Deno.readFile(`${folder}/bundle.js`);
}

async function bundleWithRollup(code: string): Promise<string> {
  await Deno.writeTextFile(`${folder}/entry.js`, code);
  return await runOrThrow("node", [
    `${packages}/node_modules/rollup/dist/bin/rollup`,
    ...["--input", `${folder}/entry.js`, "--format", "es", "--silent"],
    ...["--plugin", "@rollup/plugin-node-resolve"],
  ], { cwd: folder });
}

/** The code without the comments, which name what is not there. */
function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "").trim();
}

async function weigh(name: string, code: string, budget = Infinity): Promise<void> {
  const bytes = await bundle(code, true);
  const { length } = gzipSync(bytes, { level: 9 });
  const limit = budget === Infinity ? "" : `, at most ${budget.toLocaleString("en")}`;
  const sizes = `${bytes.length.toLocaleString("en")} bytes, ${
    length.toLocaleString("en")
  } by gzip`;
  tell(`size of ${name}`, length <= budget, `${sizes}${limit}`);
}

await Deno.copyFile("tests/package/consumer.ts", `${folder}/consumer.ts`);
await compile("typescript");
await compile("typescript-latest");

const core = "createStreamEventValidator, StreamSequenceError, StreamEventValidatorStream";
await weigh(
  "validator, error and transform stream",
  `export { ${core} } from "@agent-stream/validator";`,
  CORE_BUDGET,
);
await weigh("everything of /", 'export * from "@agent-stream/validator";');
await weigh("everything of /wire", 'export * from "@agent-stream/validator/wire";');
await weigh(
  "streamAnthropicMessages",
  'export { streamAnthropicMessages } from "@agent-stream/validator/anthropic";',
);

for (const { name, code, without } of SHAKEN) {
  const bundlers = {
    esbuild: new TextDecoder().decode(await bundle(code, false)),
    rollup: await bundleWithRollup(code),
  };
  for (const [bundler, text] of Object.entries(bundlers)) {
    const extra = without.exec(withoutComments(text))?.[0] ?? "";
    tell(`${bundler}, ${name}`, extra === "", extra && `brings in ${extra}`);
  }
}

async function runCommandLine(): Promise<void> {
  const bin = `${folder}/node_modules/.bin/stream-validator`;
  tell("the command line by its name", (await run(bin, ["explain"])).success);
  await Deno.copyFile("tests/package/command_line.ts", `${folder}/command_line.ts`);
  await runOrThrow("node", [
    `${packages}/node_modules/typescript/bin/tsc`,
    ...["--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"],
    "command_line.ts",
  ], { cwd: folder });
  for (const runtime of ["node20/bin/node", "node24/bin/node", "bun/bin/bun.exe"]) {
    const { success, text } = await run(
      `${packages}/node_modules/${runtime}`,
      ["command_line.js"],
      { cwd: folder },
    );
    const [name] = runtime.split("/");
    tell(`the command line under ${name}`, success, success ? "" : text);
  }
}

await runCommandLine();

console.log(`\n${failed === 0 ? "ok" : "FAILED"} | ${passed} passed | ${failed} failed`);
Deno.exit(failed === 0 ? 0 : 1);
