/** What holds for every `stream…` function, whatever the provider or the connection does. */

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { Readable } from "node:stream";
import {
  type AssistantMessage,
  createStreamEventValidator,
  type FailedAssistantMessage,
  type StreamEvent,
} from "../../mod.ts";
import type { ResponseSource, StreamResponseOptions } from "../../src/adapters/_stream_response.ts";
import type { StreamEventReader } from "../../src/wire/_event_reader.ts";
import { assertPart } from "./_bodies.ts";
import { chunkedHead, type Connection, head, withServer, writeChunk } from "./_loopback.ts";

/** What the suite has to know of a `stream…` function. */
export interface StreamFunction {
  /** Its name. */
  readonly name: string;
  /** The function. */
  readonly stream: (
    response: ResponseSource | PromiseLike<ResponseSource>,
    options?: StreamResponseOptions,
  ) => StreamEventReader;
  /** The content type of its wire. */
  readonly contentType: string;
  /** The header with the id of the request. */
  readonly requestIdHeader: string;
  /** A healthy body with text. */
  readonly body: Uint8Array;
  /**
   * Whether the wire says where a response ends, before the body does.
   *
   * @default {true}
   */
  readonly hasEnd?: boolean;
}

/** How long may pass before a stream counts as stalled, in milliseconds. */
const IDLE = 60;

/** Reads a stream to its end. Fails unless it is legal and `result()` gives its last message. */
async function read(stream: StreamEventReader): Promise<AssistantMessage> {
  const validator = createStreamEventValidator();
  let last: StreamEvent | undefined;
  for await (const event of stream) {
    validator.accept(event);
    last = event;
  }
  validator.end();
  assert(last?.type === "done" || last?.type === "error");
  assertEquals(await stream.result(), last.message);
  return last.message;
}

/** Reads a stream that breaks off. */
async function readFailure(stream: StreamEventReader): Promise<FailedAssistantMessage> {
  const message = await read(stream);
  assert(message.stopReason === "error" || message.stopReason === "aborted");
  assert(message.errorMessage !== "");
  return message;
}

/** What was wrong, in short. */
function faultOf({ stopReason, errorCode, errorMessage }: FailedAssistantMessage): unknown[] {
  return [stopReason, errorCode, errorMessage];
}

/** The payloads of a body, one by one, but for one that is cut. */
async function* payloadsOf(body: Uint8Array): AsyncGenerator<unknown, void> {
  for (const line of new TextDecoder().decode(body).split("\n").slice(0, -1)) {
    const json = line.replace(/^data: ?/, "");
    if (json.startsWith("{")) yield await JSON.parse(json);
  }
}

/**
 * What an official client's helper looks like: it emits its payloads whether somebody reads them or
 * not, its iterator gets those that come after it was taken, and a failure reaches whoever waits.
 */
function emitterOf(body: Uint8Array, failure?: Error) {
  const queue: unknown[] = [];
  const listeners: (() => void)[] = [];
  let isRead = false;
  const emitter = {
    ended: false,
    errored: false,
    on: () => {},
    done: () => settled,
    [Symbol.asyncIterator]() {
      isRead = true;
      const hadEnded = emitter.ended;
      const next = (): Promise<IteratorResult<unknown>> => {
        if (queue.length > 0) return Promise.resolve({ done: false, value: queue.shift() });
        if (hadEnded) return new Promise(() => {});
        if (emitter.ended) return Promise.resolve({ done: true, value: undefined });
        return new Promise<void>((resolve) => listeners.push(resolve)).then(next);
      };
      return { next };
    },
  };
  const settled = (async () => {
    await new Promise((resolve) => setTimeout(resolve));
    for await (const payload of payloadsOf(body)) {
      if (isRead) queue.push(payload);
      for (const tell of listeners.splice(0)) tell();
    }
    emitter.ended = true;
    emitter.errored = failure !== undefined;
    for (const tell of listeners.splice(0)) tell();
    if (failure) throw failure;
  })();
  settled.catch(() => {});
  return emitter;
}

/** An error as the clients of providers throw it. */
function clientError(message: string, fields: object): Error {
  return Object.assign(new Error(message), fields);
}

