/** Puts chunks of bytes together. */
export function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let length = 0;
  for (const chunk of chunks) {
    all.set(chunk, length);
    length += chunk.length;
  }
  return all;
}
