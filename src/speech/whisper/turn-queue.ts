export type Urgency = "awaited" | "ahead";

interface Lane<T> {
  readonly caller: object | string;
  readonly waiting: T[];
}

/** After so many awaited jobs in a row, one that nobody waits for yet gets its turn. */
const AWAITED_IN_A_ROW_MAX = 3;

/**
 * Jobs of many callers. Callers take turns, whatever the number of their jobs; what somebody waits for goes first, but
 * not for ever.
 */
export class TurnQueue<T> {
  readonly #lanes: Readonly<Record<Urgency, Lane<T>[]>> = { awaited: [], ahead: [] };
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

  /** `caller` null: one that is like no other. May exceed the limit, which is for whoever calls to keep. */
  add(job: T, caller: string | null, urgency: Urgency): void {
    const lanes = this.#lanes[urgency];
    const lane = caller === null ? undefined : lanes.find((known) => known.caller === caller);
    if (lane === undefined) lanes.push({ caller: caller ?? {}, waiting: [job] });
    else lane.waiting.push(job);
    this.#size += 1;
  }

  /** Puts a job that was taken before back, in front of all others. */
  putBack(job: T): void {
    this.#lanes.awaited.unshift({ caller: {}, waiting: [job] });
    this.#size += 1;
  }

  /** The job whose turn it is; undefined where none waits. */
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

  /** False where the job does not wait here. */
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
