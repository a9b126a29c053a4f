import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { RULES } from "../../src/cli/_rules.ts";
import { readVectorFiles } from "../_vectors.ts";
import { readRecordings } from "../adapters/_recordings.ts";
import { runCli, runProcess, withFiles } from "./_cli.ts";
import { eventsOf, HEALTHY, ndjson, without } from "./_streams.ts";

/** What check says first of the one stream of a text. */
async function codeOf(text: string): Promise<string | undefined> {
  const { stdout } = await runCli(["check", "--json", "--from", "events", "-"], { stdin: [text] });
  const [stream, ...rest] = stdout.trim().split("\n").map((line) => JSON.parse(line));
  // A start after a terminal event begins another stream; alone it is no violation.
  return rest.length === 0 ? stream.violation?.code : undefined;
}

/** An event with what the wire asks of a message beside what the rules do. */
function complete(event: unknown): unknown {
  const { type, message } = (event ?? {}) as {
    readonly type?: unknown;
    readonly message?: unknown;
  };
  const isTerminal = type === "done" || type === "error";
  if (!isTerminal || typeof message !== "object" || message === null) return event;
  const { message: whole } = HEALTHY.at(-1) as { readonly message: object };
  const failure = type === "error" ? { errorMessage: "Connection lost" } : {};
  return { ...event as object, message: { ...whole, ...failure, ...message } };
}

Deno.test("minimize writes a stream that check refuses as it did the whole one", async () => {
  const streams = readVectorFiles().flatMap(({ vectors }) =>
    vectors.filter(({ host, limits, kind, end, rejected, events }) =>
      !host && !limits && kind !== "near_miss" && rejected.length > 0 &&
      (end !== undefined || rejected[0]?.eventIndex !== events.length)
    )
  );
  const seen = new Set<string>();
  for (const { name, events: incomplete } of streams) {
    const events = incomplete.map(complete);
    const code = await codeOf(ndjson(events));
    if (code === undefined || !(code in RULES) || seen.has(`${code} ${events.length}`)) continue;
    seen.add(`${code} ${events.length}`);
    const { code: exit, stdout, stderr } = await runCli(
      ["minimize", "--from", "events", "-"],
      { stdin: [ndjson(events)] },
    );
    assertEquals([exit, await codeOf(stdout)], [0, code], `${name}: ${stderr}`);
    assert(stdout.split("\n").length - 1 <= events.length, name);
    const again = await runCli(["minimize", "--from", "events", "-"], { stdin: [stdout] });
    assertEquals(again.stdout, stdout, name);
  }
  assert(new Set([...seen].map((key) => key.split(" ")[0])).size >= 15, [...seen].join(", "));
});

Deno.test("minimize takes the first stream that breaks a rule, or the one that is asked for", async () => {
  const events = ndjson([...HEALTHY, ...without(HEALTHY, 9), ...without(HEALTHY, 15)]);
  const run = async (...args: string[]) => await runCli(["minimize", ...args], { stdin: [events] });
  assertEquals(await codeOf((await run()).stdout), "content_mismatch");
  assertEquals(await codeOf((await run("--stream", "3")).stdout), "arguments_not_json");
  assertEquals(await run("--stream", "1"), {
    code: 2,
    stdout: "",
    stderr: "stream-validator: standard input: stream 1 breaks no rule\n",
  });
  assertStringIncludes((await run("--stream", "4")).stderr, "it has 3 streams, none is 4");
  assertStringIncludes(
    (await run()).stderr,
    "stream-validator: 18 events to 3, still content_mism",
  );
});

Deno.test("minimize shows nothing of the text, unless it is to keep it", async () => {
  const events = ndjson(without(HEALTHY, 9));
  const { stdout } = await runCli(["minimize", "-"], { stdin: [events] });
  for (const word of ["look", "tide", "Troms", "harbour", "demo"]) assert(!stdout.includes(word));
  const kept = await runCli(["minimize", "--keep-text", "-"], { stdin: [events] });
  // One letter is enough to break the rule: that of the text.
  assertStringIncludes(kept.stdout, '"content":"I"');
  assertStringIncludes(stdout, '"content":"X"');
});

Deno.test("minimize writes server-sent events where they are asked for", async () => {
  const { stdout } = await runCli(["minimize", "--to", "sse", "-"], {
    stdin: [ndjson([{ type: "start" }, { type: "a\nb" }])],
  });
  assert(stdout.startsWith('event: start\nid: 0\ndata: {"type":"start"}\n\nid: 1\ndata: '), stdout);
  assertEquals(await codeOf(stdout), "unknown_event");
});

Deno.test("minimize says so when nothing breaks a rule", async () => {
  const healthy = await runCli(["minimize", "-"], { stdin: [ndjson(HEALTHY)] });
  assertEquals([healthy.code, healthy.stdout], [2, ""]);
  assertStringIncludes(healthy.stderr, "standard input: no stream in it breaks a rule\n");
  const body = readRecordings("anthropic")[0]?.body as Uint8Array;
  const cut = await runCli(["minimize", "-"], { stdin: [body.subarray(0, body.length >> 1)] });
  const written = "; its frames are wrong, and only events can be shrunk\n";
  assertStringIncludes(cut.stderr, written);
  for (
    const text of [
      ndjson(HEALTHY).slice(0, -40),
      ndjson([...HEALTHY.slice(0, -1), { ...HEALTHY.at(-1), message: {} }]),
      `${ndjson(HEALTHY.slice(0, 4))}{\n`,
    ]
  ) {
    const { code, stdout, stderr } = await runCli(["minimize", "-"], { stdin: [text] });
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, written);
  }
});

Deno.test("minimize as a process takes a hundred thousand events to a few in seconds", async () => {
  const content = Array.from({ length: 100 }, (_, index) => ({
    type: "text",
    text: `${index} said again and again. `.repeat(200),
  } as const));
  const events = eventsOf(content, 5);
  const lost = without(events, 60_001);
  assert(lost.length > 90_000, `${lost.length}`);
  await withFiles({ "a.ndjson": ndjson(lost) }, async (folder) => {
    const begin = performance.now();
    const { code, stdout, stderr } = await runProcess(["minimize", `${folder}/a.ndjson`]);
    assertEquals(code, 0, stderr);
    assert(stdout.trim().split("\n").length < 10, stdout);
    assertEquals(await codeOf(stdout), "content_mismatch");
    assert(performance.now() - begin < 30_000);
  });
});
