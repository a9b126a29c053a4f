import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { StreamEvent } from "../../mod.ts";
import { PROVIDER_WIRES } from "../../src/cli/_wires.ts";
import { readStreamEvents } from "../../src/wire/mod.ts";
import { bytesOf, decode, readCases } from "../adapters/_bodies.ts";
import { readRecordings } from "../adapters/_recordings.ts";
import { runCli, runProcess, startCli, withFiles } from "./_cli.ts";
import { HEALTHY, ndjson, without } from "./_streams.ts";

/** Events without what depends on when they were made. */
function timeless(events: readonly unknown[]): unknown {
  return JSON.parse(
    JSON.stringify(events, (key, value) => key === "timestamp" ? 0 : value)
      .replaceAll(/call_[0-9a-f]{32}/g, "call_made_up"),
  );
}

async function eventsIn(text: string, format: "ndjson" | "sse"): Promise<StreamEvent[]> {
  const contentType = format === "sse" ? "text/event-stream" : "application/x-ndjson";
  const events: StreamEvent[] = [];
  const response = new Response(text, { headers: { "content-type": contentType } });
  for await (const event of readStreamEvents(response)) events.push(event);
  return events;
}

Deno.test("convert writes the events of every recording, as either format", async () => {
  for (const [wire, { create }] of Object.entries(PROVIDER_WIRES)) {
    for (const { name, body } of readRecordings(wire)) {
      const expected = timeless(decode(create(), [body], wire === "ollama" ? "ndjson" : "sse"));
      for (const format of ["ndjson", "sse"] as const) {
        const { code, stdout, stderr } = await runCli(["convert", "--to", format], {
          stdin: [body],
        });
        assertEquals([code, stderr], [0, ""], name);
        assertEquals(timeless(await eventsIn(stdout, format)), expected, name);
      }
    }
  }
});

Deno.test("convert ends a body that is wrong in an error event, and says what is wrong", async () => {
  for (const wireCase of readCases("anthropic")) {
    const { id, expected, terminal } = wireCase;
    const { code, stdout, stderr } = await runCli(["convert", "--from", "anthropic", "-"], {
      stdin: [bytesOf(wireCase)],
    });
    if (id === "an-second-message-start") continue; // That makes two streams.
    const isWrong = expected !== "accept";
    assertEquals(code, isWrong ? 1 : 0, id);
    assertEquals(
      stderr.startsWith("stream-validator: standard input: stream 1 is wrong: "),
      isWrong,
    );
    const last = JSON.parse(stdout.trim().split("\n").at(-1) as string);
    assertEquals(`${last.type}:${last.reason}`, terminal ?? "error:error", id);
  }
});

Deno.test("convert passes events on as they came, right or wrong", async () => {
  const events = [
    ...HEALTHY,
    ...without(HEALTHY, 9),
    { type: "start" },
    { type: "x\ndata: {}\n\n", extra: [1, null] },
    null,
    7,
    { type: "start" },
  ];
  const { code, stdout, stderr } = await runCli(["convert"], { stdin: [ndjson(events)] });
  assertEquals(stdout, ndjson(events));
  assertEquals(code, 1);
  assertEquals(stderr.match(/stream \d is wrong: \w+/g), [
    "stream 2 is wrong: content_mismatch",
    "stream 3 is wrong: unknown_event",
    "stream 4 is wrong: truncated",
  ]);
  const sse = await runCli(["convert", "--to", "sse"], { stdin: [ndjson(events)] });
  const back = await runCli(["convert"], { stdin: [sse.stdout] });
  assertEquals(back.stdout, ndjson(events));
});

