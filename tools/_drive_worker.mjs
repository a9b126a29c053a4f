/**
 * Runs the example Worker in workerd, between clients and a provider that are both played here, and
 * prints what it found, one JSON line a check. For Node, where miniflare is at home.
 */

import { readdirSync, readFileSync } from "node:fs";
import { createServer, request as send } from "node:http";
import { createRequire } from "node:module";
import process from "node:process";

const [packages, scriptPath, recordingPath] = process.argv.slice(2);
const { Miniflare } = createRequire(`${packages}/package.json`)("miniflare");
const recording = readFileSync(recordingPath);

const STREAMS = 1_000;
/** How many times that many streams are opened and ended, to see whether anything stays. */
const ROUNDS = 3;
/** How often a stream has a delta, in milliseconds. */
const PACE = 200;
/** After how many events of each stream the memory is looked at. */
const EVENTS = 25;
/** What may be in use while all are open, in mebibytes: half of what the edge gives a Worker. */
const OPEN_LIMIT = 64;
/** What may stay of a stream that has ended, in bytes, on average. */
const STAYING_LIMIT = 256;

/** What the provider does with a request; the client says so in its message. */
const BEHAVIOURS = {
  whole(response) {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(recording);
  },
  broken(response) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(recording.subarray(0, recording.length >> 1), () => response.destroy());
  },
  refused(response) {
    response.writeHead(429, { "content-type": "application/json", "retry-after": "2" });
    response.end('{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}');
  },
  silent() {},
  slow(response) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const write = (data) =>
      response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
    write({
      type: "message_start",
      message: { model: "m", usage: { input_tokens: 1, output_tokens: 1 } },
    });
    write({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
    const timer = setInterval(() => {
      if (isFinishing) {
        clearInterval(timer);
        write({ type: "content_block_stop", index: 0 });
        write({
          type: "message_delta",
          delta: { stop_reason: "end_turn" },
          usage: { output_tokens: 9 },
        });
        write({ type: "message_stop" });
        response.end();
        return;
      }
      write({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "word" } });
    }, PACE);
    response.on("close", () => clearInterval(timer));
  },
};

let isFinishing = false;
/** Requests whose client has gone before they were answered whole. */
let abandoned = 0;
let inProgress = 0;

const provider = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { messages } = JSON.parse(body);
  inProgress++;
  response.on("close", () => {
    inProgress--;
    if (!response.writableFinished) abandoned++;
  });
  BEHAVIOURS[messages[0].content](response);
});
await new Promise((resolve) => provider.listen(0, "127.0.0.1", resolve));

const miniflare = new Miniflare({
  modules: true,
  scriptPath,
  compatibilityDate: "2026-07-01",
  inspectorPort: 0,
  bindings: {
    PROVIDER_URL: `http://127.0.0.1:${provider.address().port}/`,
    PROVIDER_KEY: "none",
    MODEL: "m",
  },
});
const url = await miniflare.ready;

/** A client's request: the events so far, and how it ends. */
function ask(behaviour) {
  const client = { events: 0, last: "", text: "" };
  const request = send(url, { method: "POST", agent: false });
  request.end(JSON.stringify({ messages: [{ role: "user", content: behaviour }] }));
  client.leave = () => request.destroy();
  client.ended = new Promise((resolve) => {
    request.on("error", resolve);
    request.on("response", (response) => {
      client.status = response.statusCode;
      response.setEncoding("utf8");
      response.on("data", (text) => {
        client.text = (client.text + text).slice(-4_096);
        for (const [, type] of text.matchAll(/^event: (.*)$/gm)) {
          client.events++;
          client.last = type;
        }
      });
      response.on("error", resolve);
      response.on("close", resolve);
    });
  });
  return client;
}

/** What of the Worker's heap is in use once its garbage is collected, in mebibytes. */
async function heap() {
  const { host } = await miniflare.getInspectorURL();
  const targets = await (await fetch(`http://${host}/json`)).json();
  const worker = targets.find(({ id }) => id === "core:user:");
  const socket = new WebSocket(worker.webSocketDebuggerUrl);
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  const call = (id, method) => {
    socket.send(JSON.stringify({ id, method }));
    return new Promise((resolve) =>
      socket.addEventListener("message", ({ data }) => {
        if (data.startsWith(`{"id":${id},`)) resolve(JSON.parse(data).result);
      })
    );
  };
  // This engine answers no `collectGarbage`; before a snapshot it collects too.
  await call(1, "HeapProfiler.takeHeapSnapshot");
  const { usedSize } = await call(2, "Runtime.getHeapUsage");
  socket.close();
  return usedSize / 2 ** 20;
}

