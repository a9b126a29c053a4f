/**
 * Packs the package, bundles the suite of `tests/runtimes` with it, and runs it in a page of Chromium,
 * Firefox and WebKitGTK. Each verdict is held to Deno's. Arguments name the engines to run.
 *
 * @module
 */

import { BROKEN_CONNECTION } from "../tests/runtimes/_check.ts";
import { bundleSuite, denoEngine } from "./_suite.ts";
import { type Engine, type EngineRun, parseVerdicts, runEngines } from "./_engines.ts";
import { installPackages } from "./_packages.ts";
import { firstThere } from "./_process.ts";
import { serveSuite } from "./_suite_server.ts";

/** How long a browser may take to run the suite, in milliseconds. */
const PATIENCE = 180_000;

/** How long a browser may take to start, in milliseconds. */
const STARTING_PATIENCE = 60_000;

const packages = await installPackages();
const folder = await bundleSuite();
const server = await serveSuite(await Deno.readTextFile(`${folder}/page.bundle.js`));

/** A browser that puppeteer drives. */
function puppeteerEngine(
  name: string,
  browserName: "chrome" | "firefox",
  commands: readonly string[],
): Engine {
  return {
    name,
    async run() {
      const command = await firstThere(commands);
      const node = await firstThere([`${packages}/node_modules/node24/bin/node`, "node"]);
      if (command === undefined || node === undefined) return undefined;
      const url = `${server.url}?engine=${name}`;
      const child = new Deno.Command(node, {
        args: ["tools/_run_browser.mjs", packages, browserName, command, url],
        stdin: "piped",
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
      const output = new Response(child.stdout).text();
      try {
        return await within(PATIENCE, name, async () => {
          const ended = child.status.then(({ code }) => {
            throw new Error(`The driver ended with code ${code}`);
          });
          const report = await Promise.race([server.report(name), ended]);
          await child.stdin.close();
          const version = (await output).trim().replace(/^.*\//, "");
          return { version, verdicts: parseVerdicts(report) };
        });
      } finally {
        await child.stdin.close().catch(() => {});
        await endOf(child);
      }
    },
  };
}

const webKit: Engine = {
  name: "WebKitGTK",
  differs: { [BROKEN_CONNECTION]: "the end of the body" },
  note: "takes a broken connection for the end of the body: that is `truncated` here",
  async run(): Promise<EngineRun | undefined> {
    const driver = await firstThere(["WebKitWebDriver"]);
    const xvfb = await firstThere(["Xvfb"]);
    const miniBrowser = await findMiniBrowser();
    if (driver === undefined || xvfb === undefined || miniBrowser === undefined) return undefined;

    const screen = new Deno.Command(xvfb, {
      args: ["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"],
      stdout: "piped",
      stderr: "null",
    }).spawn();
    let service: Deno.ChildProcess | undefined;
    try {
      const display = `:${await firstLine(screen.stdout)}`;
      const port = freePort();
      service = new Deno.Command(driver, {
        args: [`--port=${port}`, "--host=127.0.0.1"],
        // Its sandbox is none for root, and the page is ours.
        env: { DISPLAY: display, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1" },
        stdout: "null",
        stderr: "null",
      }).spawn();
      const { sessionId, capabilities } = await startSession(port, miniBrowser);
      const url = `${server.url}?engine=WebKitGTK`;
      await askDriver(port, `session/${sessionId}/url`, { url });
      const report = await within(PATIENCE, "WebKitGTK", () => server.report("WebKitGTK"));
      await fetch(`http://127.0.0.1:${port}/session/${sessionId}`, { method: "DELETE" })
        .then((response) => response.body?.cancel());
      return { version: capabilities.browserVersion, verdicts: parseVerdicts(report) };
    } finally {
      if (service) await endOf(service);
      await endOf(screen);
    }
  },
};

/** What the driver says of a session. */
interface Session {
  readonly sessionId: string;
  readonly capabilities: { readonly browserVersion: string };
}

async function startSession(port: number, binary: string): Promise<Session> {
  const deadline = Date.now() + STARTING_PATIENCE;
  for (;;) {
    try {
      return await askDriver(port, "session", {
        capabilities: {
          alwaysMatch: {
            "webkitgtk:browserOptions": { binary, args: ["--automation"] },
          },
        },
      }) as Session;
    } catch (error) {
      // It may not listen yet.
      if (!(error instanceof TypeError) || Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function askDriver(port: number, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(STARTING_PATIENCE),
  });
  const { value } = await response.json();
  if (!response.ok) throw new Error(`The driver refused "${path}": ${JSON.stringify(value)}`);
  return value;
}

async function findMiniBrowser(): Promise<string | undefined> {
  for await (const { name: machine } of Deno.readDir("/usr/lib")) {
    for (const version of ["webkitgtk-6.0", "webkit2gtk-4.1", "webkit2gtk-4.0"]) {
      const path = `/usr/lib/${machine}/${version}/MiniBrowser`;
      if (await firstThere([path])) return path;
    }
  }
  return undefined;
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) throw new Error("Xvfb ended before it said its display");
    text += value;
  }
  await reader.cancel();
  return text.trim();
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}

async function endOf(child: Deno.ChildProcess): Promise<void> {
  const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
  try {
    child.kill("SIGTERM");
  } catch {
    // It has ended.
  }
  await child.status;
  clearTimeout(timer);
}

async function within<T>(patience: number, name: string, act: () => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `${name} did not report in ${patience / 1000} s`;
    timer = setTimeout(() => reject(new Error(message)), patience);
  });
  try {
    return await Promise.race([act(), late]);
  } finally {
    clearTimeout(timer);
  }
}

const engines = [
  puppeteerEngine("Chromium", "chrome", ["chromium", "chromium-browser", "google-chrome"]),
  puppeteerEngine("Firefox", "firefox", ["firefox-esr", "firefox"]),
  webKit,
].filter(({ name }) => Deno.args.length === 0 || Deno.args.includes(name));
const isFine = await runEngines([denoEngine(folder, server.url), ...engines]);
await server.close();
Deno.exit(isFine ? 0 : 1);
