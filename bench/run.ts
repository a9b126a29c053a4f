/**
 * Measures the library against its budgets, each thing in a process of its own, and prints one
 * table. Exits non-zero when a budget is missed.
 *
 * `--runtime deno|node24|node20|bun` says where (`deno` by default), `--quick` only sees that every
 * measurement runs, names of rows choose among them.
 *
 * @module
 */

import { parseArgs } from "node:util";

/** What is installed from npm, by the bench alone. */
const PACKAGES = [
  ...["@ag-ui/client@1.0.0", "ai@7.0.173", "rxjs@7", "@anthropic-ai/sdk@1.14", "openai@7.59"],
  ...["bun@1.4.5", "esbuild@0.25", "eventsource-parser@3.1.1"],
];

/** Each Node has a folder of its own: the package has one binary. */
const NODES: Readonly<Record<string, string>> = { node20: "node@20", node24: "node@24" };

const CACHE = ".cache/bench";

interface Row {
  readonly name: string;
  readonly what: string;
  /** None where the figure only tells more. */
  readonly budget?: number;
  readonly stretch?: number;
  /** Whether more is better: how many times ahead of a peer. */
  readonly isLead?: boolean;
  /** Whether the same ratio is measured of the least that has to be done, too. */
  readonly hasLeast?: boolean;
}

const ROWS: readonly Row[] = [
  {
    name: "W1",
    what: "`accept()`, chat text, against the floor",
    budget: 1.35,
    stretch: 1.2,
    hasLeast: true,
  },
  {
    name: "W2",
    what: "… thinking, text and three tools",
    budget: 1.35,
    stretch: 1.2,
    hasLeast: true,
  },
  { name: "W3", what: "… one tool call of 1 MB", budget: 1.5, stretch: 1.3, hasLeast: true },
  { name: "W4", what: "… 200 blocks", budget: 1.5, stretch: 1.3, hasLeast: true },
  {
    name: "W5",
    what: "… a million one-character deltas",
    budget: 1.2,
    stretch: 1.1,
    hasLeast: true,
  },
  {
    name: "interleaved",
    what: "JSON.parse + `accept()`, 1,000 interleaved streams, against JSON.parse",
    budget: 1.15,
    stretch: 1.08,
    hasLeast: true,
  },
  {
    name: "heap4",
    what: "heap, 10,000 open streams, 4-character deltas, against the text",
    budget: 1.25,
    stretch: 1.1,
  },
  { name: "heap1", what: "… one-character deltas", budget: 1.4, stretch: 1.2 },
  {
    name: "stream",
    what: "`StreamEventValidatorStream` against a TransformStream that only enqueues",
    budget: 1.15,
    stretch: 1.05,
    hasLeast: true,
  },
  {
    name: "pipe",
    what: "`StreamEventDecoderStream` with a validator, times faster than four chained streams",
    budget: 2.5,
    stretch: 4,
    isLead: true,
  },
  {
    name: "read",
    what: "`readStreamEvents`, NDJSON, against decode + split + parse",
    budget: 1.5,
    stretch: 1.2,
    hasLeast: true,
  },
  {
    name: "deltas",
    what: "cost a delta, 10 million deltas against 10,000",
    budget: 1.2,
    stretch: 1.05,
    hasLeast: true,
  },
  {
    name: "queue",
    what: "`EventStream`, cost an event, a million waiting against 10,000",
    budget: 1.3,
    stretch: 1.1,
    hasLeast: true,
  },
  {
    name: "agUi",
    what: "`accept()`, chat text, times faster than AG-UI's `verifyEvents`",
    budget: 9,
    isLead: true,
  },
  {
    name: "agUiTools",
    what: "… with three tool calls, whose arguments it does not read",
    isLead: true,
  },
  {
    name: "ai",
    what: "`readStreamEvents`, times faster than `ai`'s `readUIMessageStream`",
    budget: 12,
    isLead: true,
    hasLeast: true,
  },
  {
    name: "anthropic",
    what: "`streamAnthropicMessages`, times faster than the official client",
    budget: 4,
    stretch: 6,
    isLead: true,
    hasLeast: true,
  },
  {
    name: "openAiChat",
    what: "`streamOpenAiChat`, times faster than the official client",
    budget: 7,
    stretch: 10,
    isLead: true,
    hasLeast: true,
  },
  { name: "depth", what: "cost a level, 1,000,000 levels against 100,000", budget: 2 },
  { name: "width", what: "cost an element, 1,000,000 elements against 100,000", budget: 2 },
  { name: "length", what: "cost a character, 64 Mi characters against 4 Mi", budget: 2 },
];

