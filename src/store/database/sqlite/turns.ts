/** Lets a number of callers run concurrently, and the others in order of arrival. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** `atOnce`: the number of concurrent callers. */
  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Resolves when it is the caller's turn. End it with `giveBack`. */
  take(): Promise<void> {
    if (this.#free === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#free -= 1;
    return Promise.resolve();
  }

  giveBack(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
