/**
 * Serves over loopback while something is done with it.
 *
 * @param handler What answers.
 * @param use What is done, given the server's origin.
 * @returns What came of it.
 */
export async function serve<T>(
  handler: Deno.ServeHandler<Deno.NetAddr>,
  use: (origin: string) => Promise<T>,
): Promise<T> {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, handler);
  try {
    return await use(`http://127.0.0.1:${server.addr.port}`);
  } finally {
    await server.shutdown();
  }
}

/** Serves the same answer to every request, whatever it brings. */
export function serveAnswer<T>(
  answer: () => Response,
  use: (origin: string) => Promise<T>,
): Promise<T> {
  return serve(async (request) => {
    await request.body?.cancel();
    return answer();
  }, use);
}

/** A response whose body is a recording. */
export function responseOf(body: Uint8Array, contentType = "text/event-stream"): Response {
  return new Response(new Uint8Array(body), { headers: { "content-type": contentType } });
}