async function run(command: string, args: string[], cwd?: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, {
    args,
    ...(cwd && { cwd }),
    stdin: "null",
  }).output();
  if (!success) throw new Error(`${command} failed: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

async function install(folder: string, packages: readonly string[]): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/package.json`, '{ "private": true, "type": "module" }\n');
  await run("npm", ["install", "--no-audit", "--no-fund", "--silent", ...packages], folder);
}

/** Installs what is needed, and bundles the library as the runtimes will run it. */
async function prepare(runtime: string): Promise<void> {
  await install(CACHE, PACKAGES);
  const node = NODES[runtime];
  if (node) await install(`${CACHE}/${runtime}`, [node]);
  await Deno.writeTextFile(
    `${CACHE}/all.ts`,
    [
      "mod",
      "src/_delta_text",
      "src/wire/mod",
      "src/adapters/anthropic/mod",
      "src/adapters/openai/mod",
    ]
      .map((path) => `export * from "../../${path}.ts";\n`).join(""),
  );
  await run(`${CACHE}/node_modules/.bin/esbuild`, [
    ...[`${CACHE}/all.ts`, "--bundle", "--format=esm", "--target=es2022", "--log-level=error"],
    ...[`--outfile=${CACHE}/library.mjs`],
    `--alias:eventsource-parser=./${CACHE}/node_modules/eventsource-parser/dist/index.js`,
  ]);
  for (const file of ["_floors", "_harness", "_workloads", "measure"]) {
    await Deno.copyFile(`bench/${file}.mjs`, `${CACHE}/${file}.mjs`);
  }
}

async function measure(runtime: string, name: string, isQuick: boolean): Promise<number> {
  const args = ["measure.mjs", name, "./library.mjs", isQuick ? "quick" : "full"];
  const [command, before] = {
    deno: [
      Deno.execPath(),
      ["run", "--allow-all", "--no-check", "--node-modules-dir=manual", "--v8-flags=--expose-gc"],
    ] as const,
    bun: ["./node_modules/.bin/bun", []] as const,
    node20: ["./node20/node_modules/.bin/node", ["--expose-gc"]] as const,
    node24: ["./node24/node_modules/.bin/node", ["--expose-gc"]] as const,
  }[runtime] ?? [undefined, []];
  if (command === undefined) throw new TypeError(`Expected a known runtime, received "${runtime}"`);
  return JSON.parse(
    await run(command.startsWith("./") ? await Deno.realPath(`${CACHE}/${command}`) : command, [
      ...before,
      ...args,
    ], CACHE),
  );
}

const { values, positionals } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: { runtime: { type: "string", default: "deno" }, quick: { type: "boolean" } },
});
const isQuick = values.quick === true;
const rows = positionals.length === 0 ? ROWS : ROWS.filter((row) => positionals.includes(row.name));

console.error(`Preparing for ${values.runtime} …`);
await prepare(values.runtime);
const lines: string[] = [];
let missed = 0;
for (const [i, row] of rows.entries()) {
  console.error(`${i + 1}/${rows.length} ${row.name}`);
  const ratio = await measure(values.runtime, row.name, isQuick);
  const least = row.hasLeast && await measure(values.runtime, `${row.name}Least`, isQuick);
  const meets = (bound: number): boolean => row.isLead ? ratio >= bound : ratio <= bound;
  const verdict = isQuick
    ? "ran"
    : row.budget === undefined
    ? ""
    : !meets(row.budget)
    ? "missed"
    : row.stretch !== undefined && meets(row.stretch)
    ? "stretch"
    : "met";
  if (verdict === "missed") missed++;
  const figures = [row.budget, row.stretch, ratio.toFixed(2), least ? least.toFixed(2) : ""];
  lines.push(`| ${[row.what, ...figures.map((figure) => figure ?? ""), verdict].join(" | ")} |`);
}
console.log(
  `| on ${values.runtime} | budget | stretch | measured | least | |\n|---|---|---|---|---|---|`,
);
console.log(lines.join("\n"));
if (isQuick) console.log(`\nok | ${rows.length} passed | 0 failed`);
Deno.exit(missed === 0 ? 0 : 1);
