// Runs the packed command line as a process of the runtime at hand, as `npx stream-validator` does.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(import.meta.resolve("@agent-stream/validator/cli"));

const usage = {
  input: 1,
  output: 2,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 3,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const content = [{ type: "text", text: "Hello" }];
const EVENTS = [
  { type: "start" },
  { type: "text_start", contentIndex: 0 },
  { type: "text_delta", contentIndex: 0, delta: "Hello" },
  { type: "text_end", contentIndex: 0, content: "Hello" },
  {
    type: "done",
    reason: "stop",
    message: {
      role: "assistant",
      content,
      provider: "demo",
      model: "demo-1",
      usage,
      timestamp: 0,
      stopReason: "stop",
    },
  },
].map((event) => `${JSON.stringify(event)}\n`);

function check(what: string, holds: boolean): void {
  if (!holds) throw new Error(`Expected ${what}`);
  console.log(`ok ${what}`);
}

/** Starts a command; what it writes gathers in `output`. */
function start(...args: string[]) {
  const child = spawn(process.execPath, [BIN, ...args], { stdio: "pipe" });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => output.stdout += text);
  child.stderr.setEncoding("utf8").on("data", (text: string) => output.stderr += text);
  child.stdin.on("error", () => {});
  const code = new Promise<number | null>((resolve) => child.on("close", resolve));
  return { child, output, code };
}

async function run(input: string, ...args: string[]) {
  const { child, output, code } = start(...args);
  child.stdin.end(input);
  return { code: await code, ...output };
}

const whole = await run(EVENTS.join(""), "check", "-");
check("a healthy stream to end with 0", whole.code === 0 && whole.stderr === "");
check("its verdict", whole.stdout.includes("✓ stream 1: 5 events, 1 block, stop"));

const lost = await run(EVENTS.filter((_, index) => index !== 2).join(""), "check", "--json", "-");
check("a lost delta to end with 1", lost.code === 1);
check("its code", JSON.parse(lost.stdout).violation.code === "content_mismatch");

const misused = await run("", "chek");
check(
  "no command to end with 2",
  misused.code === 2 && misused.stderr.includes("Expected a command"),
);

const explained = await run("", "explain", "truncated");
check("a rule to be explained", explained.stdout.startsWith("truncated\n"));

const converted = await run(EVENTS.join(""), "convert", "--to", "sse", "-");
check("events to be converted", converted.stdout.startsWith("event: start\nid: 0\ndata: {"));

const shown = await run(EVENTS.join(""), "show", "-");
check("a stream to be drawn", shown.code === 0 && shown.stdout.includes("well-formed"));

const minimized = await run(EVENTS.filter((_, index) => index !== 2).join(""), "minimize", "-");
check(
  "a stream to be shrunk",
  minimized.code === 0 && minimized.stdout.split("\n").length === 4 &&
    minimized.stderr.includes("still content_mismatch"),
);

const live = start("check", "-");
live.child.stdin.write(EVENTS.join(""));
while (!live.output.stdout.includes("✓")) await new Promise((resolve) => setTimeout(resolve, 20));
check("a verdict while the pipe stays open", live.child.exitCode === null);
live.child.stdin.end();
check("the end of the pipe to be the end", await live.code === 0);

const closed = start("convert", "-");
closed.child.stdout.destroy();
closed.child.stdin.write(EVENTS.join("").repeat(5_000));
check("a closed output to end it quietly", await closed.code === 0 && closed.output.stderr === "");

const replay = start("replay", "--once", "--chunk", "10", "-");
replay.child.stdin.end(EVENTS.join(""));
while (!replay.output.stdout.endsWith("\n")) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
const response = await fetch(replay.output.stdout.trim());
check("a recording to be served as it is", await response.text() === EVENTS.join(""));
check("one answer to be enough", await replay.code === 0);
