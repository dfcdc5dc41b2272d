/** The end of a wait. It can be moved closer. Keeps the process alive until it is over or cleared. */
export class Deadline {
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout;
  #at: number;

  constructor(ms: number) {
    this.#at = performance.now() + ms;
    this.#timer = this.#wait(ms);
  }

  /** Aborts when the time is over. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Moves the end to `ms` milliseconds from now, unless it is already sooner. */
  hasten(ms: number): void {
    if (performance.now() + ms >= this.#at) return;
    this.#at = performance.now() + ms;
    clearTimeout(this.#timer);
    this.#timer = this.#wait(ms);
  }

  /** Prevents the signal from aborting. */
  clear(): void {
    clearTimeout(this.#timer);
  }

  #wait(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#over.abort(), ms);
  }
}
