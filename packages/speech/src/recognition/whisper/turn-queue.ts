export type JobPriority = "awaited" | "ahead";

interface Lane<T> {
  readonly caller: object | string;
  readonly waiting: T[];
}

/** After this many consecutive awaited jobs, one of the others gets its turn. */
const AWAITED_IN_A_ROW_MAX = 3;

/**
 * A queue of jobs in which callers take turns, however many jobs each has. Awaited jobs go first, but cannot starve the
 * others.
 */
export class TurnQueue<T> {
  readonly #lanes: Readonly<Record<JobPriority, Lane<T>[]>> = { awaited: [], ahead: [] };
  readonly #jobsMax: number;
  #size = 0;
  #awaitedInARow = 0;

  constructor(jobsMax: number) {
    this.#jobsMax = jobsMax;
  }

  get isFull(): boolean {
    return this.#size >= this.#jobsMax;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a job even if the queue is full: check `isFull` first. Jobs with a null caller count as different callers. */
  add(job: T, caller: string | null, urgency: JobPriority): void {
    const lanes = this.#lanes[urgency];
    const lane = caller === null ? undefined : lanes.find((other) => other.caller === caller);
    if (lane === undefined) lanes.push({ caller: caller ?? {}, waiting: [job] });
    else lane.waiting.push(job);
    this.#size += 1;
  }

  /** Returns a taken job to the front of the queue. */
  putBack(job: T): void {
    this.#lanes.awaited.unshift({ caller: {}, waiting: [job] });
    this.#size += 1;
  }

  /** Removes and returns the job whose turn it is; undefined if the queue is empty. */
  take(): T | undefined {
    const { awaited, ahead } = this.#lanes;
    const isTurnOfAhead = awaited.length === 0 || (this.#awaitedInARow >= AWAITED_IN_A_ROW_MAX && ahead.length > 0);
    const lanes = isTurnOfAhead ? ahead : awaited;
    this.#awaitedInARow = isTurnOfAhead ? 0 : this.#awaitedInARow + 1;
    const lane = lanes.shift();
    const job = lane?.waiting.shift();
    if (lane === undefined || job === undefined) return undefined;
    if (lane.waiting.length > 0) lanes.push(lane);
    this.#size -= 1;
    return job;
  }

  /** Removes a job; false if it is not in the queue. */
  remove(job: T): boolean {
    for (const lanes of Object.values(this.#lanes)) {
      for (const [index, lane] of lanes.entries()) {
        const place = lane.waiting.indexOf(job);
        if (place === -1) continue;
        lane.waiting.splice(place, 1);
        if (lane.waiting.length === 0) lanes.splice(index, 1);
        this.#size -= 1;
        return true;
      }
    }
    return false;
  }
}
