/**
 * What the tests use of `@std/json`, for machines that JSR does not answer.
 *
 * @module
 */

export type JsonValue =
  | { [key: string]: JsonValue | undefined }
  | JsonValue[]
  | string
  | number
  | boolean
  | null;

/** Parses each chunk as one JSON text; chunks of white space are skipped. */
export class JsonParseStream extends TransformStream<string, JsonValue> {
  constructor() {
    super({
      transform(chunk, controller) {
        if (/\S/.test(chunk)) controller.enqueue(JSON.parse(chunk));
      },
    });
  }
}
