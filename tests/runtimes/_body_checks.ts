import { type StreamEvent, StreamEventValidatorStream } from "@agent-stream/validator";
import {
  readStreamEvents,
  StreamEventDecoderStream,
  toResponse,
} from "@agent-stream/validator/wire";
import { terminalOf } from "./_case_checks.ts";
import { BROKEN_CONNECTION, type Check } from "./_check.ts";
import { EVENTS, frameOf, MESSAGE } from "./_events.ts";
import type { Materials } from "./_materials.ts";
import { canonical, Names, readAll, turn } from "./_reading.ts";
import { fixedOptions, wireOf } from "./_wires.ts";

/** What the server does with a body; see `tools/_suite_server.ts`. */
export interface BodyRequest {
  /** The events of this suite in a format, or a recording of a wire. */
  readonly source: string;
  /** After how many bytes to stop, if before the end. */
  readonly cut?: number;
  /** Whether to close the body, hold it open, or break the connection. */
  readonly ending?: "close" | "hold" | "reset";
  /** What to ask about it by, later. */
  readonly id?: string;
}

const FORMATS = ["ndjson", "sse"] as const;

/** Bodies from a server, in small pieces, piped through. */
export function* bodyChecks(server: string): Generator<Check> {
  const load = (request: BodyRequest) => fetch(urlOf(server, request));
  const piped = async (request: BodyRequest) => {
    const response = await load(request);
    const validator = new StreamEventValidatorStream();
    const events = response.body!
      .pipeThrough(StreamEventDecoderStream.for(response))
      .pipeThrough(validator);
    return { events, validator };
  };

  yield {
    name: BROKEN_CONNECTION,
    async run() {
      const response = await load({ source: "ndjson", cut: 10, ending: "reset" });
      const { isFailed } = await readAll(response.body!.getReader());
      return isFailed ? "an error" : "the end of the body";
    },
  };
  for (const format of FORMATS) {
    yield {
      name: `body ${format}, piped through`,
      async run() {
        const { events, validator } = await piped({ source: format });
        const { values, error } = await readAll(events.getReader());
        return `${told(values)}; ${told(error)}; ${canonical(await validator.result())}`;
      },
      expected: `${told(EVENTS)}; nothing; ${canonical(MESSAGE)}`,
    };
    yield {
      name: `body ${format}, read in one pass`,
      async run() {
        const stream = readStreamEvents(load({ source: format }));
        const events: StreamEvent[] = [];
        for await (const event of stream) events.push(event);
        return `${told(events)}; ${canonical(await stream.result())}`;
      },
      expected: `${told(EVENTS)}; ${canonical(MESSAGE)}`,
    };
    yield {
      name: `body ${format}, from toResponse`,
      async run() {
        const stream = readStreamEvents(toResponse(EVENTS, { format }));
        return canonical(await stream.result());
      },
      expected: canonical(MESSAGE),
    };
    yield {
      name: `body ${format}, cut off between events`,
      async run() {
        const names = new Names();
        const cut = lengthOf(format, 6);
        const { events, validator } = await piped({ source: format, cut });
        const { values, error } = await readAll(events.getReader());
        const result = await names.ofRejection(validator.result());
        return `${values.length} events; ${names.of(error)}; ${result}`;
      },
      expected: "6 events; truncated at 6; truncated at 6",
    };
    yield {
      name: `body ${format}, cut off within a character`,
      async run() {
        const names = new Names();
        const cut = lengthOf(format, 6) + frameOf(EVENTS[6], format).indexOf("世") + 1;
        const { events, validator } = await piped({ source: format, cut });
        const { values, error } = await readAll(events.getReader());
        const result = await names.ofRejection(validator.result());
        return `${values.length} events; ${names.of(error)}; ${result}`;
      },
    };
    yield {
      name: `body ${format}, reset by the server`,
      async run() {
        const names = new Names();
        const cut = lengthOf(format, 6);
        const { events, validator } = await piped({ source: format, cut, ending: "reset" });
        const { values, error } = await readAll(events.getReader());
        // Whether it is the engine's or `truncated`, and what the engine still gives, is up to it.
        names.give(error, "the error");
        const result = await names.ofRejection(validator.result());
        return `${values.length <= 6}; ${names.of(error)}; ${result}`;
      },
      expected: "true; the error; the error",
    };
    yield {
      name: `body ${format}, cancelled by the consumer`,
      async run() {
        const names = new Names();
        const reason = names.give(new Error("enough"), "the reason");
        const id = crypto.randomUUID();
        const cut = lengthOf(format, 6);
        const { events, validator } = await piped({ source: format, cut, ending: "hold", id });
        const reader = events.getReader();
        for (let index = 0; index < 6; index++) await reader.read();
        await turn();
        await reader.cancel(reason);
        const result = await names.ofRejection(validator.result());
        return `${result}; the server: ${await isGone(server, id)}`;
      },
      expected: "the reason; the server: gone",
    };
    yield {
      name: `body ${format}, refused in the middle and let go`,
      async run() {
        const names = new Names();
        const id = crypto.randomUUID();
        const source = `${format}-impossible`;
        const { events, validator } = await piped({ source, ending: "hold", id });
        const { values, error } = await readAll(events.getReader());
        const result = await names.ofRejection(validator.result());
        const refusal = `${values.length} events; ${names.of(error)}; ${result}`;
        return `${refusal}; the server: ${await isGone(server, id)}`;
      },
      expected: "6 events; wrong_index at 6; wrong_index at 6; the server: gone",
    };
    yield {
      name: `body ${format}, left in one pass`,
      async run() {
        const names = new Names();
        const id = crypto.randomUUID();
        const cut = lengthOf(format, 6);
        const stream = readStreamEvents(load({ source: format, cut, ending: "hold", id }));
        let count = 0;
        for await (const _ of stream) if (++count === 6) break;
        const result = await names.ofRejection(stream.result());
        return `${count} events; ${result}; the server: ${await isGone(server, id)}`;
      },
      expected: "6 events; AbortError; the server: gone",
    };
    yield {
      name: `body ${format}, held open by the server after the end`,
      async run() {
        const id = crypto.randomUUID();
        const stream = readStreamEvents(load({ source: format, ending: "hold", id }));
        const message = await stream.result();
        return `${message.stopReason}; the server: ${await isGone(server, id)}`;
      },
      expected: "tool_use; the server: gone",
    };
    yield {
      name: `body ${format}, stalled`,
      async run() {
        const names = new Names();
        const cut = lengthOf(format, 6);
        const request = { source: format, cut, ending: "hold" } as const;
        const url = `${urlOf(server, request)}&silent`;
        const stream = readStreamEvents(fetch(url), { idleTimeout: 500 });
        let count = 0;
        let error: unknown;
        try {
          for await (const _ of stream) count++;
        } catch (caught) {
          error = caught;
        }
        const result = await names.ofRejection(stream.result());
        return `${count} events; ${names.of(error)}; ${result}`;
      },
      expected: "6 events; TimeoutError; TimeoutError",
    };
  }
}