/** The memory of the engine's process, in mebibytes. */
function residentMemory() {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/.exec(stat);
      if (name.startsWith("workerd") && Number(parent) === process.pid) {
        const status = readFileSync(`/proc/${pid}/status`, "utf8");
        return Number(/VmRSS:\s+(\d+) kB/.exec(status)[1]) / 1024;
      }
    } catch {
      // It ended in the meantime.
    }
  }
  return NaN;
}

async function until(holds, patience = 30_000) {
  const deadline = Date.now() + patience;
  while (!holds()) {
    if (Date.now() > deadline) return false;
    await wait(10);
  }
  return true;
}

function wait(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function tell(name, isFine, text) {
  console.log(JSON.stringify({ name, isFine, text }));
}

/** The message of the terminal event, as the client got it. */
function messageOf({ text }) {
  return JSON.parse(text.trim().split("\ndata: ").at(-1)).message;
}

const whole = ask("whole");
await whole.ended;
tell(
  "a whole answer arrives whole",
  whole.last === "done",
  `${whole.events} events, ${whole.last}`,
);

const broken = ask("broken");
await broken.ended;
tell(
  "an answer that breaks off ends in an error event",
  broken.last === "error" && messageOf(broken).errorCode === "network_error",
  `${broken.events} events, ${broken.last}: ${messageOf(broken).errorMessage}`,
);

const refused = ask("refused");
await refused.ended;
tell(
  "a refused request ends in an error event that says so",
  refused.last === "error" && messageOf(refused).errorDetails.retryAfter === 2_000,
  messageOf(refused).errorMessage,
);

abandoned = 0;
const leaving = ask("slow");
await until(() => leaving.events > 5);
leaving.leave();
tell(
  "the provider's request is cancelled when the client leaves",
  await until(() => abandoned === 1 && inProgress === 0),
  `${abandoned} cancelled, ${inProgress} in progress`,
);

const early = ask("silent");
await until(() => inProgress === 1);
early.leave();
tell(
  "it is cancelled when the client leaves before there is an answer",
  await until(() => abandoned === 2 && inProgress === 0),
  `${abandoned} cancelled, ${inProgress} in progress`,
);

const open = [];
const after = [];
for (let round = 1; round <= ROUNDS; round++) {
  isFinishing = false;
  abandoned = 0;
  const clients = Array.from({ length: STREAMS }, () => ask("slow"));
  const areOpen = await until(() => clients.every(({ events }) => events >= EVENTS), 120_000);
  const count = inProgress;
  open.push(await heap());
  const leavers = clients.slice(0, STREAMS / 2);
  for (const { leave } of leavers) leave();
  const areGone = await until(() => abandoned === leavers.length);
  isFinishing = true;
  const stayers = clients.slice(STREAMS / 2);
  await Promise.all(stayers.map(({ ended }) => ended));
  const done = stayers.filter(({ last }) => last === "done").length;
  const isOver = areOpen && areGone && await until(() => inProgress === 0);
  after.push(await heap());
  tell(
    `round ${round}: ${STREAMS} streams at once, half of whose clients leave`,
    isOver && count === STREAMS && done === stayers.length,
    `${count} open, ${abandoned} cancelled, ${done} done`,
  );
}
const shown = (sizes) => sizes.map((size) => size.toFixed(1)).join(", ") + " MiB";
tell(
  `the heap stays under ${OPEN_LIMIT} MiB with ${STREAMS} streams open`,
  Math.max(...open) < OPEN_LIMIT,
  `${shown(open)}; the process takes ${residentMemory().toFixed(0)} MiB`,
);
// The first round brings what is made once.
const staying = (after.at(-1) - after[0]) * 2 ** 20 / ((ROUNDS - 1) * STREAMS);
tell(
  "nothing stays of a stream that has ended",
  staying < STAYING_LIMIT,
  `${shown(after)} after each round, ${staying.toFixed(0)} bytes a stream`,
);

await miniflare.dispose();
provider.closeAllConnections();
provider.close();
