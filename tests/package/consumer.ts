// What a user of the npm package writes. It is compiled, with every library that people have.
import {
  type AssistantMessage,
  createAssistantMessageEventStream,
  createStreamEventValidator,
  type StreamEvent,
  StreamEventValidatorStream,
  StreamSequenceError,
  type StreamSequenceErrorCode,
  type SuccessfulAssistantMessage,
  toStreamEvents,
} from "@agent-stream/validator";
import {
  type AdapterOptions,
  type ResponseSource,
  WireAdapter,
} from "@agent-stream/validator/adapter";
import {
  AnthropicMessagesDecoderStream,
  streamAnthropicMessages,
} from "@agent-stream/validator/anthropic";
import { GeminiDecoderStream, streamGemini } from "@agent-stream/validator/gemini";
import { OllamaChatDecoderStream, streamOllamaChat } from "@agent-stream/validator/ollama";
import {
  OpenAiChatDecoderStream,
  OpenAiResponsesDecoderStream,
  streamOpenAiChat,
  streamOpenAiResponses,
} from "@agent-stream/validator/openai";
import {
  readStreamEvents,
  StreamDecodeError,
  StreamEventDecoderStream,
  StreamEventEncoderStream,
  toResponse,
} from "@agent-stream/validator/wire";

export function replay(message: AssistantMessage): Response {
  const events: StreamEvent[] = [...toStreamEvents(message, { deltaLength: 2 })];
  const validator = createStreamEventValidator({ limits: { contentBlocks: 64 } });
  for (const event of events) validator.accept(event);
  validator.end();
  return toResponse(events, { format: "ndjson", headers: { "x-request-id": "1" } });
}

export async function pipe(url: string, signal: AbortSignal): Promise<AssistantMessage> {
  const response = await fetch(url, { signal });
  if (response.body === null) throw new Error("Expected a body");
  const validator = new StreamEventValidatorStream({ signal });
  const events: ReadableStream<StreamEvent> = response.body
    .pipeThrough(StreamEventDecoderStream.for(response))
    .pipeThrough(validator);
  const reader = events.getReader();
  while (!(await reader.read()).done);
  return await validator.result();
}

export function encode(events: ReadableStream<StreamEvent>): Response {
  const validator: TransformStream<StreamEvent, StreamEvent> = new StreamEventValidatorStream();
  return new Response(
    events.pipeThrough(validator).pipeThrough(new StreamEventEncoderStream({ format: "sse" })),
  );
}

export async function decode(body: ReadableStream<Uint8Array>): Promise<StreamEvent[]> {
  const options: AdapterOptions = { provider: "mine", now: () => 0 };
  const decoders: TransformStream<Uint8Array, StreamEvent>[] = [
    new AnthropicMessagesDecoderStream(options),
    new GeminiDecoderStream(options),
    new OllamaChatDecoderStream(options),
    new OpenAiChatDecoderStream(options),
    new OpenAiResponsesDecoderStream(options),
  ];
  const events: StreamEvent[] = [];
  for (const decoder of decoders.slice(0, 1)) {
    const reader = body.pipeThrough(decoder).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return events;
      events.push(value);
    }
  }
  return events;
}

export async function ask(
  answer: Promise<Response>,
  { signal }: { readonly signal?: AbortSignal },
): Promise<string> {
  let text = "";
  const streams = [
    streamAnthropicMessages,
    streamGemini,
    streamOllamaChat,
    streamOpenAiChat,
    streamOpenAiResponses,
  ];
  for (const stream of streams) {
    for await (const event of stream(answer, { signal, idleTimeout: 1_000 })) {
      if (event.type === "text_delta") text += event.delta;
      if (event.type === "error") text += event.message.errorMessage;
    }
  }
  const message = await readStreamEvents(answer).result();
  return message.errorCode === "refusal" ? "" : text + wholeOf(message).stopReason;
}

export async function read(
  source: Promise<AsyncGenerator<{ readonly type: string }>> | ResponseSource,
): Promise<Response> {
  const message = await streamAnthropicMessages(source).result();
  return toResponse(toStreamEvents(message), {
    map: (event) =>
      event.type === "error"
        ? { ...event, message: { ...event.message, errorMessage: "away" } }
        : event,
  });
}

function wholeOf(message: AssistantMessage): SuccessfulAssistantMessage {
  if (message.stopReason === "error" || message.stopReason === "aborted") {
    throw new Error(message.errorMessage);
  }
  return message;
}

export function push(): StreamSequenceErrorCode | undefined {
  const stream = createAssistantMessageEventStream();
  try {
    stream.push({ type: "start" });
    // @ts-expect-error A delta has a text.
    stream.push({ type: "text_delta", contentIndex: 0 });
  } catch (error) {
    if (StreamSequenceError.is(error)) return error.code;
    if (StreamDecodeError.is(error)) throw new Error(`line ${error.line}`, { cause: error });
  }
  return undefined;
}

export class OwnAdapter extends WireAdapter {
  protected override take(payload: { readonly say: string }): void {
    this.blocks.append(this.blocks.open("text"), payload.say);
  }

  protected override takeEnd(): void {
    this.blocks.finish("stop");
  }
}
