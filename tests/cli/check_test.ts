import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { displayWidth } from "../../src/cli/_display_width.ts";
import { PROVIDER_WIRES } from "../../src/cli/_wires.ts";
import { bytesOf, readCases } from "../adapters/_bodies.ts";
import { readRecordings } from "../adapters/_recordings.ts";
import { cliArgs, type CliRun, runCli, runProcess, startCli, withFiles } from "./_cli.ts";
import { eventsOf, HEALTHY, ndjson, without } from "./_streams.ts";

const encoder = new TextEncoder();

const LOST = without(HEALTHY, 9);

async function checkText(
  data: string | Uint8Array,
  args: readonly string[] = [],
): Promise<CliRun> {
  return await withFiles({ "a.ndjson": data }, async (folder) => {
    const run = await runCli(["check", ...args, `${folder}/a.ndjson`]);
    return {
      code: run.code,
      stdout: run.stdout.replaceAll(`${folder}/`, ""),
      stderr: run.stderr.replaceAll(`${folder}/`, ""),
    };
  });
}

/** The objects of `--json`. */
function objectsIn({ stdout }: CliRun): Array<Record<string, unknown>> {
  return stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

Deno.test("check says so where there is nothing in a recording", async () => {
  for (const text of ["", "\n\n \n"]) {
    for (const from of ["auto", "events", "anthropic", "ollama"]) {
      const { code, stdout } = await runCli(["check", "--from", from, "-"], { stdin: [text] });
      assertEquals(code, 1);
      assert(
        stdout.startsWith("standard input: nothing is in it\n  ✗ stream 1: truncated at "),
        stdout,
      );
    }
  }
});

Deno.test("check shows what was expected, what came, and where", async () => {
  const { code, stdout, stderr } = await checkText(ndjson([...HEALTHY, ...LOST]));
  assertEquals(stderr, "");
  assertEquals(code, 1);
  assertEquals(
    stdout,
    `a.ndjson: events as NDJSON
  ✓ stream 1: 19 events, 3 blocks, tool_use
  ✗ stream 2: content_mismatch at event 10, line 30, byte 2,226
      rule      The end of a text or thinking block repeats exactly what its deltas said.
      expected  end content of 11 UTF-16 code units as streamed
      came      text_end: 19 UTF-16 code units, the first difference at offset 8
      streamed  I look u│de.
      event has I look u│p the tide.
      deltas    part from it in event 9 (line 29): "de."
      open      text at contentIndex 1, since event 7 (line 27)

        line 26  event  6  thinking_end  contentIndex 0  "The tide tables should say it."
        line 27  event  7  text_start  contentIndex 1
        line 28  event  8  text_delta  contentIndex 1  "I look u"
      ? line 29  event  9  text_delta  contentIndex 1  "de."
      ▶ line 30  event 10  text_end  contentIndex 1  "I look up the tide."
        line 31  event 11  tool_call_start  contentIndex 2  get_tide  "call_1"
        line 32  event 12  tool_call_delta  contentIndex 2  "{\\"harbou"

      usually   A delta was lost, doubled, or arrived out of order.
      more      stream-validator explain content_mismatch

2 streams: 1 is wrong
`,
  );
});

Deno.test("check gives the byte and the line at which the wrong event begins", async () => {
  for (const end of ["\n", "\r\n"]) {
    for (const at of [3, 9, 15]) {
      const lines = without(HEALTHY, at).map((event) => JSON.stringify(event) + end);
      const [{ violation } = {}] = objectsIn(await checkText(lines.join(""), ["--json"]));
      const { line, byteOffset, eventIndex } = violation as Record<string, number>;
      assertEquals(line, eventIndex as number + 1);
      const before = lines.slice(0, eventIndex).join("");
      assertEquals(byteOffset, encoder.encode(before).length);
    }
  }
});

Deno.test("check says in which delta a block goes wrong", async () => {
  const cases: ReadonlyArray<readonly [number, string]> = [
    [3, 'part from it in event 3 (line 4): "should s"'],
    [5, "end too early, with event 4 (line 5)"],
    [14, 'stop being JSON in event 14 (line 15): "sø\\",\\"day"'],
    [16, "end too early, with event 15 (line 16)"],
  ];
  for (const [at, expected] of cases) {
    for (const all of [[], ["--all"]]) {
      const { stdout } = await checkText(ndjson(without(HEALTHY, at)), all);
      assertStringIncludes(stdout, `\n      deltas    ${expected}\n`);
    }
  }
});

Deno.test("check --json gives one object a stream, and nothing of its content", async () => {
  const { code, stdout, stderr } = await checkText(ndjson([...HEALTHY, ...LOST]), ["--json"]);
  assertEquals([code, stderr], [1, ""]);
  const streams = objectsIn({ code, stdout, stderr });
  assertEquals(streams.map(({ file, ...stream }) => [typeof file, stream]), [
    ["string", {
      stream: 1,
      wire: "events",
      format: "ndjson",
      verdict: "ok",
      events: 19,
      blocks: 3,
      stopReason: "tool_use",
      line: 1,
      byteOffset: 0,
    }],
    ["string", {
      stream: 2,
      wire: "events",
      format: "ndjson",
      verdict: "wrong",
      events: 18,
      blocks: 3,
      stopReason: "tool_use",
      line: 20,
      byteOffset: 1686,
      violation: {
        code: "content_mismatch",
        detail:
          "expected end content of 11 UTF-16 code units as streamed, received 19, the first " +
          "difference at offset 8",
        eventIndex: 10,
        eventType: "text_end",
        contentIndex: 1,
        path: "content",
        offset: 8,
        line: 30,
        byteOffset: 2226,
        delta: { eventIndex: 9, line: 29 },
      },
    }],
  ]);
  for (const secret of ["tide", "look", "Troms", "harbour"]) {
    assert(!stdout.includes(secret), `"${secret}" in ${stdout}`);
  }
});

Deno.test("check --all lists every violation, and without it the first", async () => {
  const events = ndjson(without(HEALTHY, 3, 9, 15));
  const [first] = objectsIn(await checkText(events, ["--json"]));
  assertEquals("violations" in (first as object), false);
  const [all] = objectsIn(await checkText(events, ["--json", "--all"]));
  const { violations } = all as { readonly violations: Array<{ readonly code: string }> };
  assertEquals(
    violations.map(({ code }) => code),
    ["content_mismatch", "content_mismatch", "arguments_not_json"],
  );
  const { stdout } = await checkText(events, ["--all"]);
  assertEquals(stdout.match(/✗ .* at event \d+/g)?.length, 3);
  assertEquals((await checkText(events)).stdout.match(/✗ .* at event \d+/g)?.length, 1);
  assertStringIncludes(stdout, "1 stream: it is wrong\n");
});

/** Files, and their streams as `--json` tells them: the verdict and what is wrong. */
const FILES: ReadonlyArray<
  readonly [name: string, data: string, streams: ReadonlyArray<readonly string[]>]
> = [
  ["nothing", "", [["wrong", "truncated"]]],
  ["blank lines", "\n\n \n", [["wrong", "truncated"]]],
  ["a start after a terminal event", ndjson([...HEALTHY, ...HEALTHY]), [["ok"], ["ok"]]],
  ["a start amid a stream", ndjson([...HEALTHY.slice(0, 9), ...HEALTHY]), [
    ["wrong", "duplicate_start"],
  ]],
  ["a start after something wrong", ndjson([...LOST.slice(0, 12), ...HEALTHY]), [
    ["wrong", "content_mismatch"],
    ["ok"],
  ]],
  ["an event after a terminal one", ndjson([...HEALTHY, HEALTHY[1], ...HEALTHY]), [
    ["wrong", "after_terminal"],
    ["ok"],
  ]],
  [
    "a stream that failed",
    ndjson([
      { type: "start" },
      {
        type: "error",
        reason: "error",
        message: {
          ...(HEALTHY.at(-1) as { message: object }).message,
          content: [],
          stopReason: "error",
          errorMessage: "Overloaded",
          errorCode: "provider_error",
        },
      },
    ]),
    [["failed"]],
  ],
  ["a line that is not JSON", `${ndjson(HEALTHY.slice(0, 9))}{"type":\n${ndjson(HEALTHY)}`, [
    ["wrong", "invalid_json"],
    ["ok"],
  ]],
  ["a line of a log at the beginning", `Recorded at noon\n${ndjson(HEALTHY)}`, [
    ["wrong", "invalid_json"],
    ["ok"],
  ]],
  ["a line of a tool at the end", `${ndjson(HEALTHY)}curl: (18) transfer closed\n`, [
    ["ok"],
    ["wrong", "invalid_json"],
  ]],
  ["a line that is cut", ndjson(HEALTHY).slice(0, -20), [["wrong", "incomplete_frame"]]],
  [
    "a message that lacks its usage",
    ndjson([
      { type: "start" },
      { type: "done", reason: "stop", message: { role: "assistant", content: [] } },
    ]),
    [["wrong", "invalid_message"]],
  ],
  ["JSON that is no event", ndjson([{ type: "start" }, null, 3]), [["wrong", "malformed_event"]]],
];

Deno.test("check finds the streams of a file", async () => {
  for (const [name, data, expected] of FILES) {
    for (const text of [data, data.replaceAll(/^(\S.*)$/gm, "data: $1\n")]) {
      const run = await checkText(text, ["--json"]);
      const streams = objectsIn(run).map(({ verdict, violation }) =>
        violation ? [verdict, (violation as { code: string }).code] : [verdict]
      );
      assertEquals(streams as unknown, expected, name);
      assertEquals(run.code, expected.some(([verdict]) => verdict === "wrong") ? 1 : 0, name);
    }
  }
});

Deno.test("check says the same however standard input is cut into chunks", async () => {
  const bytes = encoder.encode(ndjson([...HEALTHY, ...LOST, ...HEALTHY]));
  const whole = await runCli(["check", "-"], { stdin: [bytes] });
  for (const length of [1, 2, 7, 100, 1_000]) {
    const chunks: Uint8Array[] = [];
    for (let i = 0; i < bytes.length; i += length) chunks.push(bytes.slice(i, i + length));
    assertEquals(await runCli(["check", "-"], { stdin: chunks }), whole, `${length}`);
  }
  assertEquals(whole.code, 1);
});

Deno.test("check says what the bytes of a recording are", async () => {
  for (const wire of Object.keys(PROVIDER_WIRES)) {
    const format = wire === "ollama" ? "NDJSON" : "server-sent events";
    for (const { name, body } of readRecordings(wire)) {
      for (const args of [[], ["--from", wire]]) {
        const { code, stdout } = await checkText(body, args);
        assertEquals(code, 0, name);
        assert(
          stdout.startsWith(`a.ndjson: ${wire} as ${format}\n  ✓ stream 1: `),
          stdout,
        );
      }
      if (wire === "ollama") continue;
      const payloads = new TextDecoder().decode(body).split("\n")
        .filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
      const { stdout } = await checkText(payloads.join("\n"));
      assert(stdout.startsWith(`a.ndjson: ${wire} as NDJSON\n  ✓ stream 1: `), stdout);
    }
  }
});

Deno.test("check finds the streams of a provider's recordings in one file", async () => {
  for (const wire of Object.keys(PROVIDER_WIRES)) {
    const recordings = readRecordings(wire);
    const bodies = recordings.map(({ body }) => new TextDecoder().decode(body));
    const run = await checkText(bodies.join("\n"), ["--json"]);
    assertEquals(objectsIn(run).map(({ verdict }) => verdict), recordings.map(() => "ok"), wire);
  }
  // The first is cut; where the wire names its responses, the second is another one all the same.
  for (const wire of ["anthropic", "openai-responses", "gemini"]) {
    const [one, two] = readRecordings(wire).map(({ body }) => new TextDecoder().decode(body));
    const lines = (one as string).split("\n\n");
    const run = await checkText(
      [...lines.slice(0, lines.length / 2), two].join("\n\n"),
      ["--json"],
    );
    assertEquals(
      objectsIn(run).map(({ verdict, violation }) => [
        verdict,
        (violation as { code: string } | undefined)?.code,
      ]),
      [["wrong", "truncated"], ["ok", undefined]],
      wire,
    );
  }
});

Deno.test("check has a verdict on every case that the adapters have one on", async () => {
  // What the wire itself said of the response is no fault of the stream.
  const failed = ["oc-args-cut-length", "oc-error-body-unframed"];
  for (const wire of Object.keys(PROVIDER_WIRES)) {
    for (const wireCase of readCases(wire)) {
      const { id, expected, terminal } = wireCase;
      const run = await checkText(bytesOf(wireCase), ["--json", "--from", wire]);
      const streams = objectsIn(run);
      const verdict = terminal === "error:error" || failed.includes(id)
        ? "failed"
        : expected === "accept"
        ? "ok"
        : "wrong";
      assertEquals(streams[0]?.verdict, verdict, id);
      // A second response in the middle of the first is a stream of its own.
      assertEquals(streams.length, id === "an-second-message-start" ? 2 : 1, id);
      assertEquals(run.code, verdict === "wrong" ? 1 : 0, id);
    }
  }
});

Deno.test("check has the verdict of the cases of events", async () => {
  for (const wireCase of readCases("unified")) {
    const { id, expected, code, eventIndex } = wireCase as typeof wireCase & {
      readonly code?: string;
      readonly eventIndex?: number;
    };
    const [{ violation } = {}] = objectsIn(await checkText(bytesOf(wireCase), ["--json"]));
    const found = violation as { code: string; eventIndex: number } | undefined;
    assertEquals(
      [found?.code, found?.eventIndex],
      expected === "accept" ? [undefined, undefined] : [code, eventIndex],
      id,
    );
  }
});

Deno.test("check shows the frames of a provider where they are wrong", async () => {
  const wireCase = readCases("anthropic").find(({ id }) => id === "an-delta-before-start");
  const { stdout } = await checkText(bytesOf(wireCase as NonNullable<typeof wireCase>));
  assertStringIncludes(
    stdout,
    `
  ✗ stream 1: wire_order at line 5, byte 251
      rule      The frames of a response follow each other as its wire format says, and agree.
      expected  content_block_start before a delta of the block at index 0
      came      {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}
`,
  );
});

/** What is no recording, and what is said of it. */
const UNREADABLE: ReadonlyArray<readonly [string, string | Uint8Array, string, string?]> = [
  ["bytes", Uint8Array.from({ length: 5_000 }, (_, i) => (i * 7919) >> 3), "it is not UTF-8 text"],
  ["bytes that are said to be events", new Uint8Array([0x80]), "it is not UTF-8 text", "events"],
  [
    "a compressed file",
    new Uint8Array([0x1f, 0x8b, 8, 0]),
    "it is compressed; decompress it first, " +
    "as by gunzip -c",
  ],
  ["UTF-16", new Uint8Array([0xff, 0xfe, 0x7b, 0]), "it is UTF-16; convert it to UTF-8 first"],
  ["prose", "Dear reader,\nit is late.\n", "nothing in it is known; say what it is by --from"],
  [
    "a response with its headers",
    "HTTP/1.1 200 OK\r\n\r\n",
    "it begins with the headers of a " +
    "response; record its body alone",
  ],
  [
    "an array",
    "[\n{}\n]",
    "it is one JSON array; write each value of it on a line of its own, as by jq -c '.[]'",
  ],
  [
    "an error of nobody",
    '{"error":{"message":"no"}}',
    "it is the error of a provider, and does not " +
    "say which; say what it is by --from",
  ],
  ["other JSON", '{"a":1}', "it is JSON of no known kind; say what it is by --from"],
  ["a long line", "x".repeat(3_000_000), "nothing in it is known; say what it is by --from"],
];

/** What people keep recordings in, and what it takes to get them out again. */
const WRAPPED: ReadonlyArray<readonly [name: string, data: string | Uint8Array, said: string]> = [
  [
    "zstd",
    new Uint8Array([0x28, 0xb5, 0x2f, 0xfd]),
    "it is compressed; decompress it first, as by zstd -dc",
  ],
  [
    "a HAR file",
    '{\n "log": {"entries": [{"response":{"content":{"text":"data: {}\\n\\n"}}}]}}',
    "it is a HAR file; take a response's body out of it: response.content.text",
  ],
  [
    "a page of a proxy",
    "<html>\n<body>502 Bad Gateway</body>\n</html>\n",
    "it is a page, such as a proxy sends in place of a response",
  ],
  ...["* Trying 127.0.0.1:80...\n", "> POST / HTTP/1.1\n", "  % Total    % Received\n"].map((
    said,
  ) =>
    [
      "what curl says",
      `${said}data: {"type":"start"}\n\n`,
      "it has what curl says of its work; record its standard output alone",
    ] as const
  ),
  [
    "HTTP chunks",
    '18\r\ndata: {"type":"start"}\n\n\r\n0\r\n\r\n',
    "it has the sizes of HTTP chunks in it; record the body as it is decoded",
  ],
  [
    "an array that is cut",
    '[\n{"type":"start"},\n{"type":',
    "it is one JSON array; write each value of it on a line of its own, as by jq -c '.[]'",
  ],
  ...['{\n  "type": "start"\n}\n', '{\n  "type": "start"\n}\n{\n  "type": "text_start"\n}\n'].map((
    text,
  ) =>
    [
      "JSON for people",
      text,
      "its JSON goes over many lines; write each value on a line of its own, as by jq -c .",
    ] as const
  ),
  [
    "other JSON for people",
    '{\n  "a": 1\n}\n',
    "it is JSON of no known kind; say what it is by --from",
  ],
  ...[
    '2026-01-01T00:00:00Z {"type":"start"}',
    '[INFO] data: {"type":"start"}',
    '  data: {"type":"start"}',
  ]
    .map((line) =>
      [
        "a log",
        `2026-01-01T00:00:00Z event: start\n${line}\n`,
        "its lines have something before what is known; take that away, as by sed -n 's/^[^{]*{/{/p'",
      ] as const
    ),
  [
    "events without blank lines",
    'event: start\ndata: {"type":"start"}\nevent: text_start\ndata: {"type":"text_start"}\n',
    "it has no blank lines between its events; take their data, as by sed -n 's/^data: *//p'",
  ],
  [
    "JSON strings",
    '"event: start"\n"data: {\\"type\\":\\"start\\"}"\n',
    "it has JSON strings; write what is in them, as by jq -r .",
  ],
  [
    "JSON strings as data",
    'data: "{\\"type\\":\\"start\\"}"\n\n',
    "it has JSON strings; write what is in them, as by sed -n 's/^data: *//p' | jq -r .",
  ],
  [
    "a log of containers",
    '{"log":"event: start\\n"}\n{"log":"data: {\\"type\\":\\"start\\"}\\n"}\n',
    "what is known in it is within other JSON; take it out, as by jq -r .log",
  ],
  [
    "an envelope",
    '{"at":1,"payload":{"type":"start"}}\n',
    "what is known in it is within other JSON; take it out, as by jq -c .payload",
  ],
  [
    "an envelope of an odd name",
    '{"a b":{"type":"start"}}\n',
    "what is known in it is within other JSON; take it out",
  ],
  [
    "an envelope that nests deep",
    `{"a":${'{"a":'.repeat(50_000)}1${"}".repeat(50_001)}\n`,
    "it is JSON of no known kind; say what it is by --from",
  ],
];

Deno.test("check says what to do about a recording that is wrapped up", async () => {
  for (const [name, data, expected] of WRAPPED) {
    const run = await checkText(data);
    assertEquals(run.stderr, `stream-validator: a.ndjson: ${expected}\n`, name);
    assertEquals(run.code, 2, name);
  }
});

Deno.test("check ends with 2 and says why for what is no recording", async () => {
  for (const [name, data, expected, from] of UNREADABLE) {
    const run = await checkText(data, from ? ["--from", from] : []);
    assertEquals(run.stderr, `stream-validator: a.ndjson: ${expected}\n`, name);
    assertEquals(run.code, 2, name);
  }
});

Deno.test("check takes prose for wrong events where it is told that they are", async () => {
  for (const [from, code] of [["events", "invalid_json"], ["anthropic", "malformed_frame"]]) {
    const run = await checkText("Dear reader,\nit is late.\n", [
      "--json",
      "--from",
      from as string,
    ]);
    assertEquals(objectsIn(run).map(({ verdict }) => verdict), ["wrong"]);
    assertStringIncludes(run.stdout, `"code":"${code}"`);
  }
});

Deno.test("check reads on behind bytes that are not text", async () => {
  const noise = Uint8Array.from({ length: 200_000 }, (_, i) => i * 7919 >> 3 | 0x80);
  for (let i = 0; i < noise.length; i += 97) noise[i] = 0x0a;
  const text = ndjson(HEALTHY);
  const data = new Uint8Array([
    ...encoder.encode(ndjson(HEALTHY.slice(0, 5))),
    ...noise,
    0x0a,
    ...encoder.encode(text),
  ]);
  for (const args of [[], ["--all"]]) {
    const run = await checkText(data, ["--json", ...args]);
    const streams = objectsIn(run);
    assertEquals(streams.map(({ verdict }) => verdict), ["wrong", "ok"]);
    const [wrong, right] = streams as Array<
      { violation: { code: string }; byteOffset: number; line: number }
    >;
    assertEquals(wrong?.violation.code, "invalid_utf8");
    const begin = data.length - encoder.encode(text).length;
    assertEquals(right?.byteOffset, begin);
    assertEquals(right?.line, data.subarray(0, begin).filter((byte) => byte === 0x0a).length + 1);
  }
});

Deno.test("check reads directories, and goes on where one file cannot be read", async () => {
  await withFiles({
    "b/one.ndjson": ndjson(HEALTHY),
    "b/deep/two.sse": readRecordings("anthropic")[0]?.body as Uint8Array,
    "b/readme.md": "# No recording",
    "c/readme.md": "# No recording",
    "d.log": "no recording either",
  }, async (folder) => {
    const run = await runCli(
      ["check", "--json", ..."nowhere c d.log b".split(" ").map((name) => `${folder}/${name}`)],
    );
    assertEquals(run.code, 2);
    assertEquals(
      objectsIn(run).map(({ file, verdict }) => [(file as string).slice(folder.length), verdict]),
      [["/b/deep/two.sse", "ok"], ["/b/one.ndjson", "ok"]],
    );
    assertEquals(run.stderr.replaceAll(`${folder}/`, "").split("\n"), [
      "stream-validator: nowhere: there is no such file",
      "stream-validator: c: no file in it is named .ndjson, .jsonl, .sse, .txt or .log",
      "stream-validator: d.log: nothing in it is known; say what it is by --from",
      "",
    ]);
  });
});

Deno.test("check prints nothing from a file that a terminal would act on", async () => {
  const nasty = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202etxt\ud800\r\n";
  const streams: unknown[][] = [
    [{ type: "start" }, { type: nasty, delta: nasty }],
    [{ type: "start" }, { type: "text_start", contentIndex: 0 }, {
      type: "text_end",
      contentIndex: 0,
      content: nasty,
    }],
    [{ type: "start" }, { type: "tool_call_start", contentIndex: 0, id: nasty, name: nasty }],
    [{ type: "start" }, {
      type: "done",
      reason: "stop",
      message: { ...(HEALTHY.at(-1) as { message: object }).message, stopReason: nasty },
    }],
    [{ [nasty]: nasty }, { type: "start" }],
  ];
  for (const events of streams) {
    for (const data of [ndjson(events), `${ndjson(HEALTHY)}${nasty}\n`]) {
      const { stdout, stderr } = await checkText(data, ["--from", "events", "--all"]);
      // deno-lint-ignore no-control-regex -- they are what it is about
      const found = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]/.exec(stdout + stderr);
      assertEquals(found, null, stdout);
    }
  }
});

