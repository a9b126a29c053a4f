import type { CliIo } from "./_cli_io.ts";
import { count, printable } from "./_text.ts";

/** How long work takes before it shows how far it is, in milliseconds. */
const PATIENCE = 1_000;

/** How often it does, in milliseconds. */
const INTERVAL = 100;

const BAR_WIDTH = 24;

/** Shows on a terminal how far the reading of a file is. Elsewhere it shows nothing. */
export class Progress {
  readonly #io: CliIo;
  readonly #name: string;
  readonly #size: number | undefined;
  #bytes = 0;
  #next: number;
  #isShown = false;

  constructor(io: CliIo, name: string, size: number | undefined) {
    this.#io = io;
    this.#name = name;
    this.#size = size;
    this.#next = io.stderr.isTerminal && size !== undefined ? io.now() + PATIENCE : Infinity;
  }

  /** Counts bytes, and shows the bar where it is time to. */
  async add(bytes: number): Promise<void> {
    this.#bytes += bytes;
    if (this.#next === Infinity || this.#io.now() < this.#next) return;
    this.#next = this.#io.now() + INTERVAL;
    const { stderr } = this.#io;
    const share = Math.min(1, this.#bytes / Math.max(1, this.#size as number));
    const full = Math.round(share * BAR_WIDTH);
    const bar = "█".repeat(full) + "░".repeat(BAR_WIDTH - full);
    const megabytes = count(Math.round(this.#bytes / 1e6));
    const line = `${bar} ${Math.floor(share * 100)}% ${megabytes} MB ${printable(this.#name)}`;
    this.#isShown = true;
    await stderr.write(`\r\x1b[K${line.slice(0, Math.max(BAR_WIDTH, stderr.columns - 1))}`);
  }

  /** Takes the bar away, before something else is written and at the end. */
  async clear(): Promise<void> {
    if (!this.#isShown) return;
    this.#isShown = false;
    await this.#io.stderr.write("\r\x1b[K");
  }
}
