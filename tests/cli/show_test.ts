import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PROVIDER_WIRES } from "../../src/cli/_wires.ts";
import { bytesOf, readCases } from "../adapters/_bodies.ts";
import { readRecordings } from "../adapters/_recordings.ts";
import { runCli, runProcess, startCli, withFiles } from "./_cli.ts";
import { HEALTHY, ndjson, without } from "./_streams.ts";

const BOTH = ndjson([...HEALTHY, ...without(HEALTHY, 9)]);

/** What is drawn of each stream: what is wrong with it first, if anything is. */
function verdictsIn(text: string): Array<string | undefined> {
  return [...text.matchAll(/^(?:✓ well-formed|✗ (\w+) at )/gm)].map(([, code]) => code);
}

/** What `check` says is wrong first with each stream of a body. */
async function verdictsOf(body: Uint8Array, from: string): Promise<Array<string | undefined>> {
  const { stdout } = await runCli(["check", "--json", "--from", from, "-"], { stdin: [body] });
  return stdout.trim().split("\n").map((line) => JSON.parse(line).violation?.code);
}

Deno.test("show draws every stream, or the one that is asked for", async () => {
  const run = async (...args: string[]) => await runCli(["show", ...args, "-"], { stdin: [BOTH] });
  const [one, two, all] = [await run("--stream", "1"), await run("--stream=2"), await run()];
  assertEquals([one.code, two.code, all.code], [0, 1, 1]);
  assertEquals(all.stdout, `${one.stdout}\n${two.stdout}`);
  assert(!one.stdout.includes("content_mismatch") && two.stdout.includes("content_mismatch"));
  assertEquals(await run("--stream", "3"), {
    code: 2,
    stdout: "",
    stderr: "stream-validator: standard input: it has 2 streams, none is 3\n",
  });
});

Deno.test("show draws every recording and every case within its width", async () => {
  for (const wire of ["unified", ...Object.keys(PROVIDER_WIRES)]) {
    const bodies = [
      ...wire === "unified" ? [] : readRecordings(wire).map(({ body }) => body),
      ...readCases(wire).map(bytesOf),
    ];
    const from = wire === "unified" ? "events" : wire;
    for (const body of bodies) {
      const { stdout, stderr } = await runCli(["show", "--from", from, "-"], {
        stdin: [body],
        isTerminal: true,
        columns: 60,
      });
      assertEquals(stderr, "");
      assert(stdout.length > 0 && stdout.endsWith("\n"));
      assert(!stdout.includes("\x1b"));
      assertEquals(verdictsIn(stdout), await verdictsOf(body, from));
    }
  }
});

Deno.test("show takes the times of a recording, and those of a pipe", async () => {
  const timed = HEALTHY.map((event, index) => ({ ...event, time: index * 1_000 }));
  const recorded = await runCli(["show", "-"], { stdin: [ndjson(timed)] });
  let now = 0;
  async function* pipe() {
    for (const event of HEALTHY) {
      yield ndjson([event]);
      now += 1_000;
    }
  }
  const live = await runCli(["show", "-"], { stdin: pipe(), now: () => now });
  assertEquals(live.stdout, recorded.stdout);
  assertStringIncludes(live.stdout, "18");
});

Deno.test("show --html writes a page of all streams", async () => {
  await withFiles({ "a.ndjson": BOTH }, async (folder) => {
    const { code, stdout, stderr } = await runCli(
      ["show", "--html", `${folder}/a.html`, `${folder}/a.ndjson`],
    );
    assertEquals([code, stdout, stderr], [1, "", `${folder}/a.html: 2 streams\n`]);
    const page = await Deno.readTextFile(`${folder}/a.html`);
    assert(/^<!doctype html>/i.test(page));
    assertStringIncludes(page, "content_mismatch");
    const failed = await runCli(["show", "--html", `${folder}/no/a.html`, `${folder}/a.ndjson`]);
    assertEquals(failed.code, 2);
    assertStringIncludes(failed.stderr, "no/a.html: it cannot be written: ");
  });
});

