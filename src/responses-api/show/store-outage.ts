import { setTimeout as sleep } from "node:timers/promises";
import { StoreBusy, StoreStopped } from "../../runs/ports/store-faults.ts";

/** How long a reader waits for a store that is away, in milliseconds. */
const OUTAGE_MS_MAX = 2 * 60_000;
/** How long it pauses after the first failure, and at most, in milliseconds. */
const FIRST_PAUSE_MS = 100;
const PAUSE_MS_MAX = 3_000;

/** The failures in a row of one reader whose store is away. */
export class StoreOutage {
  #failures = 0;
  #since = 0;

  /** The store answers again. */
  end(): void {
    this.#failures = 0;
  }

  /**
   * Waits before the next attempt. Resolves to false at once if there should be none, because the store is not away or
   * has been away for too long. Stops waiting when `signal` aborts.
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

/** Whether the store cannot be read now, but perhaps later. */
function isAway(fault: unknown): boolean {
  return fault instanceof StoreBusy || fault instanceof StoreStopped;
}

/** The pause after so many failures in a row. `chance`, below 1, keeps readers from all coming back at once. */
export function pauseAfter(failures: number, chance: number): number {
  const pauseMs = Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS * 2 ** (failures - 1));
  return Math.round(pauseMs * (0.5 + chance / 2));
}