Deno.test("check does not break on events that nest deep or are long", async () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const { code, stdout } = await checkText(
    `{"type":"start"}\n{"type":"text_delta","contentIndex":0,"delta":${deep}}\n` +
      `{"type":"start"}\n${deep}\n{"type":"start"}\n{"type":"${"x".repeat(1e6)}"}\n`,
  );
  assertEquals(code, 1);
  assert(stdout.length < 10_000, stdout.slice(0, 3000));
});

Deno.test("check ends quietly when nobody reads its output any more", async () => {
  const data = ndjson(Array.from({ length: 50 }, () => HEALTHY).flat());
  const run = await runCli(["check", "-"], { stdin: data.match(/.{1,999}/gs) ?? [], writes: 2 });
  assertEquals([run.code, run.stderr], [0, ""]);
});

Deno.test("check says that a stream is wrong when nobody reads on", async () => {
  for (const args of [["check", "-"], ["check", "--json", "-"]]) {
    const run = await runCli(args, { stdin: [ndjson(LOST)], writes: 0 });
    assertEquals([run.code, run.stderr], [1, ""]);
  }
});

Deno.test("check takes what follows a response and is of another wire for one wrong stream", async () => {
  const bodies = ["anthropic", "openai-chat", "openai-responses", "gemini"].map((wire) => {
    const text = readRecordings(wire).find(({ name }) => name === "text");
    return [wire, text?.body ?? new Uint8Array()] as const;
  });
  for (const [wire, own] of bodies) {
    for (const [other, body] of bodies) {
      if (other === wire) continue;
      const { code, stdout } = await checkText(new Uint8Array([...own, ...body, ...own]));
      assertEquals(code, 1);
      assertStringIncludes(
        stdout,
        `      expected  a payload of ${wire}\n      came      one of ${other}\n`,
      );
      assert(stdout.endsWith("3 streams: 1 is wrong\n"), stdout);
    }
  }
});

