import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { cutForReplay } from "../../src/cli/_replay.ts";
import { readRecordings } from "../adapters/_recordings.ts";
import { cliArgs, runCli, startCli, withFiles } from "./_cli.ts";
import { HEALTHY, ndjson } from "./_streams.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const PLAIN = { chunk: undefined, speed: 1, interval: 0 };

/** The pieces of a recording as texts, each with what waits before it. */
function cut(text: string, format: "ndjson" | "sse", options = {}): Array<[number, string]> {
  return [...cutForReplay(encoder.encode(text), format, { ...PLAIN, ...options })]
    .map(({ bytes, delay }) => [delay, decoder.decode(bytes)]);
}

/** Replays while something runs. */
async function withReplay<T>(
  args: readonly string[],
  stdin: string | Uint8Array,
  run: (url: string) => Promise<T>,
): Promise<{ readonly result: T; readonly code: number; readonly stderr: string }> {
  const ended = new AbortController();
  let tell: (url: string) => void;
  const url = new Promise<string>((resolve) => tell = resolve);
  const running = runCli(["replay", ...args, "-"], {
    stdin: [stdin],
    signal: ended.signal,
    onOutput: (text) => text.startsWith("http://") && tell(text.trim()),
  });
  try {
    const result = await run(await url);
    ended.abort();
    const { code, stderr } = await running;
    return { result, code, stderr };
  } finally {
    ended.abort();
    await running;
  }
}

Deno.test("cutForReplay waits before each frame as long as its time says", () => {
  const timed = [0, 5, undefined, 25, 20, 1_020].map((time, i) => ({ i, time }));
  const lines = timed.map((event) => `${JSON.stringify(event)}\n`);
  assertEquals(cut(lines.join(""), "ndjson"), [
    [0, lines[0] as string],
    [5, `${lines[1]}${lines[2]}`],
    [20, `${lines[3]}${lines[4]}`],
    [1_000, lines[5] as string],
  ]);
  assertEquals(cut(lines.join(""), "ndjson", { speed: 10 }).map(([delay]) => delay), [
    0,
    0.5,
    2,
    100,
  ]);
  const frames = timed.map((event) => `: hi\nevent: x\ndata: ${JSON.stringify(event)}\n\n`);
  for (const end of ["\n", "\r\n", "\r"]) {
    const bodies = frames.map((frame) => frame.replaceAll("\n", end));
    assertEquals(cut(bodies.join(""), "sse"), [
      [0, bodies[0] as string],
      [5, `${bodies[1]}${bodies[2]}`],
      [20, `${bodies[3]}${bodies[4]}`],
      [1_000, bodies[5] as string],
    ]);
  }
});

Deno.test("cutForReplay waits for the interval before frames that have no time", () => {
  assertEquals(cut("1\n2\n\n3", "ndjson", { interval: 7 }), [[0, "1\n"], [7, "2\n\n"], [7, "3"]]);
  assertEquals(cut("data: 1\n\ndata: 2\n\n", "sse", { interval: 7 }), [
    [0, "data: 1\n\n"],
    [7, "data: 2\n\n"],
  ]);
  assertEquals(cut("12345\n7", "ndjson", { interval: 7, chunk: 3 }), [
    [0, "123"],
    [7, "45\n"],
    [7, "7"],
  ]);
  assertEquals(cut("", "ndjson"), []);
});

Deno.test("cutForReplay loses nothing, whatever it cuts", () => {
  fc.assert(fc.property(
    fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.array(
        fc.constantFrom("data: 1\n", "\n", "\r", '{"time":', "5}", "\r\n", "é", "data:"),
        { maxLength: 20 },
      ).map((parts) => encoder.encode(parts.join(""))),
    ),
    fc.constantFrom("ndjson" as const, "sse" as const),
    fc.constantFrom(undefined, 1, 3),
    fc.constantFrom(0, 2),
    (body, format, chunk, interval) => {
      const cut = cutForReplay(body, format, { chunk, speed: 1, interval });
      const pieces = [...cut];
      assertEquals(cut.length, pieces.length);
      assertEquals(cut.duration, pieces.reduce((sum, { delay }) => sum + delay, 0));
      assertEquals(pieces.flatMap(({ bytes }) => [...bytes]), [...body]);
      assert(pieces.every(({ bytes }) => bytes.length > 0 && bytes.length <= (chunk ?? 60_000)));
    },
  ));
});

Deno.test("cutForReplay makes the pieces of a large recording as they are sent", () => {
  const body = new Uint8Array(2 ** 25).fill(0x20);
  const pieces = cutForReplay(body, "ndjson", { chunk: 1, speed: 1, interval: 2 });
  assertEquals([pieces.length, pieces.duration], [2 ** 25, 2 * (2 ** 25 - 1)]);
  const [first, second] = pieces;
  assertEquals([first?.delay, second?.delay], [0, 2]);
  assertEquals(second?.bytes.byteOffset, 1);
});

