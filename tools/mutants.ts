/**
 * Takes out each single check of the validator in turn and shows that the vectors turn red.
 *
 * A check is an `if`, one side of an `&&` or `||` in what decides something, or a `throw` that stands
 * alone. Each is found in the syntax tree, and each mutant runs on a copy in a folder of its own. What
 * only words a message is left out. Exits with 1 if a mutant survives that is not listed as equivalent.
 *
 * @module
 */

import ts from "typescript";
import type { VectorRun } from "./_run_vectors.ts";

const SOURCES = new URL("../src/", import.meta.url);
const FILES = ["stream_event_validator.ts", "_json.ts", "_read_limit.ts"];

/** How long a run may take, in milliseconds; a whole one takes about half a second. */
const TIMEOUT = 15_000;
const MEMORY_MEGABYTES = 512;
const PARALLEL = Math.max(1, Math.min(4, navigator.hardwareConcurrency));

/** Functions whose checks choose words, and decide no verdict. */
const WORDING = new Set([
  "describeMalformed",
  "describeParts",
  "expectedField",
  "expectedIndex",
  "#describeOpen",
  "kindOf",
  "excerpt",
  "pathOf",
]);

/** A check without which the verdicts are the same, and why. */
interface Equivalent {
  readonly file: string;
  readonly where: string;
  readonly taken: string;
  readonly reason: string;
}

const EQUIVALENT: readonly Equivalent[] = [
  {
    file: "stream_event_validator.ts",
    where: "accept",
    taken:
      'open !== undefined && typeof event === "object" && event !== null && event.type === this.#deltaType && (event as UnknownEvent).contentIndex === this.#content.length',
    reason: "the quick way for deltas; without it each is judged rule by rule",
  },
  {
    file: "stream_event_validator.ts",
    where: "accept",
    taken: 'event !== null of open !== undefined && typeof event === "object" && event !== null',
    reason: "reading a field of null throws, which is caught as malformed_event",
  },
  {
    file: "stream_event_validator.ts",
    where: "accept",
    taken: 'typeof delta === "string" && delta !== "" && delta.length <= this.#room',
    reason: "the quick way for deltas; without it each is judged rule by rule",
  },
  {
    file: "stream_event_validator.ts",
    where: "#growBlock",
    taken: 'delta === "" of delta === "" && this.#calls',
    reason: "a delta that left a trace in the text says the same as one that left none",
  },
  {
    file: "stream_event_validator.ts",
    where: "#endToolCall",
    taken: "streamed of streamed && sameJson(spelled, toolCall.arguments, this.#quickDepth())",
    reason: "without deltas nothing is spelled, and undefined is the same JSON as nothing",
  },
  {
    file: "stream_event_validator.ts",
    where: "#endToolCall",
    taken: "!isSame of streamed && !isSame",
    reason: "spares a second comparison, which finds no difference either",
  },
  {
    file: "stream_event_validator.ts",
    where: "#compareContent",
    taken: "!this.#calls?.isShared && sameJson(block, received[i], QUICK_DEPTH)",
    reason: "the quick comparison; without it the slow one finds the same",
  },
  {
    file: "stream_event_validator.ts",
    where: "isRecord",
    taken: 'value !== null of typeof value === "object" && value !== null',
    reason: "reading a field of null throws, which is caught as malformed_event",
  },
  {
    file: "_json.ts",
    where: "isPlainObject",
    taken: "prototype === Object.prototype of prototype === Object.prototype || prototype === null",
    reason: "the quick way; what is asked of other realms holds for this one too",
  },
  {
    file: "_json.ts",
    where: "offsetOfDifference",
    taken:
      "offset < expected.length of offset < expected.length && expected[offset] === received[offset]",
    reason: "the texts differ, so a character does before both end",
  },
  {
    file: "_json.ts",
    where: "copyJson",
    taken:
      "!hasKey(frame.source, String(frame.next - 1)) of frame && !frame.keys && !hasKey(frame.source, String(frame.next - 1))",
    reason: "only then skips holes; what is not JSON was noted before",
  },
  {
    file: "_json.ts",
    where: "copyJson",
    taken: "notJson of notJson && { notJson }",
    reason: "leaves out a field that is undefined",
  },
];

/** One check taken out. */
interface Mutant {
  readonly file: string;
  /** The function that it is in. */
  readonly where: string;
  /** What was taken out, as it stands in the source, and out of what. */
  readonly taken: string;
  /** The whole file without it. */
  readonly text: string;
}

interface Result {
  readonly mutant: Mutant;
  readonly run: VectorRun | { readonly outcome: "hung" | "crashed" };
  readonly equivalent: Equivalent | undefined;
}

