/** A server on loopback that does to a response what servers and networks do. */

/** What the server does once it has read a request. */
export type Misbehaviour = (connection: Deno.TcpConn) => Promise<void>;

const encoder = new TextEncoder();

/** Writes all of a text. */
export async function send(connection: Deno.TcpConn, text: string): Promise<void> {
  const bytes = encoder.encode(text);
  for (let sent = 0; sent < bytes.length;) {
    sent += await connection.write(bytes.subarray(sent));
  }
}

/** The head of a response whose body comes in chunks. */
export function head(status: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ ...headers, "transfer-encoding": "chunked" });
  return `HTTP/1.1 ${status}\r\n${
    lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")
  }\r\n`;
}

/** A chunk of a body. */
export function httpChunk(text: string): string {
  return `${encoder.encode(text).length.toString(16)}\r\n${text}\r\n`;
}

/** The end of a body. */
export const END = "0\r\n\r\n";

/** Runs a server while its one response is read. */
export async function withServer<T>(
  misbehave: Misbehaviour,
  read: (url: string) => Promise<T>,
): Promise<T> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections: Deno.TcpConn[] = [];
  const serving = (async () => {
    for await (const connection of listener) {
      connections.push(connection);
      await connection.read(new Uint8Array(65_536));
      await misbehave(connection).catch(() => {});
    }
  })().catch(() => {});
  try {
    return await read(`http://127.0.0.1:${listener.addr.port}/`);
  } finally {
    listener.close();
    for (const connection of connections) {
      try {
        connection.close();
      } catch {
        // It is closed.
      }
    }
    await serving;
  }
}
