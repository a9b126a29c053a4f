import { kindOf } from "../_json.ts";
import type { ProviderReplay } from "../types.ts";
import { StreamDecodeError } from "../wire/stream_decode_error.ts";
import { type Adapter, AdapterError, type AdapterOptions, type Emit } from "./_adapter.ts";
import { BlockSerializer } from "./_block_serializer.ts";
import { withoutSecrets } from "./_without_secrets.ts";

/**
 * The base class of all adapters: whatever goes wrong in an adapter becomes an `error` event. An
 * adapter handles payloads in `take` and the end of the body in `takeEnd`. It tells `blocks` what
 * they mean, and throws an {@linkcode AdapterError} if they are not valid.
 *
 * @example The smallest adapter: every payload is more of one text
 * ```ts
 * import { WireAdapter } from "@agent-stream/validator/adapter";
 * import type { StreamEvent } from "@agent-stream/validator";
 * import { assertEquals } from "@std/assert";
 *
 * class TextAdapter extends WireAdapter {
 *   readonly #text = this.blocks.open("text");
 *
 *   protected override take(payload: string) {
 *     this.blocks.append(this.#text, payload);
 *   }
 *
 *   protected override takeEnd() {
 *     this.blocks.finish("stop");
 *   }
 * }
 *
 * const events: StreamEvent[] = [];
 * const adapter = new TextAdapter({}, "acme");
 * adapter.push("Hello", (event) => events.push(event));
 * adapter.end((event) => events.push(event));
 * assertEquals(
 *   events.map((event) => event.type),
 *   ["start", "text_start", "text_delta", "text_end", "done"],
 * );
 * ```
 */
export abstract class WireAdapter implements Adapter {
  /** Puts the blocks in order, and remembers what they contain so far. */
  protected readonly blocks: BlockSerializer;
  #emit: Emit = () => {};
  /** What a taker of events threw: the event was emitted all the same, and the error is the taker's. */
  #thrown: { readonly error: unknown } | undefined;

  /**
   * Creates the adapter for one response.
   *
   * @param options What the response does not say.
   * @param provider Who serves the response, if the options do not say.
   * @throws {TypeError} An option is of the wrong kind.
   * @throws {RangeError} A limit is out of range.
   */
  constructor(options: AdapterOptions, provider: string) {
    this.blocks = new BlockSerializer(options, provider);
    this.blocks.emit = (event) => {
      try {
        this.#emit(event);
      } catch (error) {
        this.#thrown ??= { error };
      }
    };
  }

  /** Whether the terminal event has been emitted. */
  get isFinished(): boolean {
    return this.blocks.isFinished;
  }

  /** Handles one decoded payload. */
  push(payload: unknown, emit: Emit): void {
    if (!this.#begin(emit)) return;
    try {
      this.take(payload);
    } catch (error) {
      this.#fail(error);
    }
    this.#end();
  }

  /** Handles the end of the body. */
  end(emit: Emit): void {
    if (!this.#begin(emit)) return;
    try {
      this.takeEnd();
      if (!this.isFinished) {
        throw new AdapterError("truncated", "The body ended before the response did");
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#end();
  }

  /** Handles a failure of the body. */
  fail(cause: unknown, emit: Emit): void {
    if (!this.#begin(emit)) return;
    this.#fail(errorOf(cause));
    this.#end();
  }

  /** Handles a payload. An error that it throws ends the response. */
  // deno-lint-ignore no-explicit-any -- an adapter may say what it expects; nothing makes it true
  protected abstract take(payload: any): void;
  /**
   * Handles the end of the body, unless the response has ended before. It has to finish the
   * response or throw; otherwise the response is `truncated`.
   */
  protected abstract takeEnd(): void;
  /**
   * Returns what the next turn must send back of a response that broke off; by default, nothing.
   * For a response that is finished, pass it to `blocks.finish`.
   */
  protected replay(): ProviderReplay | undefined {
    return undefined;
  }

  /** Starts the response, if it has not; says whether anything can follow. */
  #begin(emit: Emit): boolean {
    if (this.blocks.isFinished) return false;
    this.#emit = emit;
    this.blocks.start();
    return true;
  }

  #end(): void {
    const thrown = this.#thrown;
    this.#thrown = undefined;
    if (thrown) throw thrown.error;
  }

  #fail(error: unknown): void {
    const { code, message, details } = error instanceof AdapterError
      ? error
      : new AdapterError("malformed_frame", `Unexpected frame: ${messageOf(error)}`);
    const reason = code === "aborted" ? "aborted" : "error";
    let replay: ProviderReplay | undefined;
    try {
      replay = this.replay();
    } catch {
      // What failed before may fail again; the message matters more.
    }
    this.blocks.fail(reason, code, message, details, replay);
  }
}

/** What an error says, with what the engine hides behind it: `fetch failed` alone helps nobody. */
function messageOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return typeof error === "string" ? error : kindOf(error);
    const { name, message, cause } = error;
    const reason = cause instanceof Error && cause.message !== "" ? `: ${cause.message}` : "";
    return withoutSecrets(`${message || name}${reason}`);
  } catch {
    return "an error that cannot be read";
  }
}

function nameOf(error: unknown): unknown {
  try {
    return error instanceof Error ? error.name : undefined;
  } catch {
    return undefined;
  }
}

/** What it means that a body failed. */
function errorOf(cause: unknown): AdapterError {
  if (cause instanceof AdapterError) return cause;
  const message = messageOf(cause);
  if (StreamDecodeError.is(cause)) {
    const code = cause.code === "incomplete_frame"
      ? "truncated"
      : cause.code === "line_too_long"
      ? "limit_exceeded"
      : "malformed_frame";
    return new AdapterError(code, message);
  }
  const name = nameOf(cause);
  if (name === "AbortError") return new AdapterError("aborted", message);
  if (name === "TimeoutError") return new AdapterError("idle_timeout", message);
  return new AdapterError("network_error", `The connection broke: ${message}`);
}