Deno.test("check --all counts a stream once on a pipe, however much is wrong behind its end", async () => {
  const pieces = [
    ndjson([...HEALTHY, ...HEALTHY]),
    ...["a", "b", "c"].map((key) => `{"${key}":1}\n`),
  ];
  const text = await runCli(["check", "--all", "-"], { stdin: pieces });
  assertEquals(text.code, 1);
  assertEquals(text.stdout.match(/malformed_event at event (19|20|21),/g)?.length, 3);
  assert(text.stdout.endsWith("\n2 streams: 1 is wrong\n"), text.stdout);
  const [piped, whole] = await Promise.all([pieces, [pieces.join("")]].map(async (stdin) => {
    const { stdout } = await runCli(["check", "--all", "--json", "-"], { stdin });
    return stdout.trim().split("\n").map((line) => JSON.parse(line));
  }));
  assertEquals(piped?.map(({ violations }) => violations.length), [0, 0, 1, 3]);
  assertEquals(piped?.at(-1), whole?.at(-1));
});

Deno.test("check takes what follows a stream and is of the other format for one wrong stream", async () => {
  const bodyOf = (wire: string) =>
    new TextDecoder().decode(readRecordings(wire).find(({ name }) => name === "text")?.body);
  const sse = {
    ...Object.fromEntries(
      ["anthropic", "openai-chat", "openai-responses", "gemini"].map((
        wire,
      ) => [wire, bodyOf(wire)]),
    ),
    events: HEALTHY.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""),
  };
  const lines = { ollama: bodyOf("ollama"), events: ndjson(HEALTHY) };
  const report = (expected: string, came: string) =>
    `      rule      Every frame of a body is what its wire format promises.\n` +
    `      expected  ${expected}\n      came      ${came}\n`;
  for (const [wire, own] of Object.entries(sse)) {
    for (const other of Object.values(lines)) {
      const { code, stdout } = await checkText(`${own}${other}: more\n\n${own}`);
      assertEquals(code, 1, wire);
      assertStringIncludes(stdout, `${wire} as server-sent events\n`);
      assertStringIncludes(stdout, `stream 2: malformed_frame at `);
      assertStringIncludes(stdout, report("server-sent events", "a line of JSON"));
      assert(stdout.endsWith("3 streams: 1 is wrong\n"), stdout);
    }
    const { code, stdout } = await checkText(`${lines.ollama}${own}${lines.ollama}`);
    assertEquals(code, 1, wire);
    assertStringIncludes(stdout, report("a line of JSON", "a server-sent event"));
    assert(stdout.endsWith("3 streams: 1 is wrong\n"), stdout);
  }
});