Deno.test("replay serves every recording as it is, to any request", async () => {
  for (const wire of ["anthropic", "openai-chat"]) {
    const body = readRecordings(wire)[0]?.body as Uint8Array;
    const { code, stderr } = await withReplay(["--chunk", "100"], body, async (url) => {
      for (const init of [{}, { method: "POST", body: "x".repeat(100_000) }]) {
        const response = await fetch(`${url}v1/messages?x=1`, init);
        assertEquals(response.status, 200);
        assertEquals(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
        assertEquals(new Uint8Array(await response.arrayBuffer()), body);
      }
      const head = await fetch(url, { method: "HEAD" });
      assertEquals([head.status, await head.text()], [200, ""]);
    });
    assertEquals(code, 0);
    assertStringIncludes(stderr, "Serving standard input as text/event-stream, ");
    assertStringIncludes(stderr, "\nPOST answered with ");
  }
});

Deno.test("replay sends a piece at a time, when it is due", async () => {
  const events = HEALTHY.map((event, index) => ({ ...event, time: index * 1_000 }));
  const { result: [pieces, elapsed] } = await withReplay(
    ["--speed", "50"],
    ndjson(events),
    async (url) => {
      const begin = performance.now();
      const response = await fetch(url);
      const pieces: string[] = [];
      for await (const chunk of response.body as ReadableStream<Uint8Array>) {
        pieces.push(decoder.decode(chunk));
      }
      return [pieces, performance.now() - begin] as const;
    },
  );
  assertEquals(pieces.join(""), ndjson(events));
  assert(pieces.length > HEALTHY.length / 2, `${pieces.length} pieces`);
  // 18 times 20 ms, less what a timer may be early.
  assert(elapsed > 300, `${elapsed} ms`);
});

Deno.test("replay says so when a client leaves, and serves the next one", async () => {
  const { stderr } = await withReplay(["--interval", "20"], ndjson(HEALTHY), async (url) => {
    const response = await fetch(url);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    assertEquals(await (await fetch(url)).text(), ndjson(HEALTHY));
  });
  assert(/GET left after [\d,]+ bytes/.test(stderr), stderr);
  assert(/GET answered with 1,686 bytes/.test(stderr), stderr);
});

Deno.test("replay refuses a page that has found another name for this machine", async () => {
  const { result } = await withReplay([], ndjson(HEALTHY), (url) => askAs("evil.example", url));
  assert(result.startsWith("HTTP/1.1 403 "), result);
});

/** What a server answers where it is asked by another name. */
async function askAs(host: string, url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const conn = await Deno.connect({ hostname, port: Number(port) });
  await conn.write(
    encoder.encode(`GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`),
  );
  return await new Response(conn.readable).text();
}

Deno.test("replay --once ends after the first answer", async () => {
  let answer: Promise<string> | undefined;
  const { code } = await runCli(["replay", "--once", "-"], {
    stdin: [ndjson(HEALTHY)],
    onOutput: (text) => {
      if (text.startsWith("http://")) {
        // To be asked for less, or by somebody else, is not to answer.
        answer = askAs("evil.example", text.trim())
          .then(() => fetch(text.trim(), { method: "HEAD" }))
          .then(() => fetch(text.trim()))
          .then((response) => response.text());
      }
    },
  });
  assertEquals(code, 0);
  assertEquals(await answer, ndjson(HEALTHY));
});

Deno.test("replay says why it cannot", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  try {
    const { port } = listener.addr as Deno.NetAddr;
    const run = await runCli(["replay", "--port", `${port}`, "-"], { stdin: ["1"] });
    assertEquals(run.code, 2);
    assertStringIncludes(run.stderr, `received ${port}: EADDRINUSE`);
  } finally {
    listener.close();
  }
  for (
    const [args, words] of [
      [["--port", "70000"], "Expected --port to be a whole number from 0 to 65535"],
      [["--chunk", "0"], "Expected --chunk to be a whole number from 1 on"],
      [["--speed", "0"], "Expected --speed to be a number above 0"],
      [["--interval", "-1"], "'--interval' argument"],
      [["--interval=-1"], "Expected --interval to be a number from 0 to 2147483647"],
      [["--interval", "1e999"], "Expected --interval to be a number from 0 to 2147483647"],
    ] as const
  ) {
    const { code, stderr } = await runCli(["replay", ...args, "-"], { stdin: ["1"] });
    assertEquals(code, 2);
    assertStringIncludes(stderr, words);
  }
  const { code, stderr } = await runCli(["replay", "-"], { stdin: [new Uint8Array([0xff, 0x0a])] });
  assertEquals([code, stderr], [2, "stream-validator: standard input: it is not UTF-8 text\n"]);
});

Deno.test("replay as a process ends with 2 where Deno may not listen", async () => {
  await withFiles({ "a.ndjson": ndjson(HEALTHY) }, async (folder) => {
    const args = cliArgs(["replay", `${folder}/a.ndjson`])
      .filter((arg) => !arg.startsWith("--allow-net"));
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args,
      stdin: "null",
      signal: AbortSignal.timeout(60_000),
    }).output();
    assertEquals([code, decoder.decode(stdout)], [2, ""]);
    const text = decoder.decode(stderr);
    assert(/^stream-validator: Requires net access .*\n$/.test(text), text);
  });
});

Deno.test("replay as a process serves until it is told to end", async () => {
  await withFiles({ "a.ndjson": ndjson(HEALTHY) }, async (folder) => {
    const process = startCli(["replay", "--chunk", "7", `${folder}/a.ndjson`]);
    const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const { value = "" } = await reader.read();
    const response = await fetch(value.trim());
    assertEquals(await response.text(), ndjson(HEALTHY));
    process.kill("SIGINT");
    await process.stdin.close();
    await reader.cancel();
    assertEquals((await process.status).code, 0);
    assertStringIncludes(await new Response(process.stderr).text(), "GET answered with ");
  });
});
