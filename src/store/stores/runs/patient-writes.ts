import { setTimeout as sleep } from "node:timers/promises";
import { StoreBusy, StoreStopped } from "../../../runs/ports/store-faults.ts";
import type { WriteOutcome } from "../../rows/runs/write-job.ts";

/** The first pause before a write is tried again, and the longest one, in milliseconds. */
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 1_000;

type Write = () => Promise<WriteOutcome>;

/** The writes of one run that are under way, in the order in which they were asked for. */
interface Lane {
  count: number;
  /** How many of them wait for the store, or for those before them. */
  waiting: number;
  /** Settles as the latest of them does. */
  last: Promise<unknown>;
  /** When those that wait are given up. */
  until: number;
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
  async write(responseId: string, write: Write): Promise<WriteOutcome> {
    const lane = this.#laneOf(responseId);
    const before = lane.last;
    const written = lane.waiting === 0 ? this.#tryFirst(lane, before, write) : this.#writeBehind(lane, before, write);
    lane.last = written;
    lane.count += 1;
    try {
      return await written;
    } finally {
      lane.count -= 1;
      if (lane.count === 0) this.#lanes.delete(responseId);
    }
  }

  #laneOf(responseId: string): Lane {
    const known = this.#lanes.get(responseId);
    if (known !== undefined) return known;
    const lane: Lane = { count: 0, waiting: 0, last: DONE, until: 0 };
    this.#lanes.set(responseId, lane);
    return lane;
  }

  /** At once: a write may share a commit with those before it. */
  async #tryFirst(lane: Lane, before: Promise<unknown>, write: Write): Promise<WriteOutcome> {
    let isAway = false;
    try {
      const outcome = await write();
      if (lane.waiting === 0 || (outcome !== "out_of_order" && outcome !== "unchanged")) return outcome;
      // One before it waits for the store, and this one has found the store back.
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
      isAway = true;
    }
    return await this.#writeBehind(lane, before, write, isAway ? PAUSE_MS : 0);
  }

  /** Once those before it are stored. If one of them is given up, so is this one. */
  async #writeBehind(lane: Lane, before: Promise<unknown>, write: Write, pauseMs = 0): Promise<WriteOutcome> {
    if (lane.waiting === 0) lane.until = performance.now() + this.#patienceMs;
    lane.waiting += 1;
    try {
      if (pauseMs > 0) await sleep(pauseMs);
      await before;
      return await tryUntil(lane.until, write);
    } finally {
      lane.waiting -= 1;
    }
  }
}

const DONE: Promise<unknown> = Promise.resolve();

async function tryUntil(until: number, write: Write): Promise<WriteOutcome> {
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * 2)) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
      if (performance.now() > until)
        throw new StoreStopped("the store is away, and it is unknown what it has stored", { cause: error });
    }
    await sleep(pauseMs);
  }
}