Deno.test("check takes a line of JSON among server-sent events for what they take it for", async () => {
  const [start, ...rest] = HEALTHY.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  const { code, stdout } = await checkText(
    `${start}{"level":"info"}\n${JSON.stringify(HEALTHY[1])}\n${rest.join("")}{"level":"info"}\n`,
  );
  assertEquals(code, 0);
  assert(stdout.endsWith("1 stream: it is well-formed\n"), stdout);
});

Deno.test("check takes an error among server-sent events for what the adapter takes it for", async () => {
  const error = { error: { code: 503, message: "Overloaded", status: "UNAVAILABLE" } };
  const pretty = JSON.stringify(error, undefined, 2);
  for (const wire of ["anthropic", "openai-chat", "openai-responses", "gemini"]) {
    const body = readRecordings(wire).find(({ name }) => name === "text")?.body;
    const frames = new TextDecoder().decode(body).replaceAll("\r\n", "\n").split(/(?<=\n\n)/);
    const half = frames.slice(0, frames.length >> 1).join("");
    const endings = [
      pretty,
      `${JSON.stringify(error)}\n`,
      `data: \n${pretty}\n\n`,
      `data: \n${pretty}`,
      "event: error\ndata: Overloaded\n\n",
      'event: error\ndata: {"message":"Overloaded"}\n\n',
    ];
    // Between the lines of an event, which comes first.
    const bodies = [`${half.slice(0, -1)}${pretty}\n`, ...endings.map((ending) => half + ending)];
    for (const text of bodies) {
      const streams = objectsIn(await checkText(text, ["--json", "--from", wire]));
      assertEquals(
        streams.map(({ verdict, errorCode }) => [verdict, errorCode]),
        [["failed", "provider_error"]],
        text,
      );
    }
  }
});

