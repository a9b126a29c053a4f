/** What the suite of the runtimes loads: its materials, and bodies that a server does things to. */

import { contentTypeOf, EVENTS, frameOf, IMPOSSIBLE } from "../tests/runtimes/_events.ts";
import type { Materials } from "../tests/runtimes/_materials.ts";

/** How much of a body goes out at a time, in bytes: less than a frame, and ending anywhere. */
const PIECE_LENGTH = 331;

/** How often a body that is held open shows that it is, in milliseconds. */
const HEARTBEAT = 10;

/** How long a client may take to be seen gone, in milliseconds. */
const PATIENCE = 5_000;

const PAGE = `<!doctype html>
<meta charset="utf-8">
<script>
  addEventListener("error", ({ message }) => fetch("/report" + location.search, {
    method: "POST",
    body: JSON.stringify({ name: "the page", verdict: message, isWrong: true }),
  }));
</script>
<body><script type="module" src="/page.js"></script>
`;

/** A server on loopback. */
export interface SuiteServer {
  readonly url: string;
  /** Waits for the lines that a page posts. */
  report(engine: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * Serves on loopback.
 *
 * @param page The script for browsers.
 */
export async function serveSuite(page?: string): Promise<SuiteServer> {
  const materials = JSON.stringify(await readMaterials());
  const reports = new Map<string, PromiseWithResolvers<string>>();
  const gone = new Set<string>();
  const reportOf = (engine: string) => {
    const report = reports.get(engine) ?? Promise.withResolvers<string>();
    reports.set(engine, report);
    return report;
  };

  const serve = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    switch (pathname) {
      case "/":
        return new Response(PAGE, { headers: { "content-type": "text/html" } });
      case "/page.js":
        return new Response(page, { headers: { "content-type": "text/javascript" } });
      case "/materials":
        return new Response(materials, { headers: { "content-type": "application/json" } });
      case "/body":
        return await serveBody(searchParams, () => gone.add(searchParams.get("id") ?? ""));
      case "/gone":
        return new Response(await isGone(searchParams.get("id") ?? "") ? "gone" : "still there");
      case "/report":
        reportOf(searchParams.get("engine") ?? "").resolve(await request.text());
        return new Response();
      default:
        return new Response(null, { status: 404 });
    }
  };
  const isGone = async (id: string): Promise<boolean> => {
    const deadline = Date.now() + PATIENCE;
    while (!gone.has(id) && Date.now() < deadline) await wait(5);
    return gone.has(id);
  };

  const controller = new AbortController();
  const { signal } = controller;
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    signal,
    onListen() {},
    // A body that is reset is no news.
    onError: () => new Response(null, { status: 500 }),
  }, serve);
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    report: (engine) => reportOf(engine).promise,
    async close() {
      controller.abort();
      await server.finished;
    },
  };
}

async function serveBody(query: URLSearchParams, onGone: () => void): Promise<Response> {
  const { bytes, format } = await sourceOf(query.get("source") ?? "");
  const cut = query.has("half") ? bytes.length >> 1 : Number(query.get("cut") ?? bytes.length);
  const ending = query.get("ending") ?? "close";
  const heartbeat = new TextEncoder().encode(format === "sse" ? ":\n\n" : "\n");
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (at < cut) {
        const end = Math.min(at + PIECE_LENGTH, cut);
        controller.enqueue(bytes.subarray(at, end));
        at = end;
        return await wait(1);
      }
      if (ending === "hold") {
        await (query.has("silent") ? new Promise(() => {}) : wait(HEARTBEAT));
        controller.enqueue(heartbeat);
      } else if (ending === "reset") {
        // What was sent shall arrive first.
        await wait(20);
        controller.error(new Error("Reset, as asked"));
      } else {
        controller.close();
      }
    },
    cancel: onGone,
  });
  return new Response(body, { headers: { "content-type": contentTypeOf(format) } });
}

/** A recording of a wire, or the events of the suite in a format, with an impossible one or without. */
async function sourceOf(source: string): Promise<{ bytes: Uint8Array; format: string }> {
  if (source.includes("/")) {
    const bytes = await Deno.readFile(new URL(`../tests/recordings/${source}`, import.meta.url));
    return { bytes, format: source.slice(source.lastIndexOf(".") + 1) };
  }
  const [format = "", impossible] = source.split("-");
  const events = impossible ? EVENTS.toSpliced(6, 0, IMPOSSIBLE) : EVENTS;
  const text = events.map((event) => frameOf(event, format)).join("");
  return { bytes: new TextEncoder().encode(text), format };
}

async function readMaterials(): Promise<Materials> {
  const vectors = await readAll("vectors", ".json", (text) => JSON.parse(text));
  const cases = await readAll(
    "cases",
    ".jsonl",
    (text) => text.trim().split("\n").map((line) => JSON.parse(line)),
  );
  const recordings: Record<string, string[]> = {};
  for (const wire of await namesIn("recordings")) {
    recordings[wire] = await namesIn(`recordings/${wire}`);
  }
  return { vectors: Object.values(vectors), cases, recordings };
}

async function readAll<T>(
  folder: string,
  suffix: string,
  parse: (text: string) => T,
): Promise<Record<string, T>> {
  const all: Record<string, T> = {};
  for (const name of await namesIn(folder)) {
    if (!name.endsWith(suffix)) continue;
    const url = new URL(`../tests/${folder}/${name}`, import.meta.url);
    all[name.slice(0, -suffix.length)] = parse(await Deno.readTextFile(url));
  }
  return all;
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(
    Deno.readDir(new URL(`../tests/${folder}`, import.meta.url)),
  );
  return entries.map(({ name }) => name).sort();
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
