/** What became of the suite in each engine: kept, compared, and put in a table. */

import type { Verdict } from "../tests/runtimes/suite.ts";
import { CACHE } from "./_packages.ts";

/** The engine whose verdicts the others are held to. */
export const REFERENCE = "Deno";

const FOLDER = `${CACHE}/engines`;

/** How many faults of an engine are printed. */
const SHOWN_FAULTS = 30;

/** One run of the suite. */
export interface EngineRun {
  readonly version: string;
  readonly verdicts: readonly Verdict[];
}

/** An engine that the suite runs in. */
export interface Engine {
  readonly name: string;
  /** Why it may leave out checks, where it may. */
  readonly mayLack?: string;
  /** Its verdicts where they are known to be others, by the names of the checks. */
  readonly differs?: Readonly<Record<string, string>>;
  /** What people who use it have to know. */
  readonly note?: string;
  /** Runs the suite; gives `undefined` where the engine is not there. */
  readonly run: () => Promise<EngineRun | undefined>;
}

/** A row of the table. */
interface Row {
  readonly name: string;
  readonly version: string;
  readonly checks: number;
  readonly note: string;
}

/** The order of the table. */
const ORDER = [
  REFERENCE,
  "Node 20",
  "Node 22",
  "Node 24",
  "Bun",
  "workerd",
  "Chromium",
  "Firefox",
  "WebKitGTK",
];

/** Reads the lines that a run of the suite prints. */
export function parseVerdicts(text: string): Verdict[] {
  return text.trim().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

/**
 * Runs the suite in each engine, the reference first, and prints what differs.
 *
 * @returns Whether all is as it should be.
 */
export async function runEngines(engines: readonly Engine[]): Promise<boolean> {
  let reference: readonly Verdict[] | undefined;
  let passed = 0;
  let failed = 0;
  await Deno.mkdir(FOLDER, { recursive: true });
  for (const engine of engines) {
    const { name, note = "" } = engine;
    const file = `${FOLDER}/${name}.json`;
    await Deno.remove(file).catch(() => {});
    const begin = performance.now();
    let run: EngineRun | undefined;
    try {
      run = await engine.run();
    } catch (error) {
      console.log(`FAILED ${name}: ${error}`);
      failed++;
      continue;
    }
    if (run === undefined) {
      const isRequired = Deno.env.has("CI");
      console.log(`${isRequired ? "FAILED" : "NOTICE"} ${name} is not there`);
      if (isRequired) failed++;
      continue;
    }
    const { version, verdicts } = run;
    reference ??= verdicts;
    const faults = faultsOf(engine, verdicts, reference);
    for (const fault of faults.slice(0, SHOWN_FAULTS)) console.log(fault);
    if (faults.length > SHOWN_FAULTS) console.log(`… and ${faults.length - SHOWN_FAULTS} more`);
    const notRun = verdicts.filter(({ isNotRun }) => isNotRun).length;
    const checks = verdicts.length - notRun;
    passed += checks - Math.min(checks, faults.length);
    failed += faults.length;
    const time = ((performance.now() - begin) / 1000).toFixed(1);
    console.log(
      `${faults.length === 0 ? "ok" : "FAILED"} ${name} ${version}: ${checks} checks, ` +
        `${faults.length} failed, ${notRun} not run (${
          engine.mayLack ?? "none may be left out"
        }), ` +
        `${time} s`,
    );
    if (faults.length === 0) {
      const row: Row = { name, version, checks, note };
      await Deno.writeTextFile(file, JSON.stringify(row));
    }
  }
  console.log(`\n${failed === 0 ? "ok" : "FAILED"} | ${passed} passed | ${failed} failed`);
  return failed === 0;
}

/** What is not as it should be: the engine, the check, and both verdicts. */
function faultsOf(
  { name, mayLack, differs = {} }: Engine,
  verdicts: readonly Verdict[],
  reference: readonly Verdict[],
): string[] {
  const faults: string[] = [];
  const own = new Map(verdicts.map((verdict) => [verdict.name, verdict]));
  if (own.size !== verdicts.length) faults.push(`FAILED ${name}: two checks of one name`);
  for (const { name: check, verdict } of reference) {
    const expected = differs[check] ?? verdict;
    const actual = own.get(check);
    own.delete(check);
    const at = `FAILED ${name}: ${check}`;
    if (actual === undefined) faults.push(`${at}: no verdict, ${REFERENCE}'s is: ${expected}`);
    else if (actual.isNotRun) {
      if (mayLack !== actual.verdict) faults.push(`${at}: not run: ${actual.verdict}`);
    } else if (actual.isWrong) faults.push(`${at}: ${actual.verdict}`);
    else if (actual.verdict !== expected) {
      const whose = check in differs ? "expected here" : `${REFERENCE}'s verdict`;
      faults.push(`${at}: ${actual.verdict}; ${whose}: ${expected}`);
    }
  }
  for (const check of own.keys()) faults.push(`FAILED ${name}: ${check}: ${REFERENCE} has no such`);
  return faults;
}

/** The engines of the last runs, as a table in Markdown. */
export async function tableOfEngines(): Promise<string> {
  const rows: Row[] = [];
  for (const name of ORDER) {
    try {
      rows.push(JSON.parse(await Deno.readTextFile(`${FOLDER}/${name}.json`)));
    } catch {
      // It was not there, or not as it should be.
    }
  }
  const cells = [
    ["engine", "version", "checks", "note"],
    ...rows.map(({ name, version, checks, note }) => [
      name,
      version,
      checks.toLocaleString("en"),
      note,
    ]),
  ];
  // As the formatter wants it.
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0))
  );
  const [head, ...lines] = cells.map((row) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [head, rule, ...lines].join("\n");
}