Deno.test("check marks no payload as the delta that went wrong where there is none", async () => {
  const [good, bad] = ['{"model":"m","message":{"content":"a"}}', '{"model":"m","message":5}'];
  const { stdout } = await checkText(`${good}\n${good}\n${bad}\n`, ["--from", "ollama"]);
  assertStringIncludes(
    stdout,
    `        line 1  ${good}\n        line 2  ${good}\n      ▶ line 3  ${bad}\n`,
  );
});

Deno.test("check says so when there is nothing to read", async () => {
  const run = await runCli(["check"]);
  assertEquals(
    run.stderr,
    'stream-validator: Expected a file, a directory, or "-" for standard input; see ' +
      "stream-validator check --help\n",
  );
  assertEquals(run.code, 2);
  assertEquals((await runCli(["check", "-", "-"], { stdin: [] })).code, 2);
});

Deno.test("check reads what is piped in where no file is named", async () => {
  const { code, stdout } = await runCli(["check"], { stdin: [ndjson(HEALTHY)] });
  assertEquals(code, 0);
  assertEquals(
    stdout,
    "standard input: events as NDJSON\n  ✓ stream 1: 19 events, 3 blocks, tool_use\n" +
      "1 stream: it is well-formed\n",
  );
});

Deno.test("check --quiet writes what is wrong alone", async () => {
  const { stdout } = await checkText(ndjson([...HEALTHY, ...LOST]), ["--quiet"]);
  assert(stdout.startsWith("a.ndjson: events as NDJSON\n  ✗ stream 2: content_mismatch"), stdout);
  const healthy = await checkText(ndjson([...HEALTHY, ...HEALTHY]), ["-q"]);
  assertEquals(healthy.stdout, "2 streams: all are well-formed\n");
});

