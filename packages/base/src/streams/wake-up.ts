/** Wakes one sleeper. A call without a sleeper ends the next sleep at once. */
export class WakeUp {
  #isDue = false;
  #end: (() => void) | null = null;

  wake(): void {
    this.#isDue = true;
    this.#end?.();
  }

  /** Resolves when woken, after this time, or when the signal aborts. */
  async wait(timeMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#isDue && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = (): void => resolve();
      const timer = setTimeout(end, timeMs);
      signal.addEventListener("abort", end, { once: true });
      this.#end = end;
      await promise;
      this.#end = null;
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
    }
    this.#isDue = false;
  }
}
