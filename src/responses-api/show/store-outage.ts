import { setTimeout as sleep } from "node:timers/promises";
import { StoreBusy, StoreStopped } from "../../runs/ports/store-faults.ts";

/** How long a reader waits for a store that is down, in milliseconds. */
const OUTAGE_MS_MAX = 2 * 60_000;
/** The first and the longest pause after a failure, in milliseconds. */
const FIRST_PAUSE_MS = 100;
const PAUSE_MS_MAX = 3_000;

/** The consecutive failures of one reader whose store is down. */
export class StoreOutage {
  #failures = 0;
  #since = 0;

  /** The store responds again. */
  end(): void {
    this.#failures = 0;
  }

  /**
   * Waits before the next attempt. Resolves to false at once if there should be none, because the store is not down or
   * has been down for too long. Stops waiting when `signal` aborts.
   */
  async outlast(fault: unknown, signal: AbortSignal): Promise<boolean> {
    if (!isAway(fault)) return false;
    const now = performance.now();
    if (this.#failures === 0) this.#since = now;
    if (now - this.#since >= OUTAGE_MS_MAX) return false;
    this.#failures += 1;
    await sleep(pauseAfter(this.#failures, Math.random()), null, { signal }).catch(() => null); // The reader left.
    return true;
  }
}

/** Whether the store is temporarily unreadable. */
function isAway(fault: unknown): boolean {
  return fault instanceof StoreBusy || fault instanceof StoreStopped;
}

/** The pause after this many consecutive failures. `chance`, below 1, prevents readers from all retrying at once. */
export function pauseAfter(failures: number, chance: number): number {
  const pauseMs = Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS * 2 ** (failures - 1));
  return Math.round(pauseMs * (0.5 + chance / 2));
}
