import {
  type AssistantMessage,
  createStreamEventValidator,
  type StreamEvent,
  StreamEventValidatorStream,
  StreamSequenceError,
} from "@agent-stream/validator";
import type { Check } from "./_check.ts";
import type { Case, Materials } from "./_materials.ts";
import { canonical, readAll, Source } from "./_reading.ts";
import { fixedOptions, type Wire, wireOf } from "./_wires.ts";

/** Every case: the unified ones by the validator, the others by the adapter of their wire. */
export function* caseChecks({ cases }: Materials): Generator<Check> {
  for (const [name, all] of Object.entries(cases)) {
    for (const one of all) {
      if (name === "unified") {
        yield { name: `case ${one.id}`, run: () => judge(one), expected: expectedOf(one) };
        continue;
      }
      const wire = wireOf(name);
      const bytes = bytesOf(one);
      const cuts = [["whole", [bytes]], ["byte by byte", singly(bytes)]] as const;
      for (const [how, chunks] of cuts) {
        yield { name: `case ${one.id}, ${how}`, run: () => decode(wire, chunks, one) };
      }
    }
  }
}

/** What the validator says of a stream. */
function judge({ input }: Case): string {
  const validator = createStreamEventValidator();
  const events: StreamEvent[] = input.trim().split("\n").map((line) => JSON.parse(line));
  try {
    for (const event of events) validator.accept(event);
    validator.end();
  } catch (error) {
    if (!StreamSequenceError.is(error)) throw error;
    return error.code === "truncated" ? "truncated" : `${error.code} at ${error.eventIndex}`;
  }
  return `${terminalOf(events)} ${canonical(validator.partialContent())}`;
}

function expectedOf({ expected, code, eventIndex, terminal, final }: Case): string {
  if (expected === "accept") return `${terminal} ${canonical(final)}`;
  return expected === "truncated" ? "truncated" : `${code} at ${eventIndex}`;
}

/** What an adapter's decoder stream makes of a body, held to the protocol and to the case. */
async function decode(wire: Wire, chunks: readonly Uint8Array[], one: Case): Promise<string> {
  const validator = new StreamEventValidatorStream();
  const events = new Source(chunks, "close").readable
    .pipeThrough(new wire.DecoderStream(fixedOptions()))
    .pipeThrough(validator);
  const { values, error, isFailed } = await readAll(events.getReader());
  if (isFailed) throw error;
  const message = await validator.result();
  const isAccepted = one.expected === "accept";
  const terminal = terminalOf(values);
  const expected = isAccepted ? one.terminal : "error:error";
  const content = isAccepted ? one.final : one.safe;
  if (terminal !== expected) throw new Error(`${terminal}, expected ${expected}`);
  if (content && canonical(message.content) !== canonical(withIds(content, message))) {
    throw new Error(`${canonical(message.content)}, expected ${canonical(content)}`);
  }
  return `${terminal} ${canonical(message)}`;
}

/** Puts the ids in that are anybody's choice. */
function withIds(content: readonly unknown[], { content: made }: AssistantMessage): unknown[] {
  return content.map((block, index) => {
    const { id } = block as { id?: unknown };
    const other = made[index];
    return id === null && other?.type === "tool_call"
      ? { ...block as object, id: other.id }
      : block;
  });
}

/** The last event, as `type:reason`. */
export function terminalOf(events: readonly StreamEvent[]): string {
  const last = events.at(-1);
  return last?.type === "done" || last?.type === "error" ? `${last.type}:${last.reason}` : "none";
}

function bytesOf({ input, input_b64 }: Case): Uint8Array {
  return input_b64 === undefined
    ? new TextEncoder().encode(input)
    : Uint8Array.from(atob(input_b64), (char) => char.charCodeAt(0));
}

function singly(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
}