Deno.test("check gives each verdict as soon as it is known on a pipe that stays open", async () => {
  const events = [...HEALTHY, ...LOST, ...without(HEALTHY, 18)];
  const seen: string[] = [];
  let output = "";
  async function* pipe() {
    for (const event of events) {
      yield ndjson([event]);
      seen.push(output.trim().split("\n").at(-1) ?? "");
    }
  }
  await runCli(["check", "-"], { stdin: pipe(), onOutput: (text) => output += text });
  assertEquals(seen[17], "standard input: events as NDJSON");
  assertEquals(seen[18], "  ✓ stream 1: 19 events, 3 blocks, tool_use");
  assertEquals(seen[28], "  ✓ stream 1: 19 events, 3 blocks, tool_use");
  assertEquals(seen[29], "      more      stream-validator explain content_mismatch");
});

Deno.test("check --json gives each verdict as soon as it is known, too", async () => {
  const events = [...LOST.slice(0, -1), ...HEALTHY];
  const seen: number[] = [];
  let output = "";
  async function* pipe() {
    for (const event of events) {
      yield ndjson([event]);
      seen.push(output.split("\n").length - 1);
    }
  }
  const run = await runCli(["check", "--json", "-"], {
    stdin: pipe(),
    onOutput: (text) => output += text,
  });
  assertEquals(seen[9], 0);
  assertEquals(seen[10], 1);
  assertEquals(seen[events.length - 2], 1);
  assertEquals(seen[events.length - 1], 2);
  assertEquals(
    objectsIn(run).map(({ stream, verdict }) => [stream, verdict]),
    [[1, "wrong"], [2, "ok"]],
  );
});