Deno.test("show --html leaves out what nobody would look for", async () => {
  const many = ndjson(
    Array.from({ length: 120 }, () => HEALTHY.slice(0, 1).concat(HEALTHY.slice(-1)))
      .flat(),
  );
  await withFiles({}, async (folder) => {
    const { stderr } = await runCli(["show", "--html", `${folder}/a.html`, "-"], { stdin: [many] });
    assertEquals(stderr, `${folder}/a.html: 100 streams; 20 more are left out\n`);
  });
});

Deno.test("show as a process draws, and ends with 2 for what is no recording", async () => {
  const { code, stdout } = await runProcess(["show", "-"], BOTH);
  assertEquals(code, 1);
  assertStringIncludes(stdout, "content_mismatch");
  const none = await runProcess(["show", "-"], "prose\n");
  assertEquals([none.code, none.stdout], [2, ""]);
});

Deno.test("show --html writes over a page, and over nothing else", async () => {
  await withFiles({ "a.ndjson": ndjson(HEALTHY), "page.html": "" }, async (folder) => {
    const recording = `${folder}/a.ndjson`;
    const before = await Deno.readTextFile(recording);

    const forgotten = await runCli(["show", "--html", recording, recording]);
    const first = await runCli(["show", "--html", `${folder}/page.html`, recording]);
    const again = await runCli(["show", "--html", `${folder}/page.html`, recording]);

    assertEquals(forgotten.code, 2);
    assertStringIncludes(forgotten.stderr, "it is there, and is no page: it stays as it is");
    assertEquals(await Deno.readTextFile(recording), before);
    assertEquals([first.code, again.code], [0, 0]);
  });
});

Deno.test("show --html says what is wrong with how a stream is written, and where", async () => {
  await withFiles({ "a.ndjson": `${ndjson(HEALTHY.slice(0, 4))}{\n` }, async (folder) => {
    const { code } = await runCli(["show", "--html", `${folder}/a.html`, `${folder}/a.ndjson`]);
    assertEquals(code, 1);
    const page = await Deno.readTextFile(`${folder}/a.html`);
    assertStringIncludes(page, "✗ invalid_json</h2>");
    assertStringIncludes(page, "<dd>line 5, byte ");
    assertStringIncludes(page, '<span class="type">✗ line 5</span>');
    assertStringIncludes(page, "<dt>Usually</dt><dd>A line of a log");
  });
});

Deno.test("show draws what has come when it is interrupted while its pipe stays open", async () => {
  for (const args of [["show", "-"], ["show", "--html", "-", "-"]]) {
    const interruption = new AbortController();
    const begun = ndjson(HEALTHY.slice(0, 5));
    const open = new ReadableStream<string>({
      start: (controller) => controller.enqueue(begun),
      pull: () => interruption.abort(),
    }, { highWaterMark: 0 });
    const { code, stdout } = await runCli(args, { stdin: open, signal: interruption.signal });
    assertEquals(code, 1);
    const { stdout: whole } = await runCli(args, { stdin: [begun] });
    assert(whole.includes("truncated"), whole);
    assertEquals(stdout, whole);
  }
});

Deno.test("show --html writes the page to standard output for -", async () => {
  const page = await withFiles({ "a.ndjson": BOTH }, async (folder) => {
    await runCli(["show", "--html", `${folder}/a.html`, `${folder}/a.ndjson`]);
    const { code, stdout, stderr } = await runCli(["show", "--html", "-", `${folder}/a.ndjson`]);
    assertEquals([code, stderr], [1, ""]);
    assertEquals(stdout, await Deno.readTextFile(`${folder}/a.html`));
    return stdout;
  });
  assertStringIncludes(page, "content_mismatch");
});

Deno.test("show as a process draws what has come when it is interrupted", async () => {
  if (Deno.build.os === "windows") return;
  const process = startCli(["show", "-"]);
  const writer = process.stdin.getWriter();
  const [stdout] = await Promise.all([
    new Response(process.stdout).text(),
    (async () => {
      await writer.write(new TextEncoder().encode(ndjson(HEALTHY.slice(0, 5))));
      // More than a pipe holds: when this is written, the events have been read. It stays open.
      await writer.write(new Uint8Array(1_000_000).fill(0x0a));
      process.kill("SIGINT");
    })(),
    process.stderr.cancel(),
  ]);
  assertEquals((await process.status).code, 1);
  assertStringIncludes(stdout, "✗ truncated at the end, after 5 events");
  await writer.close().catch(() => {});
});
