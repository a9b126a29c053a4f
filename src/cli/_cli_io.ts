/** Where a command writes to. */
export interface CliOutput {
  /** Whether it is a terminal. */
  readonly isTerminal: boolean;
  /** Whether to use colours. */
  readonly hasColor: boolean;
  /** How many columns it has. */
  readonly columns: number;
  /**
   * Writes, and waits until there is room for more.
   *
   * @throws {ClosedOutputError} Nobody reads it any more.
   */
  write(text: string | Uint8Array): Promise<void>;
}

/** Where a command reads from without a file. */
export interface CliInput extends AsyncIterable<Uint8Array> {
  /** Whether it is a terminal. */
  readonly isTerminal: boolean;
  /** How long it is, in bytes, where it is a file: all of it is there already. */
  readonly size?: number;
}

/** All that a command has of the outside, beside files and sockets. */
export interface CliIo {
  readonly stdin: CliInput;
  readonly stdout: CliOutput;
  readonly stderr: CliOutput;
  /** Fires when somebody asks the command to end. */
  readonly signal: AbortSignal;
  /** The time, in milliseconds since some moment. */
  readonly now: () => number;
}

/** How a command ended: all is well, a stream is wrong, or it was used wrongly or could not read. */
export type ExitCode = 0 | 1 | 2;