/** Every recording of every wire, whole and broken, from a server, in small pieces. */
export function* recordingChecks({ recordings }: Materials, server: string): Generator<Check> {
  for (const [name, files] of Object.entries(recordings)) {
    const wire = wireOf(name);
    for (const file of files) {
      const source = `${name}/${file}`;
      yield {
        name: `recording ${source}`,
        async run() {
          const stream = wire.stream(fetch(urlOf(server, { source })), fixedOptions());
          const events: StreamEvent[] = [];
          for await (const event of stream) events.push(event);
          const message = canonical(await stream.result());
          const response = await fetch(urlOf(server, { source }));
          const validator = new StreamEventValidatorStream();
          const { values } = await readAll(
            response.body!
              .pipeThrough(new wire.DecoderStream(fixedOptions()))
              .pipeThrough(validator)
              .getReader(),
          );
          if (canonical(values) !== canonical(events)) {
            throw new Error(
              `piped through: ${canonical(values)}; in one pass: ${canonical(events)}`,
            );
          }
          const text = await (await fetch(urlOf(server, { source }))).text();
          const given = canonical(await wire.stream(payloadsOf(text), fixedOptions()).result());
          if (given !== message) throw new Error(`one by one: ${given}; as a body: ${message}`);
          if (!terminalOf(events).startsWith("done:")) throw new Error(message);
          return `${events.length} events; ${message}`;
        },
      };
      for (const ending of ["close", "reset"] as const) {
        yield {
          name: `recording ${source}, broken: ${ending}`,
          async run() {
            // Half of it: the server knows how much that is.
            const url = `${urlOf(server, { source, ending })}&half`;
            const stream = wire.stream(fetch(url), fixedOptions());
            const events: StreamEvent[] = [];
            for await (const event of stream) events.push(event);
            const message = await stream.result();
            if (message.stopReason !== "error") throw new Error(canonical(message));
            const { errorCode, content } = message;
            if (ending === "close") {
              return `${terminalOf(events)} ${errorCode} ${canonical(content)}`;
            }
            // What the engine says of a reset is up to it, and so is what it still gives.
            const isBroken = errorCode === "network_error" || errorCode === "truncated";
            return `${terminalOf(events)} ${isBroken ? "broken off" : errorCode}`;
          },
          ...(ending === "reset" && { expected: "error:error broken off" }),
        };
      }
    }
  }
}

/** The payloads of a body, one by one, as the client of a provider gives them. */
async function* payloadsOf(body: string): AsyncGenerator<unknown, void> {
  for (const line of body.split("\n")) {
    const json = line.replace(/^data: ?/, "");
    if (json.startsWith("{")) yield await JSON.parse(json);
  }
}

function urlOf(server: string, { source, cut, ending, id }: BodyRequest): string {
  const url = new URL("body", server);
  url.searchParams.set("source", source);
  if (cut !== undefined) url.searchParams.set("cut", String(cut));
  if (ending !== undefined) url.searchParams.set("ending", ending);
  if (id !== undefined) url.searchParams.set("id", id);
  return url.href;
}

/** Whether the server has seen the client of a body go. */
async function isGone(server: string, id: string): Promise<string> {
  const response = await fetch(new URL(`gone?id=${id}`, server));
  return await response.text();
}

/** How many bytes the first events take. */
function lengthOf(format: string, count: number): number {
  const text = EVENTS.slice(0, count).map((event) => frameOf(event, format)).join("");
  return new TextEncoder().encode(text).length;
}

function told(value: unknown): string {
  return value === undefined ? "nothing" : canonical(value);
}