Deno.test("check takes a verdict back when more comes after the end", async () => {
  const chunks = [ndjson(HEALTHY), ndjson([HEALTHY[1]]), ndjson(HEALTHY)];
  const { code, stdout } = await runCli(["check", "--json", "-"], { stdin: chunks });
  assertEquals(
    objectsIn({ code, stdout, stderr: "" }).map(({ stream, verdict }) => [stream, verdict]),
    [[1, "ok"], [1, "wrong"], [2, "ok"]],
  );
  const text = await runCli(["check", "-"], { stdin: chunks });
  assertStringIncludes(text.stdout, "  ✗ stream 1: after_terminal at event 19, line 20, byte ");
  assertStringIncludes(text.stdout, "\n2 streams: 1 is wrong\n");
});

Deno.test("check shows on a terminal how far it is, after a second, and takes it away", async () => {
  let now = 0;
  const data = ndjson(Array.from({ length: 1_000 }, () => HEALTHY).flat());
  const written: string[] = [];
  await withFiles({ "a.ndjson": data }, async (folder) => {
    await runCli(["check", "--quiet", `${folder}/a.ndjson`], {
      isTerminal: true,
      columns: 40,
      now: () => now += 200,
      onOutput: (text) => written.push(text),
    });
  });
  assert(written[0]?.startsWith("\r\x1b[K███"), written[0]);
  assertStringIncludes(written[0] as string, "% ");
  assertEquals(written.at(-2), "\r\x1b[K");
  assertEquals(written.at(-1), "1,000 streams: all are well-formed\n");
  assert(written.every((text) => text.length < 50));
});

Deno.test("check fits its report to the terminal", async () => {
  await withFiles({ "a.ndjson": ndjson(without(HEALTHY, 13)) }, async (folder) => {
    const { stdout } = await runCli(["check", `${folder}/a.ndjson`], {
      isTerminal: true,
      columns: 50,
    });
    const window = stdout.split("\n").filter((line) => /^ +▶? +line/.test(line));
    assert(window.length > 4 && window.every((line) => line.length <= 50), stdout);
  });
});

Deno.test("check fits wide characters to the terminal too", async () => {
  const events = eventsOf([{ type: "text", text: "潮は満ちる".repeat(8) }], 40);
  const { stdout } = await runCli(["check", "-"], {
    stdin: [ndjson(events.slice(0, 3)), ndjson([null])],
    isTerminal: true,
    columns: 60,
  });
  const [line = ""] = stdout.split("\n").filter((line) => line.includes("text_delta"));
  assertStringIncludes(line, "潮");
  assert(displayWidth(line) <= 60, line);
});

Deno.test("check colours for a terminal alone", async () => {
  for (const hasColor of [true, false]) {
    const { stdout } = await runCli(["check", "-"], { stdin: [ndjson(LOST)], hasColor });
    assertEquals(stdout.includes("\x1b["), hasColor);
  }
});

