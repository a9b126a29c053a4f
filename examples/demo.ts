/**
 * A server that answers with recorded event streams, and a client that holds them to the protocol:
 * one healthy recording as NDJSON and as server-sent events, one that lost a delta, one cut off.
 *
 * @module
 */

import { StreamEventValidatorStream, StreamSequenceError } from "../mod.ts";
import { StreamEventDecoderStream } from "../src/wire/mod.ts";

/** How the recordings go over the wire: this many bytes at a time, this many milliseconds apart. */
const CHUNK_LENGTH = 60;
const CHUNK_DELAY = 4;

const isPretty = Deno.stdout.isTerminal() && !Deno.noColor;
const paint = (code: number, text: string): string =>
  isPretty ? `\x1b[${code}m${text}\x1b[0m` : text;
const bold = (text: string): string => paint(1, text);
const dim = (text: string): string => paint(2, text);
const green = (text: string): string => paint(32, text);
const red = (text: string): string => paint(31, text);

/** Answers `/name.format` with the recording of that name, in small pieces. */
async function answer(request: Request): Promise<Response> {
  const [name, format] = new URL(request.url).pathname.slice(1).split(".");
  const recording = await Deno.readTextFile(
    new URL(`recordings/${name}.ndjson`, import.meta.url),
  );
  const body = format === "sse" ? recording.replaceAll(/^(.*)\n/gm, "data: $1\n\n") : recording;
  const bytes = new TextEncoder().encode(body);
  let sent = 0;
  const pieces = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, CHUNK_DELAY));
      controller.enqueue(bytes.slice(sent, sent += CHUNK_LENGTH));
      if (sent >= bytes.length) controller.close();
    },
  });
  return new Response(pieces, {
    headers: { "content-type": format === "sse" ? "text/event-stream" : "application/x-ndjson" },
  });
}

/** Fetches a stream, shows its events as they come, and what became of it. */
async function show(title: string, url: string): Promise<void> {
  console.log(`\n${bold(title)} ${dim(new URL(url).pathname)}\n`);
  const response = await fetch(url);
  const validator = new StreamEventValidatorStream();
  const events = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>)
    .pipeThrough(StreamEventDecoderStream.for(response))
    .pipeThrough(validator);
  try {
    for await (const { type, ...fields } of events) {
      const text = "message" in fields ? `reason ${fields.reason}` : JSON.stringify(fields);
      console.log(`  ${green("✓")} ${type.padEnd(16)} ${dim(text)}`);
    }
    const { content, usage, stopReason } = await validator.result();
    console.log(`\n  the message, whole: stopReason ${stopReason}, ${usage.totalTokens} tokens`);
    for (const block of content) console.log(`    ${JSON.stringify(block)}`);
  } catch (error) {
    if (!StreamSequenceError.is(error)) throw error;
    console.log(`  ${red("✗")} ${error.message}`);
    console.log(`\n  ${red(error.code)} at event ${error.eventIndex}; safe to keep:`);
    for (const block of validator.partialContent()) console.log(`    ${JSON.stringify(block)}`);
  }
}

const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, answer);
const origin = `http://127.0.0.1:${server.addr.port}`;
await show("A healthy stream, as NDJSON", `${origin}/healthy.ndjson`);
await show("The same, as server-sent events", `${origin}/healthy.sse`);
await show("One delta got lost", `${origin}/lost_delta.sse`);
await show("The connection was cut", `${origin}/cut_off.ndjson`);
await server.shutdown();
