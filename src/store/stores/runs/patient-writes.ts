import { setTimeout as sleep } from "node:timers/promises";
import { StoreBusy, StoreStopped } from "../../../runs/ports/store-faults.ts";
import type { WriteOutcome } from "../../rows/runs/write-job.ts";

/** The first and the longest pause before a write is retried, in milliseconds. */
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 1_000;

type Write = () => Promise<WriteOutcome>;

/** The pending writes of one run, in order. */
interface Lane {
  count: number;
  /** The number of writes that wait for the store or for earlier writes. */
  waiting: number;
  /** Settles once no write is under way. Rejects if one of them does. */
  last: Promise<unknown>;
  /** When waiting writes are given up. */
  until: number;
}

/**
 * Retries writes of runs while the store is down or locked, in order for each run. Gives up a run that another worker
 * may have taken by then.
 */
export class PatientWrites {
  readonly #patienceMs: number;
  readonly #lanes = new Map<string, Lane>();

  /** `patienceMs`: how long a run waits, from its first failed write. */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** Whether a write of this run is under way. */
  isWaiting(responseId: string): boolean {
    return this.#lanes.has(responseId);
  }

  /** Rejects with `StoreStopped` if the store stays down for too long. */
  async write(responseId: string, write: Write): Promise<WriteOutcome> {
    const lane = this.#laneOf(responseId);
    const before = lane.last;
    const outcome = lane.waiting === 0 ? this.#tryFirst(lane, before, write) : this.#writeBehind(lane, before, write);
    lane.last = lane.count === 0 ? outcome : bothOf(before, outcome);
    lane.count += 1;
    try {
      return await outcome;
    } finally {
      lane.count -= 1;
      if (lane.count === 0) this.#lanes.delete(responseId);
    }
  }

  #laneOf(responseId: string): Lane {
    const earlier = this.#lanes.get(responseId);
    if (earlier !== undefined) return earlier;
    const lane: Lane = { count: 0, waiting: 0, last: DONE, until: 0 };
    this.#lanes.set(responseId, lane);
    return lane;
  }

  /** At once: a write may share a commit with earlier ones. */
  async #tryFirst(lane: Lane, before: Promise<unknown>, write: Write): Promise<WriteOutcome> {
    let isAway = false;
    try {
      const outcome = await write();
      if (lane.waiting === 0 || (outcome !== "out_of_order" && outcome !== "unchanged")) return outcome;
      // An earlier write waits for the store, and this one has found it working again.
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
      isAway = true;
    }
    return await this.#writeBehind(lane, before, write, isAway ? PAUSE_MS : 0);
  }

  /** After the earlier writes are stored. If one is given up, so is this one. */
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

/** A write may be stored before an earlier one. */
function bothOf(earlier: Promise<unknown>, latest: Promise<unknown>): Promise<unknown> {
  const both = Promise.all([earlier, latest]);
  both.catch(() => {}); // Its writers are told.
  return both;
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