function mutantsOf(file: string, source: string): Mutant[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  const replace = (taken: ts.Node, start: number, end: number, by: string): void => {
    const whole = ts.isBinaryExpression(taken.parent) ? ` of ${flat(taken.parent)}` : "";
    mutants.push({
      file,
      where: functionAround(taken),
      taken: flat(taken) + whole,
      text: source.slice(0, start) + by + source.slice(end),
    });
  };
  const visit = (node: ts.Node): void => {
    if (isWording(node)) return;
    if (ts.isIfStatement(node)) {
      const { expression } = node;
      replace(expression, expression.getStart(), expression.getEnd(), "false");
    }
    if (ts.isBinaryExpression(node) && isLogical(node.operatorToken.kind)) {
      replace(node.left, node.getStart(), node.getEnd(), `(${node.right.getText()})`);
      replace(node.right, node.getStart(), node.getEnd(), `(${node.left.getText()})`);
    }
    if (ts.isThrowStatement(node) && !isOnlyBranch(node)) {
      replace(node, node.getStart(), node.getEnd(), ";");
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return mutants;
}

function flat(node: ts.Node): string {
  return node.getText().replaceAll(/\s+/g, " ");
}

function isLogical(kind: ts.SyntaxKind): boolean {
  return kind === ts.SyntaxKind.AmpersandAmpersandToken || kind === ts.SyntaxKind.BarBarToken;
}

/** Whether a `throw` is all that an `if` does: then the `if` is the check. */
function isOnlyBranch(node: ts.ThrowStatement): boolean {
  const around = ts.isBlock(node.parent) ? node.parent.parent : node.parent;
  return ts.isIfStatement(around);
}

/** Whether a node only chooses words: it is in such a function, or it is part of a new error. */
function isWording(node: ts.Node): boolean {
  if (WORDING.has(nameOf(node) ?? "")) return true;
  return ts.isCallExpression(node) && node.expression.getText() === "differenceOf" ||
    ts.isNewExpression(node) && /(Error|Violation)$/.test(node.expression.getText());
}

function nameOf(node: ts.Node): string | undefined {
  if (ts.isConstructorDeclaration(node)) return "constructor";
  if (
    ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) ||
    ts.isGetAccessorDeclaration(node)
  ) {
    return node.name?.getText();
  }
  return undefined;
}

function functionAround(node: ts.Node): string {
  for (let around = node.parent; around; around = around.parent) {
    const name = nameOf(around);
    if (name !== undefined) return name;
  }
  return "";
}

async function runVectors(folder: string): Promise<Result["run"]> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-check",
      "--no-config",
      "--no-lock",
      "--allow-read",
      // As in other runtimes; without it Deno has no `__proto__` to get wrong.
      "--unstable-unsafe-proto",
      `--v8-flags=--max-old-space-size=${MEMORY_MEGABYTES}`,
      new URL("./_run_vectors.ts", import.meta.url).href,
      folder,
    ],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    child.kill("SIGKILL");
  }, TIMEOUT);
  const { stdout } = await child.output();
  clearTimeout(timer);
  if (hung) return { outcome: "hung" };
  const text = new TextDecoder().decode(stdout).trim();
  return text === "" ? { outcome: "crashed" } : JSON.parse(text);
}

async function judge(mutant: Mutant, sources: ReadonlyMap<string, string>): Promise<Result> {
  const folder = await Deno.makeTempDir({ prefix: "mutant-" });
  try {
    for (const [name, source] of sources) {
      const text = name === mutant.file ? mutant.text : source;
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    const equivalent = EQUIVALENT.find((known) => isAbout(known, mutant));
    return { mutant, run: await runVectors(folder), equivalent };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function isAbout({ file, where, taken }: Equivalent, mutant: Mutant): boolean {
  return file === mutant.file && where === mutant.where && taken === mutant.taken;
}

/** How the run of a mutant reads in the table, and whether it is as it should be. */
function verdictOn({ run, equivalent }: Result): readonly [ok: boolean, text: string] {
  switch (run.outcome) {
    case "green":
      return equivalent ? [true, `equivalent: ${equivalent.reason}`] : [false, "SURVIVED"];
    case "broken":
      return [false, `BROKEN, not a program: ${run.failure}`];
    case "red":
      return equivalent
        ? [false, `NOT EQUIVALENT, red: ${run.vector}`]
        : [true, `red: ${run.vector}`];
    case "hung":
      return [equivalent === undefined, `red: did not end in ${TIMEOUT / 1000} s`];
    case "crashed":
      return [equivalent === undefined, `red: crashed, with ${MEMORY_MEGABYTES} MB of memory`];
  }
}

function clip(text: string, length: number): string {
  return (text.length > length ? `${text.slice(0, length - 1)}…` : text).padEnd(length);
}

async function main(): Promise<number> {
  const sources = new Map<string, string>();
  for await (const { name, isFile } of Deno.readDir(SOURCES)) {
    if (isFile) sources.set(name, await Deno.readTextFile(new URL(name, SOURCES)));
  }
  const mutants = FILES.flatMap((file) => mutantsOf(file, sources.get(file) ?? ""));

  const untouched = await judge({ file: "", where: "", taken: "", text: "" }, sources);
  if (untouched.run.outcome !== "green") {
    console.error("The vectors are red without any mutant:", untouched.run);
    return 1;
  }

  const queue = mutants.entries();
  const results: Result[] = [];
  await Promise.all(Array.from({ length: PARALLEL }, async () => {
    for (const [index, mutant] of queue) results[index] = await judge(mutant, sources);
  }));

  let failures = 0;
  for (const result of results) {
    const { file, where, taken } = result.mutant;
    const [ok, text] = verdictOn(result);
    if (!ok) failures++;
    console.log(`${clip(`${file} ${where}`, 42)} ${clip(taken, 60)} ${text}`);
  }
  for (const known of EQUIVALENT) {
    if (mutants.some((mutant) => isAbout(known, mutant))) continue;
    failures++;
    console.log(`${clip(`${known.file} ${known.where}`, 42)} ${clip(known.taken, 60)} NOT FOUND`);
  }
  const equivalent = results.filter((result) => result.equivalent !== undefined).length;
  console.log(
    `${mutants.length} mutants: ${mutants.length - equivalent - failures} red, ` +
      `${equivalent} equivalent, ${failures} failed`,
  );
  return failures === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main());
