import { waitFor } from "./retry.ts";

/** Streams that waited together do not all come back in the same moment. */
const SPREAD_MS_MAX = 1000;
const SPREAD_SHARE = 0.05;

/** The wait after a rate limit, which all streams of a client share. */
export class RateLimitPause {
  #endsAt = 0;

  /** Nobody tries again before that many milliseconds have passed. */
  begin(waitMs: number): void {
    this.#endsAt = Math.max(this.#endsAt, performance.now() + waitMs);
  }

  /** Resolves when it is over; rejects when the signal aborts. */
  async over(signal: AbortSignal | undefined): Promise<void> {
    for (let leftMs = this.#leftMs(); leftMs > 0; leftMs = this.#leftMs()) {
      await waitFor(leftMs + Math.random() * Math.min(SPREAD_MS_MAX, leftMs * SPREAD_SHARE), signal);
    }
  }

  #leftMs(): number {
    return this.#endsAt - performance.now();
  }
}
