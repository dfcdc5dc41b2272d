import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";

/** Created once: each error costs a stack trace. */
const LEFT = new Error("nobody waits any more");

/** Work that several callers wait for. */
export class SharedWork<T> {
  readonly #stop = new AbortController();
  readonly #work: Promise<T>;
  #callers = 0;
  #isOver = false;

  /** Starts the work at once. Its signal aborts when all callers have left. */
  constructor(begin: (signal: AbortSignal) => Promise<T>) {
    this.#work = begin(this.#stop.signal).finally(() => {
      this.#isOver = true;
    });
  }

  /** Whether it has settled or was abandoned. Nobody can join it any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Settles with the work, or rejects with the reason of the signal. */
  async join(signal: AbortSignal): Promise<T> {
    this.#callers += 1;
    try {
      return await unlessAborted(this.#work, signal);
    } finally {
      this.#callers -= 1;
      if (this.#callers === 0 && !this.#isOver) {
        this.#isOver = true;
        this.#stop.abort(LEFT);
      }
    }
  }
}
