/** Feeds decoded payloads to adapters. */

import { assert } from "@std/assert";
import { type AssistantMessage, createStreamEventValidator, type StreamEvent } from "../../mod.ts";
import type { Adapter } from "../../src/adapters/_adapter.ts";

/** The events of a response. Fails unless they are a legal stream that ends. */
export function eventsOf(adapter: Adapter, payloads: readonly unknown[]): StreamEvent[] {
  const validator = createStreamEventValidator();
  const events: StreamEvent[] = [];
  const emit = (event: StreamEvent) => {
    validator.accept(event);
    events.push(event);
  };
  for (const payload of payloads) adapter.push(payload, emit);
  adapter.end(emit);
  validator.end();
  assertExpected(events);
  return events;
}

/** Fails where an adapter met what it was not written for, and was only caught in the end. */
export function assertExpected(events: readonly StreamEvent[]): void {
  const last = events.at(-1);
  assert(last?.type !== "error" || !last.message.errorMessage.startsWith("Unexpected frame"));
}

/** The message of a response. */
export function messageOf(adapter: Adapter, payloads: readonly unknown[]): AssistantMessage {
  const last = eventsOf(adapter, payloads).at(-1);
  assert(last?.type === "done" || last?.type === "error");
  return last.message;
}
