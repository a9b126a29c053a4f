import { assertEquals, assertStringIncludes } from "@std/assert";

Deno.test("demo shows the events, the message and the errors, and ends", async () => {
  const output = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-net=127.0.0.1", "--allow-read", "examples/demo.ts"],
    stdin: "null",
    signal: AbortSignal.timeout(60_000),
  }).output();
  const text = new TextDecoder().decode(output.stdout);
  assertEquals(new TextDecoder().decode(output.stderr), "");
  assertEquals(output.code, 0);
  const lines = text.split("\n").filter((line) => /^\s+✗|stopReason| at event /.test(line));
  assertEquals(lines, [
    "  the message, whole: stopReason tool_use, 99 tokens",
    "  the message, whole: stopReason tool_use, 99 tokens",
    '  ✗ Invalid stream event "tool_call_end" in phase "streaming": expected argument deltas that ' +
    "spell valid JSON, received 86 UTF-16 code units that do not",
    "  arguments_not_json at event 25; safe to keep:",
    '  ✗ Stream ended in phase "streaming": expected "done" or "error", received neither, and ' +
    'tool_call "search_flights" at contentIndex 2 is open',
    "  truncated at event 19; safe to keep:",
  ]);
  assertStringIncludes(text, '  ✓ text_delta       {"contentIndex":1,"delta":"Happy to hel"}');
});
