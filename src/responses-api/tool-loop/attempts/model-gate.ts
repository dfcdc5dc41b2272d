import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";

/**
 * Delays turns while a model server is overloaded. When the delay is over, one turn tries; if it is accepted, the
 * others follow.
 */
export class ModelGate {
  readonly #now: () => number;
  #closedUntil = 0;
  /** Whether the first turn after a closing is trying. */
  #isTrying = false;
  /** Resolves when the state may have changed. */
  #change = Promise.withResolvers<void>();

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** The minimum time until the gate opens, in milliseconds; 0 if it is open. */
  get waitMs(): number {
    return Math.max(0, this.#closedUntil - this.#now());
  }

  /** Prevents turns for this time. */
  close(ms: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, this.#now() + ms);
    this.#leave();
  }

  /** The model server has accepted a turn, or has failed for another reason. */
  open(): void {
    if (this.#closedUntil === 0) return;
    this.#closedUntil = 0;
    this.#leave();
  }

  /** Resolves when a turn may be tried. Call `open` or `close` afterwards. Rejects when `signal` aborts. */
  async enter(signal: AbortSignal): Promise<void> {
    while (this.#closedUntil > 0) {
      signal.throwIfAborted();
      if (this.waitMs === 0 && !this.#isTrying) {
        this.#isTrying = true;
        return;
      }
      await this.#wait(signal);
    }
  }

  #leave(): void {
    this.#isTrying = false;
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve();
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { promise } = this.#change;
    const { waitMs } = this;
    if (waitMs === 0) return await unlessAborted(promise, signal);
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, waitMs);
    await unlessAborted(Promise.race([promise, over.promise]), signal).finally(() => clearTimeout(timer));
  }
}
