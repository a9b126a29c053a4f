/**
 * A Worker between a client and a model: it asks the provider, and passes the answer on as validated
 * events that always end in a terminal event. Where the client goes away, so does the request that is
 * being paid for.
 *
 * It runs in workerd, as `wrangler dev` does it. `deno serve` and Bun take it too, but bind nothing:
 * there the `Env` has to come from the environment.
 *
 * @module
 */

import { streamAnthropicMessages } from "@agent-stream/validator/anthropic";
import { toResponse } from "@agent-stream/validator/wire";

/** What the Worker is bound to. */
interface Env {
  /** The provider's address; `https://api.anthropic.com/v1/messages` unless it is tested. */
  readonly PROVIDER_URL: string;
  readonly PROVIDER_KEY: string;
  readonly MODEL: string;
}

export default {
  async fetch(request: Request, { PROVIDER_URL, PROVIDER_KEY, MODEL }: Env): Promise<Response> {
    const { messages } = await request.json();
    const answer = fetch(PROVIDER_URL, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": PROVIDER_KEY,
      },
      body: JSON.stringify({ model: MODEL, max_tokens: 1024, stream: true, messages }),
      // Until there is a response, only this can cancel the request.
      signal: request.signal,
    });
    const events = streamAnthropicMessages(answer, { idleTimeout: 60_000 });
    return toResponse(events);
  },
};
