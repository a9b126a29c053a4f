// What a user of the npm package writes: compiled by tsc, and run by Node and Bun from JavaScript.
import {
  createAssistantMessageEventStream,
  createStreamEventValidator,
  type StreamEvent,
  StreamEventValidatorStream,
  StreamSequenceError,
  toStreamEvents,
} from "@agent-stream/validator";
import {
  readStreamEvents,
  StreamDecodeError,
  StreamEventDecoderStream,
  toResponse,
} from "@agent-stream/validator/wire";

function check(what: string, holds: boolean): void {
  if (!holds) throw new Error(`Expected ${what}`);
  console.log(`ok ${what}`);
}

const events: StreamEvent[] = [...toStreamEvents({
  role: "assistant",
  content: [{ type: "text", text: "Hello" }],
  provider: "demo",
  model: "demo-1",
  usage: {
    input: 1,
    output: 2,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 3,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  },
  timestamp: 0,
  stopReason: "stop",
}, { deltaLength: 2 })];

const validator = createStreamEventValidator();
for (const event of events) validator.accept(event);
validator.end();
check("a legal stream to be accepted", validator.phase === "terminal");

for (const format of ["sse", "ndjson"] as const) {
  const message = await readStreamEvents(toResponse(events, { format })).result();
  check(
    `${format} to arrive whole`,
    JSON.stringify(message.content) === '[{"type":"text","text":"Hello"}]',
  );
}

const response = toResponse(events);
const stream = new StreamEventValidatorStream();
if (response.body === null) throw new Error("Expected a body");
const piped: ReadableStream<StreamEvent> = response.body
  .pipeThrough(StreamEventDecoderStream.for(response))
  .pipeThrough(stream);
const reader = piped.getReader();
let count = 0;
while (!(await reader.read()).done) count++;
check("a pipe to pass every event on", count === events.length);
check("result() to give the message", (await stream.result()).stopReason === "stop");

const cancelled = new StreamEventValidatorStream();
await cancelled.readable.cancel("enough");
check("a cancel to settle result()", await cancelled.result().catch((error) => error) === "enough");

const broken = readStreamEvents(
  new Response("{", { headers: { "content-type": "application/jsonl" } }),
);
const decodeError: unknown = await broken.result().catch((error) => error);
check("a broken line to be a StreamDecodeError", StreamDecodeError.is(decodeError));

const pushed = createAssistantMessageEventStream();
pushed.push({ type: "start" });
pushed.end();
const pushError: unknown = await pushed.result().catch((error) => error);
check(
  "an early end to be truncated",
  StreamSequenceError.is(pushError) && pushError.code === "truncated",
);
