/**
 * One promise that settles once. It counts as handled from the beginning, so that a failure nobody
 * asks about causes no unhandled rejection.
 */
export class Outcome<T> {
  /** Settles with the first {@linkcode resolve} or {@linkcode reject}. */
  readonly promise: Promise<T>;
  /** Fulfils the promise, unless it is settled. */
  readonly resolve: (value: T) => void;
  readonly #reject: (reason: unknown) => void;

  constructor() {
    let resolve!: (value: T) => void;
    let reject!: (reason: unknown) => void;
    this.promise = new Promise<T>((onResolve, onReject) => {
      resolve = onResolve;
      reject = onReject;
    });
    this.promise.catch(() => {});
    this.resolve = resolve;
    this.#reject = reject;
  }

  /** Rejects the promise, unless it is settled; with an `AbortError` where there is no reason. */
  reject(reason: unknown): void {
    this.#reject(
      reason === undefined ? new DOMException("The stream was cancelled", "AbortError") : reason,
    );
  }
}
