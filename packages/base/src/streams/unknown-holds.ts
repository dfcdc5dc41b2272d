/**
 * Frees what a process holds in a shared queue without knowing it, because the queue did not answer: it was not told of
 * a claim, or could not give something back.
 */
export class UnknownHolds {
  readonly #release: () => Promise<void>;
  #mayExist = false;

  /** `release`: frees everything that this process holds and does not work on. */
  constructor(release: () => Promise<void>) {
    this.#release = release;
  }

  /** Call after each fault of the queue. */
  suspect(): void {
    this.#mayExist = true;
  }

  /** Does nothing without a fault since the last time. Rejects if the release fails; the next call tries it again. */
  async free(): Promise<void> {
    if (!this.#mayExist) return;
    this.#mayExist = false;
    try {
      await this.#release();
    } catch (fault) {
      this.#mayExist = true;
      throw fault;
    }
  }
}
