/** Healthy bodies, written for these tests in the shapes that providers use. */

/** A recorded body. */
export interface Recording {
  readonly name: string;
  readonly body: Uint8Array;
}

/** Reads the recordings of one wire format. */
export function readRecordings(wire: string): Recording[] {
  const folder = new URL(`../recordings/${wire}/`, import.meta.url);
  const files = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  return files.map((file) => ({
    name: file.replace(/\.\w+$/, ""),
    body: Deno.readFileSync(new URL(file, folder)),
  }));
}