Deno.test("check as a process has the exit code of the verdict, and no colour in a pipe", async () => {
  await withFiles({ "a.ndjson": ndjson(HEALTHY), "b.ndjson": ndjson(LOST) }, async (folder) => {
    const runs = await Promise.all([
      runProcess(["check", `${folder}/a.ndjson`]),
      runProcess(["check", folder]),
      runProcess(["check", `${folder}/c.ndjson`]),
      runProcess(["check", "--json", "-"], ndjson(LOST)),
      runProcess(["check"], ""),
    ]);
    assertEquals(runs.map(({ code }) => code), [0, 1, 2, 1, 1]);
    assert(runs.every(({ stdout, stderr }) => !`${stdout}${stderr}`.includes("\x1b")));
    assert(runs.every(({ stderr }) => !stderr.includes("    at ")));
  });
});

Deno.test("check as a process tells its verdict while the pipe stays open", async () => {
  const process = startCli(["check", "-"]);
  const writer = process.stdin.getWriter();
  await writer.write(encoder.encode(ndjson(LOST.slice(0, 12))));
  let output = "";
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  while (!output.includes("explain content_mismatch")) {
    const { done, value } = await reader.read();
    assert(!done, output);
    output += value;
  }
  await writer.close();
  while (!(await reader.read()).done) { /* The totals. */ }
  assertEquals((await process.status).code, 1);
  assertEquals(await new Response(process.stderr).text(), "");
});

Deno.test("check as a process ends quietly when its output is closed, as by head", async () => {
  const data = encoder.encode(ndjson(Array.from({ length: 20_000 }, () => HEALTHY).flat()));
  await withFiles({ "a.ndjson": data }, async (folder) => {
    const process = startCli(["check", `${folder}/a.ndjson`]);
    const reader = process.stdout.getReader();
    await reader.read();
    await reader.cancel();
    await process.stdin.close();
    const stderr = await new Response(process.stderr).text();
    assertEquals([(await process.status).code, stderr], [0, ""]);
  });
});

Deno.test("check holds no more than the stream at hand", async () => {
  const stream = encoder.encode(
    ndjson(eventsOf([{ type: "text", text: "It is said again and again. ".repeat(400) }], 12)),
  );
  const size = 48_000_000;
  await withFiles({}, async (folder) => {
    const path = `${folder}/a.ndjson`;
    const file = await Deno.open(path, { write: true, create: true });
    const chunk = new Uint8Array(stream.length * 20);
    for (let i = 0; i < 20; i++) chunk.set(stream, i * stream.length);
    let written = 0;
    for (; written < size; written += chunk.length) await file.write(chunk);
    file.close();
    // A process that may not have half of the file in memory.
    const output = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--no-check", "--v8-flags=--max-old-space-size=24,--max-semi-space-size=4"],
        ...["--allow-read", "--allow-env", "--import-map=tests/_std/import_map.json"],
        ...["src/cli/main.ts", "check", "--quiet", path],
      ],
      stdin: "null",
      signal: AbortSignal.timeout(60_000),
    }).output();
    assertEquals(new TextDecoder().decode(output.stderr), "");
    assertEquals(
      new TextDecoder().decode(output.stdout),
      `${Math.round(written / stream.length).toLocaleString("en")} streams: all are well-formed\n`,
    );
  });
});

Deno.test("check as a process ends with 2 where its output cannot be written", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await withFiles({ "a.ndjson": ndjson(HEALTHY) }, async (folder) => {
    const { code, stderr } = await new Deno.Command("sh", {
      args: ["-c", '"$0" "$@" > /dev/full', Deno.execPath(), ...cliArgs(["check", folder])],
      signal: AbortSignal.timeout(60_000),
    }).output();
    assertEquals(code, 2);
    const text = new TextDecoder().decode(stderr);
    assert(/^stream-validator: the output cannot be written: .*\n$/.test(text), text);
  });
});

Deno.test("check as a process colours on a terminal, not under NO_COLOR nor on a dumb one", {
  ignore: !await hasScript(),
}, async () => {
  await withFiles({ "a.ndjson": ndjson(LOST) }, async (folder) => {
    const cases = [
      [{ TERM: "xterm" }, true],
      [{ NO_COLOR: "1" }, false],
      [{ TERM: "dumb" }, false],
    ] as const;
    for (const [env, isColored] of cases) {
      const [run = "", ...args] = cliArgs(["check", folder]);
      const command = [Deno.execPath(), run, "--allow-env=TERM", ...args].join(" ");
      const { stdout } = await new Deno.Command("script", {
        args: ["-qec", command, "/dev/null"],
        env: { NO_COLOR: "", ...env },
        stdin: "null",
        signal: AbortSignal.timeout(60_000),
      }).output();
      const text = new TextDecoder().decode(stdout);
      assertStringIncludes(text, "content_mismatch");
      assertEquals(text.includes("\x1b[31m"), isColored, text);
    }
  });
});

/** Whether there is a tool that gives a process a terminal, and takes a command as Linux's does. */
async function hasScript(): Promise<boolean> {
  try {
    const { code } = await new Deno.Command("script", { args: ["-qec", "true", "/dev/null"] })
      .output();
    return code === 0;
  } catch {
    return false;
  }
}
