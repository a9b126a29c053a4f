import { isBytes } from "../_check_bytes.ts";
import { isRecord } from "../_is_record.ts";
import { kindOf } from "../_json.ts";
import type { StreamEventFormat } from "../wire/_frame_parser.ts";
import { AdapterError } from "./_adapter.ts";

const encoder = new TextEncoder();

/**
 * Makes a body of what comes one by one: payloads, as the client of a provider gives them, which are
 * written as they came; or pieces of a body, as Node's own streams do.
 *
 * @param payloads Where they come from. It is asked for the next one when that is wanted.
 * @param format How the payloads are written.
 * @returns The body. To cancel it lets the source go.
 */
export function bodyOfPayloads(
  payloads: AsyncIterable<unknown>,
  format: StreamEventFormat,
): ReadableStream<Uint8Array> {
  let iterator: AsyncIterator<unknown> | undefined;
  const letGo = async (): Promise<void> => {
    abort(payloads);
    await iterator?.return?.();
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      iterator ??= payloads[Symbol.asyncIterator]();
      const { done, value } = await iterator.next();
      if (done) {
        controller.close();
        return;
      }
      try {
        controller.enqueue(isBytes(value) ? value : encode(value, format));
      } catch (error) {
        letGo().catch(() => {});
        throw error;
      }
    },
    cancel: letGo,
  }, { highWaterMark: 0 });
}

function encode(payload: unknown, format: StreamEventFormat): Uint8Array {
  if (!isRecord(payload)) {
    const hint = typeof payload === "string" ? "; parse it first" : "";
    throw refusalOf(`${kindOf(payload)}${hint}`);
  }
  let json: string | undefined;
  try {
    json = JSON.stringify(payload);
  } catch {
    // It holds itself, what JSON cannot say, or more levels than can be written.
  }
  if (json === undefined) throw refusalOf(`${kindOf(payload)} that is not JSON`);
  return encoder.encode(format === "sse" ? `data: ${json}\n\n` : `${json}\n`);
}

function refusalOf(received: string): AdapterError {
  return new AdapterError(
    "malformed_frame",
    `Expected a payload to be a JSON object, received ${received}`,
  );
}

/**
 * Ends the request of a client's stream. A generator that waits for the connection would hear of its
 * `return()` only when something comes.
 */
function abort(payloads: unknown): void {
  const { controller } = payloads as { readonly controller?: { abort?: unknown } };
  const holder = controller ?? payloads as { abort?: unknown };
  if (typeof holder.abort === "function") holder.abort();
}
