import { setTimeout as sleep } from "node:timers/promises";
import { StoreBusy, StoreStopped } from "../../../runs/ports.ts";

/** The first pause before a write is tried again, and the longest one, in milliseconds. */
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 1_000;

/** The writes of one run that wait for the store. */
interface Lane {
  /** When the first of them is given up. */
  readonly until: number;
  /** Settles as the last of them does. */
  last: Promise<unknown>;
}

/**
 * Tries writes of runs again while the store is away or locked, those of one run in their order. A run that may be lost
 * to another worker by then is left.
 */
export class PatientWrites {
  readonly #patienceMs: number;
  readonly #lanes = new Map<string, Lane>();

  /** `patienceMs`: for how long a run waits, from the first write that fails. */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** Rejects with `StoreStopped` if the store stays away for too long. */
  async write<Outcome>(responseId: string, write: () => Promise<Outcome>): Promise<Outcome> {
    if (this.#lanes.has(responseId)) return await this.#wait(responseId, write);
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
      return await this.#wait(responseId, write);
    }
  }

  async #wait<Outcome>(responseId: string, write: () => Promise<Outcome>): Promise<Outcome> {
    const lane = this.#lanes.get(responseId) ?? { until: performance.now() + this.#patienceMs, last: DONE };
    this.#lanes.set(responseId, lane);
    const written = lane.last.then(() => tryUntil(lane.until, write)); // If one is given up, so are those behind it.
    lane.last = written;
    try {
      return await written;
    } finally {
      if (lane.last === written) this.#lanes.delete(responseId);
    }
  }
}

const DONE: Promise<unknown> = Promise.resolve();

async function tryUntil<Outcome>(until: number, write: () => Promise<Outcome>): Promise<Outcome> {
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * 2)) {
    await sleep(pauseMs);
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
      if (performance.now() < until) continue;
      throw new StoreStopped("the store is away, and it is unknown what it has stored", { cause: error });
    }
  }
}
