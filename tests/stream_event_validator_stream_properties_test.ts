import { assertEquals, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import {
  createStreamEventValidator,
  type StreamEvent,
  StreamEventValidatorStream,
  type StreamSequenceError,
} from "../mod.ts";
import { arbitraryLegalStream } from "./_arbitraries.ts";

/** What the state machine by itself lets through, and what it says then. */
function expectedOf(events: readonly StreamEvent[]): {
  readonly passed: readonly StreamEvent[];
  readonly error?: StreamSequenceError;
} {
  const validator = createStreamEventValidator();
  let i = 0;
  try {
    for (; i < events.length; i++) validator.accept(events[i] as StreamEvent);
    validator.end();
    return { passed: events };
  } catch (error) {
    return { passed: events.slice(0, i), error: error as StreamSequenceError };
  }
}

/** Waits for so many turns of the microtask queue, or of the event loop. */
async function wait(turns: number): Promise<void> {
  if (turns > 4) await new Promise((resolve) => setTimeout(resolve));
  else for (let i = 0; i < turns; i++) await undefined;
}

Deno.test("StreamEventValidatorStream passes on what came up to the first violation, however slow reader and writer are", async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitraryLegalStream(),
      fc.nat(),
      fc.nat(),
      fc.constantFrom("none", "drop", "double", "swap", "cut"),
      fc.infiniteStream(fc.nat({ max: 5 })),
      async (events, at, other, damage, waits) => {
        const i = at % events.length;
        const j = other % events.length;
        const event = events[i] as StreamEvent;
        const damaged = {
          none: () => events,
          drop: () => events.toSpliced(i, 1),
          double: () => events.toSpliced(j, 0, event),
          swap: () => events.with(i, events[j] as StreamEvent).with(j, event),
          cut: () => events.slice(0, i),
        }[damage]();
        const { passed, error } = expectedOf(damaged);

        const stream = new StreamEventValidatorStream();
        const pause = () => wait(waits.next().value as number);
        const writing = (async () => {
          const writer = stream.writable.getWriter();
          writer.closed.catch(() => {});
          try {
            for (const event of damaged) {
              await pause();
              await writer.write(event);
            }
            await writer.close();
            return undefined;
          } catch (error) {
            return error;
          }
        })();
        const received: unknown[] = [];
        let readError: unknown;
        const reader = stream.readable.getReader();
        try {
          for (;;) {
            await pause();
            const { done, value } = await reader.read();
            if (done) break;
            received.push(value);
          }
        } catch (error) {
          readError = error;
        }
        assertEquals(received.length, passed.length);
        received.forEach((event, k) => assertStrictEquals(event, passed[k]));
        assertEquals(String(readError), String(error));
        if (error) assertStrictEquals(await writing, readError);
      },
    ),
    { numRuns: 300 },
  );
});