Deno.test("convert --stream writes one stream alone", async () => {
  const events = [...HEALTHY, ...without(HEALTHY, 9), ...HEALTHY.slice(0, 1)];
  const run = async (stream: string) =>
    await runCli(["convert", "--stream", stream], { stdin: [ndjson(events)] });
  assertEquals(await run("1"), { code: 0, stdout: ndjson(HEALTHY), stderr: "" });
  assertEquals((await run("2")).stdout, ndjson(without(HEALTHY, 9)));
  assertEquals((await run("2")).code, 1);
  assertEquals(await run("4"), {
    code: 2,
    stdout: "",
    stderr: "stream-validator: standard input: it has 3 streams, none is 4\n",
  });
  for (const stream of ["0", "1.5", "x", ""]) {
    assertStringIncludes(
      (await run(stream)).stderr,
      "Expected --stream to be a whole number from 1",
    );
  }
});

Deno.test("convert --times gives each event the time at which it arrived", async () => {
  let now = 1_000;
  async function* stdin() {
    for (const event of [...HEALTHY, ...HEALTHY]) {
      now += 10;
      yield ndjson([event]);
    }
  }
  const { code, stdout } = await runCli(["convert", "--times", "-"], {
    stdin: stdin(),
    now: () => now,
  });
  assertEquals(code, 0);
  const timed = HEALTHY.map((event, index) => ({ ...event, time: 10 * index }));
  assertEquals(stdout, ndjson([...timed, ...timed]));
  await withFiles({ "a.ndjson": ndjson(HEALTHY) }, async (folder) => {
    const { code, stderr } = await runCli(["convert", "--times", `${folder}/a.ndjson`]);
    assertEquals(code, 2);
    assertStringIncludes(stderr, "Expected standard input for --times");
  });
});

Deno.test("convert takes one file, and says why where it cannot", async () => {
  await withFiles({ "a.ndjson": ndjson(HEALTHY), "b.ndjson": "prose" }, async (folder) => {
    const run = async (...names: string[]) => {
      const { code, stdout, stderr } = await runCli(
        ["convert", ...names.map((name) => `${folder}/${name}`)],
      );
      return [code, stdout, stderr.replaceAll(folder, "")];
    };
    assertEquals(await run("a.ndjson"), [0, ndjson(HEALTHY), ""]);
    assertEquals(await run("a.ndjson", "b.ndjson"), [
      2,
      "",
      "stream-validator: Expected one file, received 2; see stream-validator convert --help\n",
    ]);
    assertEquals(await run("b.ndjson"), [
      2,
      "",
      "stream-validator: /b.ndjson: nothing in it is known; say what it is by --from\n",
    ]);
    assertEquals(await run(""), [
      2,
      "",
      "stream-validator: Expected a file, received the directory /; see stream-validator convert " +
      "--help\n",
    ]);
    assertEquals((await run("none"))[2], "stream-validator: /none: there is no such file\n");
  });
});

Deno.test("convert as a process writes each event as it comes", async () => {
  const process = startCli(["convert", "--to", "sse", "-"]);
  const writer = process.stdin.getWriter();
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let output = "";
  for (const event of HEALTHY.slice(0, 3)) {
    await writer.write(new TextEncoder().encode(ndjson([event])));
    while (!output.includes(JSON.stringify(event))) {
      const { done, value } = await reader.read();
      assert(!done, output);
      output += value;
    }
  }
  await writer.close();
  while (!(await reader.read()).done) { /* Nothing more. */ }
  assertEquals((await process.status).code, 1);
  assertStringIncludes(
    await new Response(process.stderr).text(),
    "stream 1 is wrong: truncated at ",
  );
});

Deno.test("convert as a process writes what it writes here", async () => {
  const [recording] = readRecordings("openai-responses");
  const body = recording?.body as Uint8Array;
  const { code, stdout, stderr } = await runProcess(["convert", "-"], body);
  assertEquals([code, stderr], [0, ""]);
  assertEquals(
    timeless(await eventsIn(stdout, "ndjson")),
    timeless(await eventsIn((await runCli(["convert"], { stdin: [body] })).stdout, "ndjson")),
  );
});
