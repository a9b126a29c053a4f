import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { RULES } from "../../src/cli/_rules.ts";
import type { AssistantErrorCode } from "../../mod.ts";
import type { StreamDecodeErrorCode } from "../../src/wire/mod.ts";
import { DECODE_FAULTS, FAILURES, WIRE_FAULTS } from "../../src/cli/_wire_faults.ts";
import { runCli, runProcess } from "./_cli.ts";

Deno.test("explain shows the rule, a stream that breaks it, and the same put right", async () => {
  const { code, stdout } = await runCli(["explain", "wrong_index"]);
  assertEquals(code, 0);
  assertEquals(
    stdout,
    `wrong_index
  A delta or an end names the position of the block that is open.

Broken
  {"type":"start"}
  {"type":"text_start","contentIndex":0}
▶ {"type":"text_delta","contentIndex":1,"delta":"Hello"}

Put right
✓ {"type":"start"}
✓ {"type":"text_start","contentIndex":0}
✓ {"type":"text_delta","contentIndex":0,"delta":"Hello"}
✓ {"type":"text_end","contentIndex":0,"content":"Hello"}
✓ {"type":"done","reason":"stop","message":{"content":[{"type":"text","text":"Hello"}],"stopReason":"stop",…}}

Usual causes
- Blocks that overlap, such as parallel tool calls, were passed on without being put in order.
- The provider's own index was passed on, which counts otherwise.

--json has these streams whole.
`,
  );
});

Deno.test("explain --json has streams that check judges as it says", async () => {
  for (const code of Object.keys(RULES)) {
    const { stdout } = await runCli(["explain", "--json", code]);
    const { broken, fixed, limits } = JSON.parse(stdout);
    if (limits) continue; // check has the usual ones.
    const judge = async (events: unknown[]) => {
      const stdin = [events.map((event) => `${JSON.stringify(event)}\n`).join("")];
      const { stdout } = await runCli(["check", "--json", "--from", "events", "-"], { stdin });
      return JSON.parse(stdout).violation?.code;
    };
    assertEquals(await judge(broken), code);
    assertEquals(await judge(fixed), undefined, code);
  }
});

Deno.test("explain alone lists the codes in the order in which they are checked", async () => {
  const { stdout } = await runCli(["explain"]);
  const codes = stdout.split("\n").filter((line) => /^[a-z_0-9]+ {2,}/.test(line))
    .map((line) => line.split(" ")[0]);
  assertEquals(codes.slice(0, 21) as string[], Object.keys(RULES));
  const others = [DECODE_FAULTS, WIRE_FAULTS, FAILURES].flatMap((faults) => Object.keys(faults));
  assertEquals(codes.slice(21) as string[], others.filter((code) => !(code in RULES)));
  const json = await runCli(["explain", "--json"]);
  assertEquals(Object.keys(JSON.parse(json.stdout)).sort(), [...codes as string[]].sort());
});

Deno.test("explain says of the bytes and of a wire format what usually causes it", async () => {
  const { stdout } = await runCli(["explain", "incomplete_frame"]);
  assertEquals(
    stdout,
    `incomplete_frame
  A body ends behind an event.

Usual causes
- The connection broke, or the recording ended, in the middle of an event.
`,
  );
  const json = await runCli(["explain", "wire_order", "--json"]);
  assertEquals(JSON.parse(json.stdout), { code: "wire_order", ...WIRE_FAULTS.wire_order });
});

Deno.test("explain knows every code that an error or a message can have", async () => {
  const responses: Record<AssistantErrorCode, true> = {
    truncated: true,
    malformed_frame: true,
    wire_order: true,
    ambiguous_tool_call: true,
    invalid_tool_arguments: true,
    missing_tool_call: true,
    output_limit: true,
    content_filter: true,
    refusal: true,
    paused: true,
    unknown_stop_reason: true,
    provider_error: true,
    http_error: true,
    unexpected_content_type: true,
    network_error: true,
    idle_timeout: true,
    limit_exceeded: true,
    aborted: true,
  };
  const bodies: Record<StreamDecodeErrorCode, true> = {
    invalid_utf8: true,
    line_too_long: true,
    invalid_json: true,
    incomplete_frame: true,
    invalid_message: true,
    unsupported_content_type: true,
    unexpected_status: true,
  };
  for (const known of [...Object.keys(responses), ...Object.keys(bodies), ...Object.keys(RULES)]) {
    const { code, stdout } = await runCli(["explain", known]);
    assertEquals(code, 0, known);
    assertStringIncludes(stdout, "Usual causes\n- ");
  }
});

Deno.test("explain says so when it does not know a code", async () => {
  const { code, stderr } = await runCli(["explain", "\x1b[2J"]);
  assertEquals(code, 2);
  assertStringIncludes(stderr, 'Expected a code that is known, received "\\u001b[2J"');
  assertEquals((await runCli(["explain", "a", "b"])).code, 2);
});

Deno.test("explain as a process writes what it writes here", async () => {
  const { code, stdout, stderr } = await runProcess(["explain", "TRUNCATED"]);
  assertEquals([code, stderr], [0, ""]);
  assertEquals(stdout, (await runCli(["explain", "truncated"])).stdout);
  assert(stdout.includes("▶ (the end)"));
});
