/** Runs the suite in a Worker, and streams its verdicts out, one a line. */

import { runSuite } from "./suite.ts";

interface Env {
  readonly SERVER: string;
}

const unhandled: unknown[] = [];
addEventListener("unhandledrejection", (event) => unhandled.push(event.reason));

export default {
  fetch(_request: Request, { SERVER }: Env): Response {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const encoder = new TextEncoder();
    (async () => {
      // This engine has no other realm.
      for await (const verdict of runSuite({ server: SERVER, unhandled })) {
        await writer.write(encoder.encode(`${JSON.stringify(verdict)}\n`));
      }
      await writer.close();
    })().catch((error) => writer.abort(error));
    return new Response(readable);
  },
};