/** Registers the tests of a `stream…` function. */
export function testStreamFunction(
  { name, stream, contentType, requestIdHeader, body, hasEnd = true }: StreamFunction,
): void {
  const half = body.subarray(0, body.length >> 1);
  const healthy = () =>
    new Response(new Uint8Array(body), { headers: { "content-type": contentType } });
  const refused = (text: string, status: number, headers: Record<string, string>) =>
    new Response(text, { status, headers });
  /** What the stream makes of a server's behaviour. */
  const served = (
    serve: (connection: Connection) => Promise<void>,
    options: StreamResponseOptions = {},
  ) => withServer(serve, (url) => read(stream(fetch(url), options)));
  const failed = async (
    serve: (connection: Connection) => Promise<void>,
    options: StreamResponseOptions = {},
  ) => {
    const message = await served(serve, options);
    assert(message.stopReason === "error" || message.stopReason === "aborted");
    return message;
  };

  /** The message of the whole body. */
  const whole = async () => {
    const message = await read(stream(healthy(), { now: () => 0 }));
    assert(message.stopReason !== "error" && message.stopReason !== "aborted");
    return message;
  };

  Deno.test(`${name} reads a response that comes in small pieces`, async () => {
    const message = await served(async (connection) => {
      await connection.write(chunkedHead(contentType));
      for (let at = 0; at < body.length; at += 700) {
        await writeChunk(connection, body.subarray(at, at + 700));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await connection.write("0\r\n\r\n");
    }, { now: () => 0 });

    assertEquals(message, await whole());
  });

  Deno.test(`${name} gives the result when nobody iterates`, async () => {
    assertEquals(await stream(healthy(), { now: () => 0 }).result(), await whole());
  });

  Deno.test(`${name} takes a content type with parameters, none, or one that says nothing`, async () => {
    for (
      const type of [
        `${contentType.toUpperCase()}; charset=utf-8`,
        "text/plain",
        "application/octet-stream",
      ]
    ) {
      const response = new Response(new Uint8Array(body), { headers: { "content-type": type } });
      assertEquals(await read(stream(response, { now: () => 0 })), await whole());
    }
    const untyped = new Response(new Uint8Array(body));
    untyped.headers.delete("content-type");
    assertEquals(await read(stream(untyped, { now: () => 0 })), await whole());
  });

  Deno.test(`${name} lets go of a body that is held open after the end`, async () => {
    let isGone = false;
    await withServer(async (connection) => {
      await connection.write(chunkedHead(contentType));
      await writeChunk(connection, body);
      await connection.closed();
      isGone = true;
    }, async (url) => {
      const { content } = await whole();
      if (hasEnd) {
        assertEquals((await read(stream(fetch(url)))).content, content);
      } else {
        const failure = await readFailure(stream(fetch(url), { idleTimeout: IDLE }));
        assertEquals(failure.errorCode, "idle_timeout");
        assertEquals(failure.content, content);
      }
      while (!isGone) await new Promise((resolve) => setTimeout(resolve, 1));
    });
    assert(isGone);
  });

  Deno.test(`${name} quotes the error of a refused request`, async () => {
    const error = { type: "rate_limit_error", message: "Too many requests" };
    for (const status of [400, 401, 404, 413, 429, 500, 503, 529]) {
      const text = JSON.stringify({ type: "error", error });
      const response = refused(text, status, {
        "content-type": "application/json",
        [requestIdHeader]: "req_7",
        "retry-after": "1.5",
      });

      const message = await readFailure(stream(response));

      assertEquals(faultOf(message), [
        "error",
        "http_error",
        `HTTP status ${status}: Too many requests`,
      ]);
      assertEquals(message.errorDetails, {
        requestId: "req_7",
        providerErrorType: "rate_limit_error",
        status,
        retryAfter: 1500,
      });
      assertEquals(message.content, []);
    }
  });

  Deno.test(`${name} reads when to come again, however it is said`, async () => {
    const now = () => Date.UTC(2031, 0, 1);
    const retryAfter = async (headers: Record<string, string>) =>
      (await readFailure(stream(refused("", 503, headers), { now }))).errorDetails?.retryAfter;

    assertEquals(await retryAfter({ "retry-after": "120" }), 120_000);
    assertEquals(await retryAfter({ "retry-after": "Wed, 01 Jan 2031 00:00:30 GMT" }), 30_000);
    assertEquals(await retryAfter({ "retry-after": "Tue, 31 Dec 2030 00:00:00 GMT" }), 0);
    assertEquals(await retryAfter({ "retry-after-ms": "25", "retry-after": "1" }), 25);
    for (const value of ["-1", "soon", "1e9", "9".repeat(400), ""]) {
      assertEquals(await retryAfter({ "retry-after": value }), undefined);
    }
    assertEquals(await retryAfter({}), undefined);
  });

  const BODIES: readonly [what: string, type: string, text: string, message: string][] = [
    ["a text", "text/plain", "  upstream \n refused  ", ": upstream refused"],
    [
      "a page",
      "text/html; charset=utf-8",
      "<html><head><TITLE>\n502 Bad Gateway\n</TITLE></head><body>…</body>",
      ": 502 Bad Gateway",
    ],
    ["a text with a title", "text/plain", "<title>No</title>", ": <title>No</title>"],
    ["a page without a title", "text/html", "<h1>No</h1>", ": <h1>No</h1>"],
    ["nothing", "text/plain", "", ""],
    ["an error in a text", "application/json", '{"error":"no such model"}', ": no such model"],
    ["an error that is flat", "application/json", '{"message":"Busy"}', ": Busy"],
    ["an error in a list", "application/json", '[{"error":{"message":"Busy"}}]', ": Busy"],
    ["a detail", "application/json", '{"detail":"Not found"}', ": Not found"],
    ["another object", "application/json", '{"why":1}', ': {"why":1}'],
    ["half of JSON", "application/json", '{"error":', ': {"error":'],
  ];

  for (const [what, type, text, message] of BODIES) {
    Deno.test(`${name} quotes ${what} behind a refused status`, async () => {
      const failure = await readFailure(
        stream(refused(text, 502, { "content-type": type })),
      );

      assertEquals(faultOf(failure), ["error", "http_error", `HTTP status 502${message}`]);
    });
  }

  Deno.test(`${name} bounds what it quotes`, async () => {
    const nested = `{"error":{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}}`;
    for (const text of [nested, `{"error":"${"no ".repeat(90_000)}"}`, "<title".repeat(20_000)]) {
      const failure = await readFailure(
        stream(refused(text, 502, { "content-type": "text/html" })),
      );

      assertEquals(failure.errorCode, "http_error");
      assert(failure.errorMessage.length < 1_100);
    }
  });

  Deno.test(`${name} is aborted while it reads a refused body`, async () => {
    const text = new ReadableStream({ start: (c) => c.enqueue(new TextEncoder().encode("No")) });
    const events = stream(new Response(text, { status: 500 }));
    const iterator = events[Symbol.asyncIterator]();
    const pending = iterator.next();
    await new Promise((resolve) => setTimeout(resolve, 5));

    await iterator.return?.();

    assertEquals((await events.result()).stopReason, "aborted");
    assertEquals((await pending).done, true);
  });

  Deno.test(`${name} ends in an error when the response is an error`, async () => {
    const failure = await readFailure(stream(Response.error()));

    assertEquals(faultOf(failure), ["error", "http_error", "HTTP status 0"]);
  });

  Deno.test(`${name} causes no unhandled rejection when nobody reads`, async () => {
    const events = stream(Promise.reject(new Error("no")));
    await new Promise((resolve) => setTimeout(resolve, 5));

    const message = await events.result();

    assertEquals(message.stopReason, "error");
  });

  Deno.test(`${name} refuses another content type`, async () => {
    const page = "<html><title>Sign in</title></html>";
    const failure = await readFailure(stream(refused(page, 200, { "content-type": "text/html" })));

    const [stopReason, errorCode, errorMessage] = faultOf(failure);
    assertEquals([stopReason, errorCode], ["error", "unexpected_content_type"]);
    assertStringIncludes(errorMessage as string, `Expected content type "${contentType}"`);
    assertStringIncludes(errorMessage as string, 'received "text/html": Sign in');
    assertEquals(failure.errorDetails, { status: 200 });
  });

  Deno.test(`${name} does not quote an answer that is no stream`, async () => {
    const failure = await readFailure(stream(Response.json({ content: "secret" })));

    assertEquals(failure.errorCode, "unexpected_content_type");
    assert(!failure.errorMessage.includes("secret"));
    assertStringIncludes(failure.errorMessage, "as where a request asks for no stream");
  });

  Deno.test(`${name} quotes a text that is no stream, whose status and type are good`, async () => {
    const text = "upstream connect error or\ndisconnect/reset before headers\n";
    for (const type of ["text/plain", "application/octet-stream", contentType, ""]) {
      const failure = await readFailure(stream(refused(text, 200, { "content-type": type })));

      assertEquals(failure.errorCode, "malformed_frame");
      if (contentType === "text/event-stream") {
        assertEquals(
          failure.errorMessage,
          "Expected server-sent events, received text: " + text.trim().replace("\n", " "),
        );
      }
    }
    // What server-sent events may begin with is cut, and no text.
    for (const beginning of ["d", "data", "da\n", "event: x", ": hello", "\n\nid", "retry:", " "]) {
      const failure = await readFailure(stream(refused(beginning, 200, { "content-type": "" })));
      if (contentType === "text/event-stream") assertEquals(failure.errorCode, "truncated");
    }
  });

  Deno.test(`${name} finds the error in an answer whose status is good`, async () => {
    const error = { message: "Overloaded", type: "overloaded_error" };

    const failure = await readFailure(stream(Response.json({ error })));

    assertEquals(faultOf(failure), ["error", "provider_error", "Overloaded"]);
    assertEquals(failure.errorDetails?.providerErrorType, "overloaded_error");
  });

  Deno.test(`${name} ends in an error when there is no body`, async () => {
    for (
      const response of [new Response(null, { status: 204 }), new Response(null), new Response("")]
    ) {
      assertEquals((await readFailure(stream(response))).errorCode, "truncated");
    }
  });

  Deno.test(`${name} ends in an error when nobody answers`, async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const url = `http://127.0.0.1:${listener.addr.port}/`;
    listener.close();

    const failure = await readFailure(stream(fetch(url)));

    assertEquals([failure.stopReason, failure.errorCode], ["error", "network_error"]);
  });

  Deno.test(`${name} says nothing of a request that may be a key`, async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    listener.close();
    const header = { headers: { "x-api-key": "my\nkey" } };
    const requests: ReadonlyArray<() => Promise<Response>> = [
      async () => await fetch(`http://127.0.0.1:${port}/answer?alt=sse&key=my-key`),
      async () => await fetch("http://127.0.0.1:99999/?key=my-key"),
      async () => await fetch("http://127.0.0.1/", header),
      // As Node has it.
      () =>
        Promise.reject(new TypeError("Failed to parse URL from https://a@b:my-key@c/d?e=my-key")),
      () => Promise.reject(new TypeError('Headers.append: "my\nkey" is an invalid header value.')),
    ];
    for (const request of requests) {
      const { errorCode, errorMessage } = await readFailure(stream(request()));

      assertEquals(errorCode, "network_error");
      assert(!/my.?key/s.test(errorMessage), errorMessage);
    }
    const { errorMessage } = await readFailure(
      stream(
        Promise.reject(new TypeError("no answer of (https://me:key@a.test/b?key=c): refused")),
      ),
    );
    assertEquals(
      errorMessage,
      "The connection broke: no answer of (https://a.test/b?…): refused",
    );
  });

  Deno.test(`${name} keeps what is safe when the connection breaks`, async () => {
    const failure = await failed(async (connection) => {
      await connection.write(chunkedHead(contentType));
      await writeChunk(connection, half);
      await new Promise((resolve) => setTimeout(resolve, 5));
    });

    assertEquals([failure.stopReason, failure.errorCode], ["error", "network_error"]);
    assert(failure.content.length > 0);
    assertPart(failure.content, (await whole()).content);
  });

  Deno.test(`${name} keeps what is safe when the body ends too early`, async () => {
    const failure = await failed(async ({ write }) => {
      await write(head(contentType));
      await write(half);
    });

    assertEquals([failure.stopReason, failure.errorCode], ["error", "truncated"]);
    assert(failure.content.length > 0);
    assertPart(failure.content, (await whole()).content);
  });

  Deno.test(`${name} keeps what is safe when the body stalls`, async () => {
    const failure = await failed(async (connection) => {
      await connection.write(chunkedHead(contentType));
      await writeChunk(connection, half);
      await connection.closed();
    }, { idleTimeout: IDLE });

    assertEquals(faultOf(failure), [
      "error",
      "idle_timeout",
      `No byte came for ${IDLE} milliseconds`,
    ]);
    assertPart(failure.content, (await whole()).content);
  });

  Deno.test(`${name} ends in an error when no response comes`, async () => {
    const failure = await failed(({ closed }) => closed(), { idleTimeout: IDLE });

    assertEquals([failure.stopReason, failure.errorCode], ["error", "idle_timeout"]);
  });

  Deno.test(`${name} tells the status when the body behind it breaks, stalls or never ends`, async () => {
    const start = head("application/json", "503 Service Unavailable", "x-any: 1\r\n");
    const stalled = await failed(async ({ write, closed }) => {
      await write(start);
      await write("half a te");
      await closed();
    }, { idleTimeout: IDLE });
    assertEquals(faultOf(stalled), ["error", "http_error", "HTTP status 503: half a te"]);

    const broken = await failed(async (connection) => {
      await connection.write(chunkedHead("text/html").replace("200 OK", "503 No"));
      await writeChunk(connection, new TextEncoder().encode("half a te"));
    });
    assertEquals(faultOf(broken), ["error", "http_error", "HTTP status 503: half a te"]);

    const endless = await failed(async ({ write }) => {
      await write(start);
      for (;;) await write("more and more of it ".repeat(200));
    });
    assertEquals(endless.errorCode, "http_error");
    assert(endless.errorMessage.length < 600);
  });

  Deno.test(`${name} is aborted before, while waiting and while reading`, async () => {
    const before = await readFailure(stream(healthy(), { signal: AbortSignal.abort() }));
    assertEquals([before.stopReason, before.errorCode], ["aborted", "aborted"]);
    assertEquals(before.content, []);

    const waiting = new AbortController();
    const pending = stream(new Promise(() => {}), { signal: waiting.signal });
    setTimeout(() => waiting.abort("the user left"), 5);
    assertEquals(faultOf(await readFailure(pending)), ["aborted", "aborted", "the user left"]);

    const reading = new AbortController();
    await withServer(async (connection) => {
      await connection.write(chunkedHead(contentType));
      await writeChunk(connection, half);
      await connection.closed();
    }, async (url) => {
      const events = stream(fetch(url, { signal: reading.signal }), { signal: reading.signal });
      const validator = createStreamEventValidator();
      let last: StreamEvent | undefined;
      for await (const event of events) {
        validator.accept(event);
        last = event;
        if (event.type === "text_delta") reading.abort();
      }
      validator.end();
      assert(last?.type === "error");
      assertEquals([last.reason, last.message.errorCode], ["aborted", "aborted"]);
      assert(last.message.content.length > 0);
      assertEquals(await events.result(), last.message);
    });
  });

  Deno.test(`${name} is aborted when its signal times out, and when fetch was aborted`, async () => {
    const timeout = stream(new Promise(() => {}), { signal: AbortSignal.timeout(5) });
    assertEquals((await readFailure(timeout)).stopReason, "aborted");

    const fetched = stream(fetch("http://127.0.0.1:1/", { signal: AbortSignal.abort() }));
    assertEquals((await readFailure(fetched)).stopReason, "aborted");
  });

  Deno.test(`${name} lets the body go and ends as aborted when the loop is left`, async () => {
    let isGone = false;
    await withServer(async (connection) => {
      await connection.write(chunkedHead(contentType));
      await writeChunk(connection, half);
      await connection.closed();
      isGone = true;
    }, async (url) => {
      const events = stream(fetch(url));
      for await (const event of events) {
        if (event.type === "text_delta") break;
      }
      const message = await events.result();
      assertEquals(message.stopReason, "aborted");
      assertEquals(message.content, events.partialContent());
      while (!isGone) await new Promise((resolve) => setTimeout(resolve, 1));
    });
  });

  Deno.test(`${name} tells the body why it is let go`, async () => {
    const reasons: unknown[] = [];
    const controller = new AbortController();
    const held = new ReadableStream({ cancel: (reason) => void reasons.push(reason) });
    const headers = { "content-type": contentType };
    const events = stream(new Response(held, { headers }), { signal: controller.signal });
    setTimeout(() => controller.abort("enough"), 5);

    await readFailure(events);

    assertEquals(reasons, ["enough"]);
  });

  Deno.test(`${name} ends in an error when the response fails with whatever`, async () => {
    for (const reason of [undefined, null, "no", 7, {}, new Error("no")]) {
      const failure = await readFailure(stream(Promise.reject(reason)));
      assertEquals([failure.stopReason, failure.errorCode], ["error", "network_error"]);
    }
  });

  Deno.test(`${name} tells the request of a body that breaks`, async () => {
    const response = new Response(new Uint8Array(half), {
      headers: { "content-type": contentType, [requestIdHeader]: "req_8" },
    });

    assertEquals((await readFailure(stream(response))).errorDetails, { requestId: "req_8" });
  });

  Deno.test(`${name} refuses what is no response, and a body in use`, async () => {
    const used = healthy();
    await used.text();
    const locked = healthy();
    locked.body?.getReader();
    const begun = healthy();
    const reader = begun.body?.getReader();
    await reader?.read();
    reader?.releaseLock();

    const none = await assertRejects(
      () => stream(Promise.resolve("no response" as never)).result(),
      TypeError,
    );
    assertEquals(
      none.message,
      "Expected a Response, a body or the payloads of one, received a string",
    );
    for (const response of [used, locked, begun]) {
      const error = await assertRejects(() => stream(response).result(), TypeError);
      assertEquals(error.message, "Expected a body that nobody reads, received one in use");
    }
  });

  Deno.test(`${name} reads a body without its response`, async () => {
    const chunks = [half, body.subarray(half.length)];
    const bytes = ReadableStream.from(chunks.map((chunk) => new Uint8Array(chunk)));
    assertEquals(await read(stream(bytes, { now: () => 0 })), await whole());

    async function* pieces() {
      for (const chunk of chunks) yield await chunk;
    }
    assertEquals(await read(stream(pieces(), { now: () => 0 })), await whole());
    // As HTTP clients from npm have it, whose bodies are Node's.
    const response = { status: 503, headers: new Headers(), body: pieces(), bodyUsed: false };
    const failure = await readFailure(stream(response as never));
    assertEquals(failure.errorCode, "http_error");
  });

  Deno.test(`${name} reads payloads one by one, as what gives them is asked`, async () => {
    let asked = 0;
    async function* counted() {
      for await (const payload of payloadsOf(body)) {
        asked++;
        yield payload;
      }
    }
    const events = stream(Promise.resolve(counted()), { now: () => 0 });
    const iterator = events[Symbol.asyncIterator]();
    await iterator.next();
    assertEquals(asked, 1);
    while (!(await iterator.next()).done);

    assertEquals(await events.result(), await whole());
  });

  Deno.test(`${name} reads payloads from a stream of them`, async () => {
    const payloads = ReadableStream.from(payloadsOf(body));
    assertEquals(await read(stream(payloads, { now: () => 0 })), await whole());

    const texts = ReadableStream.from([new TextDecoder().decode(body)]);
    assertEquals(faultOf(await readFailure(stream(texts))), [
      "error",
      "malformed_frame",
      "Expected a payload to be a JSON object, received a string; parse it first",
    ]);
  });

  Deno.test(`${name} lets go what gives payloads when the loop is left`, async () => {
    let isLeft = false;
    async function* held() {
      try {
        yield* payloadsOf(half);
        await new Promise(() => {});
      } finally {
        isLeft = true;
      }
    }
    const events = stream(held());
    for await (const event of events) if (event.type === "text_delta") break;

    assertEquals((await events.result()).stopReason, "aborted");
    await new Promise((resolve) => setTimeout(resolve));
    assert(isLeft);
  });

  Deno.test(`${name} aborts a client's stream that says nothing more`, async () => {
    const controller = new AbortController();
    const silent = {
      controller,
      async *[Symbol.asyncIterator]() {
        yield* payloadsOf(half);
        await new Promise(() => {});
      },
    };
    let aborted = 0;
    const other = { ...silent, controller: undefined, abort: () => void aborted++ };

    const failure = await readFailure(stream(silent, { idleTimeout: IDLE }));
    const otherFailure = await readFailure(stream(other, { idleTimeout: IDLE }));

    assertEquals([failure.errorCode, otherFailure.errorCode], ["idle_timeout", "idle_timeout"]);
    assertPart(failure.content, (await whole()).content);
    assert(controller.signal.aborted);
    assertEquals(aborted, 1);
  });

  Deno.test(`${name} reads a client's stream that does not wait for its reader`, async () => {
    const emitter = emitterOf(body);
    const events = stream(emitter, { now: () => 0 });
    await emitter.done();

    assertEquals(await read(events), await whole());
  });

  Deno.test(`${name} says what a client's stream failed with while nobody read`, async () => {
    const error = clientError("Too many requests", { status: 429 });
    const failing = emitterOf(half, error);
    const events = stream(failing);
    const failed = emitterOf(half, error);
    await Promise.allSettled([failing.done(), failed.done()]);

    const failure = await readFailure(events);
    const lateFailure = await readFailure(stream(failed));

    assertEquals([failure.errorCode, lateFailure.errorCode], ["http_error", "http_error"]);
    assertPart(failure.content, (await whole()).content);
  });

  Deno.test(`${name} refuses a client's stream that somebody else has read`, async () => {
    const emitter = emitterOf(body);
    await emitter.done();

    const error = await assertRejects(() => stream(emitter).result(), TypeError);

    assertEquals(error.message, "Expected a body that nobody reads, received one in use");
  });

  Deno.test(`${name} says that a client was aborted`, async () => {
    const aborted = clientError("Request was aborted.", { status: undefined });

    const failure = await readFailure(stream(Promise.reject(aborted)));

    assertEquals(faultOf(failure), ["aborted", "aborted", "Request was aborted."]);
  });

  Deno.test(`${name} says what a source throws instead of an iterator`, async () => {
    const source = {
      [Symbol.asyncIterator]() {
        throw new Error("gone");
      },
    };

    const failure = await readFailure(stream(source));

    assertEquals(faultOf(failure), ["error", "network_error", "The connection broke: gone"]);
  });

  Deno.test(`${name} destroys a stream of Node's that says nothing more`, async () => {
    for (const begun of [true, false]) {
      const source = new Readable({ read() {} });
      source.push(half);
      const controller = new AbortController();
      if (!begun) controller.abort();
      const events = stream(source as AsyncIterable<unknown>, {
        idleTimeout: IDLE,
        signal: controller.signal,
      });

      const failure = await readFailure(events);
      await new Promise((resolve) => setTimeout(resolve));

      assertEquals(failure.errorCode, begun ? "idle_timeout" : "aborted");
      assert(source.destroyed);
    }
  });

  Deno.test(`${name} lets a source go whose controller cannot be read`, async () => {
    let isLeft = false;
    const silent = {
      get controller(): never {
        throw new Error("no");
      },
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return() {
          isLeft = true;
          return Promise.reject(new Error("no"));
        },
      }),
    };

    const failure = await readFailure(stream(silent, { idleTimeout: IDLE }));

    assertEquals(failure.errorCode, "idle_timeout");
    assert(isLeft);
  });

  Deno.test(`${name} keeps what is safe when a payload is none, and lets the source go`, async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const junk: ReadonlyArray<readonly [unknown, string]> = [
      [undefined, "undefined"],
      [null, "null"],
      ["{}", "a string; parse it first"],
      [7, "a number"],
      [cyclic, "an object that is not JSON"],
      [{ count: 1n }, "an object that is not JSON"],
      [[], "an array"],
      [{ toJSON: () => undefined }, "an object that is not JSON"],
    ];
    for (const [value, kind] of junk) {
      let isLeft = false;
      const failure = await readFailure(stream((async function* () {
        try {
          yield* payloadsOf(half);
          yield value;
        } finally {
          isLeft = true;
        }
      })()));

      assertEquals(faultOf(failure), [
        "error",
        "malformed_frame",
        `Expected a payload to be a JSON object, received ${kind}`,
      ]);
      assertPart(failure.content, (await whole()).content);
      assert(isLeft);
    }
  });

  Deno.test(`${name} keeps what is safe when what gives payloads fails`, async () => {
    async function* failing(error: unknown) {
      yield* payloadsOf(half);
      throw error;
    }
    const failure = await readFailure(stream(failing(new TypeError("terminated"))));
    assertEquals(faultOf(failure), [
      "error",
      "network_error",
      "The connection broke: terminated",
    ]);
    assert(failure.content.length > 0);
    assertPart(failure.content, (await whole()).content);

    const error = { type: "overloaded_error", message: "Overloaded" };
    const said = await readFailure(
      stream(failing(clientError("whatever", { status: undefined, error, requestID: "req_9" }))),
    );
    assertEquals(faultOf(said), ["error", "provider_error", "Overloaded"]);
    assertEquals(said.errorDetails, { requestId: "req_9", providerErrorType: "overloaded_error" });
  });

  Deno.test(`${name} reads what a client throws where the provider refuses`, async () => {
    const error = { type: "rate_limit_error", message: "Too many requests" };
    const headers = new Headers({ [requestIdHeader]: "req_7", "retry-after": "1.5" });
    const expected = {
      requestId: "req_7",
      providerErrorType: "rate_limit_error",
      status: 429,
      retryAfter: 1500,
    };
    for (
      const fields of [
        { status: 429, error, headers },
        { status: 429, error: { error }, headers: new Headers({ "retry-after": "1.5" }) },
      ]
    ) {
      const thrown = clientError("429 whatever", { ...fields, requestID: "req_7" });
      const failure = await readFailure(stream(Promise.reject(thrown)));
      assertEquals(faultOf(failure), [
        "error",
        "http_error",
        "HTTP status 429: Too many requests",
      ]);
      assertEquals(failure.errorDetails, expected);
    }

    const faultsOf = async (message: string, fields: object) =>
      faultOf(await readFailure(stream(Promise.reject(clientError(message, fields)))));
    assertEquals(
      await faultsOf(JSON.stringify({ error: { message: "Busy", code: 503 } }), { status: 503 }),
      ["error", "http_error", "HTTP status 503: Busy"],
    );
    assertEquals(
      await faultsOf("no such model", { status_code: 404, error: "no such model" }),
      ["error", "http_error", "HTTP status 404: no such model"],
    );
    assertEquals(
      await faultsOf("502 upstream is away", { status: 502, headers: {}, error: undefined }),
      ["error", "http_error", "HTTP status 502: upstream is away"],
    );
    const $fault = "client";
    const $metadata = { httpStatusCode: 429, requestId: "req_7" };
    const thrown = clientError("Too many tokens", { name: "ThrottlingException", $fault });
    const throttled = await readFailure(stream(Promise.reject(thrown)));
    assertEquals(faultOf(throttled), ["error", "provider_error", "Too many tokens"]);
    assertEquals(throttled.errorDetails, { providerErrorType: "ThrottlingException" });
    const refused = await readFailure(
      stream(Promise.reject(Object.assign(thrown, { $metadata }))),
    );
    assertEquals(faultOf(refused), ["error", "http_error", "HTTP status 429: Too many tokens"]);
    assertEquals(refused.errorDetails, {
      requestId: "req_7",
      providerErrorType: "ThrottlingException",
      status: 429,
    });
    const others = [
      {},
      { status: "429" },
      { status: 200 },
      { status: 7 },
      { error: "" },
      { error: {} },
      { error: new Error("another") },
    ];
    for (const fields of others) {
      assertEquals(await faultsOf("{no", fields), [
        "error",
        "network_error",
        "The connection broke: {no",
      ]);
    }
  });

  Deno.test(`${name} refuses options of the wrong kind`, () => {
    for (
      const options of [
        { idleTimeout: "5" },
        { idleTimeout: null },
        { signal: {} },
        { signal: null },
        { signal: new AbortController() },
        { limits: { contentBlocks: "1" } },
      ]
    ) {
      const error = assertThrows(() => stream(healthy(), options as never), TypeError);
      const said = /^Expected (signal|idleTimeout|limit "contentBlocks") to be /;
      assert(said.test(error.message), error.message);
    }
  });

  Deno.test(`${name} refuses options out of range`, () => {
    assertThrows(() => stream(healthy(), { idleTimeout: NaN }), RangeError);
    assertThrows(() => stream(healthy(), { limits: { contentBlocks: -1 } }), RangeError);
  });
}
