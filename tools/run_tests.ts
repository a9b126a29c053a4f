/**
 * Runs the tests: with the `@std` packages from JSR where it answers, over the thin adapters in
 * `tests/_std` where it does not, and says which.
 *
 * @module
 */

const IMPORT_MAP = "tests/_std/import_map.json";

/** How long JSR may take to answer, in milliseconds. */
const PATIENCE = 10_000;

async function jsrAnswers(): Promise<boolean> {
  const config = JSON.parse(await Deno.readTextFile("deno.json"));
  const probe = new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      "--no-lock",
      "--no-config",
      `import ${JSON.stringify(config.imports["@std/assert"])}`,
    ],
    stdin: "null",
    stdout: "null",
    stderr: "null",
    signal: AbortSignal.timeout(PATIENCE),
  });
  return (await probe.output()).success;
}

const answers = await jsrAnswers();
console.log(
  answers
    ? "JSR answers: testing with the @std packages"
    : `JSR does not answer: testing with the adapters of ${IMPORT_MAP} in place of the @std packages`,
);
const { code } = await new Deno.Command(Deno.execPath(), {
  args: [
    "test",
    "--allow-all",
    ...(answers ? [] : [`--import-map=${IMPORT_MAP}`]),
    ...Deno.args,
  ],
  stdin: "inherit",
  stdout: "inherit",
  stderr: "inherit",
}).output();
Deno.exit(code);
