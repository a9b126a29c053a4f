/** Servers on loopback that do to a body whatever a test wants. */

const encoder = new TextEncoder();

/** What a server does with one connection, once the request was read. */
export interface Connection {
  /** Writes text or bytes as they are: status line, headers and all. */
  write(data: string | Uint8Array): Promise<void>;
  /** Waits until the client has gone. */
  closed(): Promise<void>;
}

/** Serves on loopback while something runs, and closes all connections then. */
export async function withServer<T>(
  serve: (connection: Connection) => Promise<void>,
  run: (url: string) => Promise<T>,
): Promise<T> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections = new Set<Deno.Conn>();
  const serving = (async () => {
    const all: Promise<void>[] = [];
    for await (const conn of listener) {
      connections.add(conn);
      all.push(handle(conn, serve).finally(() => connections.delete(conn)));
    }
    await Promise.all(all);
  })();
  try {
    return await run(`http://127.0.0.1:${listener.addr.port}/`);
  } finally {
    listener.close();
    for (const conn of connections) close(conn);
    await serving;
  }
}

function close(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // The other side was first.
  }
}

async function handle(
  conn: Deno.Conn,
  serve: (connection: Connection) => Promise<void>,
): Promise<void> {
  const buffer = new Uint8Array(4_096);
  try {
    let request = "";
    while (!request.includes("\r\n\r\n")) {
      const count = await conn.read(buffer);
      if (count === null) return;
      request += new TextDecoder().decode(buffer.subarray(0, count));
    }
    await serve({
      async write(data) {
        const bytes = typeof data === "string" ? encoder.encode(data) : data;
        for (let written = 0; written < bytes.length;) {
          written += await conn.write(bytes.subarray(written));
        }
      },
      async closed() {
        while (await conn.read(buffer) !== null) { /* Whatever else it says. */ }
      },
    });
  } catch {
    // The client, or the end of the test, broke the connection.
  } finally {
    close(conn);
  }
}

/** The beginning of a response whose body ends with the connection. */
export function head(contentType: string, status = "200 OK", more = ""): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: ${contentType}\r\n${more}connection: close\r\n\r\n`;
}

/** The beginning of a response whose body tells when it is whole. */
export function chunkedHead(contentType: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ntransfer-encoding: chunked\r\n\r\n`;
}

/** Writes a piece of such a body. */
export async function writeChunk({ write }: Connection, bytes: Uint8Array): Promise<void> {
  await write(`${bytes.length.toString(16)}\r\n`);
  await write(bytes);
  await write("\r\n");
}
