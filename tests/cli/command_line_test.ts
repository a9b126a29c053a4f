import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { COMMANDS } from "../../src/cli/_commands.ts";
import { UnreadableError } from "../../src/cli/_errors.ts";
import { writeEvent } from "../../src/cli/_write_event.ts";
import { runCli, runProcess } from "./_cli.ts";

Deno.test("runCommandLine lists the commands for --help, and for nothing as an error", async () => {
  for (const args of [["--help"], ["-h"], ["help"], ["help", "nothing"]]) {
    const { code, stdout, stderr } = await runCli(args);
    assertEquals([code, stderr], [0, ""]);
    for (const name of Object.keys(COMMANDS)) assertStringIncludes(stdout, `\n  ${name} `);
  }
  const { code, stdout, stderr } = await runCli([]);
  assertEquals([code, stdout], [2, ""]);
  assertStringIncludes(stderr, "Usage: stream-validator COMMAND");
});

Deno.test("runCommandLine has a help for each command that names all its options", async () => {
  for (const [name, { options }] of Object.entries(COMMANDS)) {
    const { code, stdout } = await runCli([name, "--help"]);
    assertEquals(code, 0, name);
    assert(stdout.startsWith(`Usage: stream-validator ${name} `), stdout);
    for (const option of Object.keys(options)) assertStringIncludes(stdout, ` --${option} `);
    for (const line of stdout.split("\n")) assert(line.length <= 100, line);
    assertEquals((await runCli([name, "-h"])).stdout, stdout);
    assertEquals((await runCli(["help", name])).stdout, stdout);
  }
});

Deno.test("runCommandLine ends with 2 and says why when it is used wrongly", async () => {
  const cases: ReadonlyArray<readonly [string[], string]> = [
    [
      ["chek"],
      `Expected a command (${Object.keys(COMMANDS).join(", ")}), received "chek"; see ` +
      "stream-validator --help",
    ],
    [
      ["toString"],
      `Expected a command (${Object.keys(COMMANDS).join(", ")}), received ` +
      '"toString"; see stream-validator --help',
    ],
    [["check", "--al"], "Unknown option '--al'; see stream-validator check --help"],
    [
      ["show", "--stream", "-1"],
      "Option '--stream' argument begins with a dash; where it is meant, write it behind a =; see " +
      "stream-validator show --help",
    ],
    [
      ["check", "a", ""],
      "Expected the name of a file, received an empty one; see stream-validator check --help",
    ],
    [
      ["show", "--html", "", "a"],
      "Expected the name of a file after --html, received none; see stream-validator show --help",
    ],
    [
      ["check", "--from"],
      "Option '--from <value>' argument missing; see stream-validator check " +
      "--help",
    ],
  ];
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await runCli(args);
    assertEquals([code, stdout, stderr], [2, "", `stream-validator: ${message}\n`]);
  }
  const { code, stderr } = await runCli(["check", "--from", "anthropc", "-"], { stdin: [] });
  assertEquals(code, 2);
  assertStringIncludes(stderr, "Expected --from to be one of auto, events, anthropic, ");
});

Deno.test("runCommandLine as a process ends with 2 when it is used wrongly", async () => {
  const { code, stdout, stderr } = await runProcess(["chek"]);
  assertEquals([code, stdout], [2, ""]);
  assert(stderr.startsWith("stream-validator: Expected a command"), stderr);
});

Deno.test("replay ends when it is interrupted while its pipe stays open", async () => {
  const interruption = new AbortController();
  const open = new ReadableStream<Uint8Array>({ pull: () => interruption.abort() }, {
    highWaterMark: 0,
  });
  const { code, stdout } = await runCli(["replay", "-"], {
    stdin: open,
    signal: interruption.signal,
  });
  assertEquals(code, 0);
  assertEquals(stdout, "");
});

Deno.test("writeEvent says so when an event nests too deep to be written", () => {
  // How deep that is differs: some engines write JSON without a stack, Node 20 does not.
  const deep = {
    toJSON: () => {
      throw new RangeError("Maximum call stack size exceeded");
    },
  };
  for (const format of ["ndjson", "sse"] as const) {
    assertThrows(() => writeEvent(deep, format, 0), UnreadableError, "nests too deep");
  }
});

Deno.test("convert counts one stream as one when there is none of the number", async () => {
  const { code, stderr } = await runCli(["convert", "--stream", "9", "-"], {
    stdin: ['{"type":"start"}\n'],
  });
  assertEquals(code, 2);
  assertEquals(stderr, "stream-validator: standard input: it has 1 stream, none is 9\n");
});

Deno.test("The command line shows no control characters of an option that it does not know", async () => {
  const { code, stderr } = await runCli(["check", "--\x1b[31m"]);
  assertEquals(code, 2);
  assertEquals(stderr.includes("\x1b"), false);
});

Deno.test("The command line says its version, which is the package's", async () => {
  const { version } = JSON.parse(await Deno.readTextFile("deno.json"));
  const { code, stdout, stderr } = await runCli(["--version"]);
  assertEquals([code, stdout, stderr], [0, `stream-validator ${version}\n`, ""]);
});

Deno.test("JSON goes to a terminal without what it would act on, and elsewhere as it is", async () => {
  const sharp = "\u009b31m\u202e\u2028";
  const line = `{"type":"${sharp}"}\n`;
  const stdin = ['{"type":"start"}\n', line];
  for (const args of [["check", "--json"], ["convert"], ["minimize"], ["convert", "--to", "sse"]]) {
    const elsewhere = await runCli([...args, "-"], { stdin });
    const terminal = await runCli([...args, "-"], { stdin, isTerminal: true });
    assertStringIncludes(elsewhere.stdout, sharp);
    // deno-lint-ignore no-control-regex -- they are what must not be there
    assert(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2028]/.test(terminal.stdout), args[0]);
    const values = ({ stdout }: { readonly stdout: string }) =>
      stdout.match(/\{[^\n]*\}/g)?.map((text) => JSON.parse(text));
    assertEquals(values(terminal), values(elsewhere));
  }
});
