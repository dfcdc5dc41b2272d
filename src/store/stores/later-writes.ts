import { setTimeout as sleep } from "node:timers/promises";
import { StoreBusy } from "../../runs/ports/store-faults.ts";

/** The first and the longest pause before a write is retried, in milliseconds. */
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 5_000;
/** After this time a write is given up, in milliseconds. */
const PATIENCE_MS = 3_600_000;
/** The maximum of writes that wait for the store. Further ones are given up. */
const WAITING_MAX = 10_000;

/** Writes whose caller does not wait for a store that is down: they are retried until it is back. */
export class LaterWrites {
  #waiting = 0;

  /**
   * Resolves after the first attempt, even if the store is down or its reply was lost. So a write must do no harm if it
   * is repeated. Rejects with every other fault of that attempt.
   */
  async write(write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!(error instanceof StoreBusy) || this.#waiting >= WAITING_MAX) throw error;
      void this.#repeat(write);
    }
  }

  async #repeat(write: () => Promise<unknown>): Promise<void> {
    this.#waiting += 1;
    const until = performance.now() + PATIENCE_MS;
    let isDone = false;
    for (let pauseMs = PAUSE_MS; !isDone && performance.now() < until; pauseMs = Math.min(PAUSE_MS_MAX, 2 * pauseMs)) {
      await sleep(pauseMs, null, { ref: false });
      isDone = await write().then(
        () => true,
        (error: unknown) => !(error instanceof StoreBusy), // The store has ended, for instance.
      );
    }
    this.#waiting -= 1;
  }
}
