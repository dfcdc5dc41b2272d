import type { Run } from "./run.ts";

/** A kill, or an outage of the database. */
export interface Fault {
  readonly kind: "kill" | "outage";
  /** Whether the node stayed away, so that the other one had to go on. */
  readonly isAway: boolean;
  /** The node that was killed; null if all were concerned. */
  readonly node: string | null;
  readonly beganAt: number;
  /** When the database was back; for a kill, when the process was gone. */
  readonly at: number;
  /** The runs that were not over when it began, and what their readers had seen. */
  readonly found: readonly FoundRun[];
}

export interface FoundRun {
  readonly run: Run;
  readonly phase: Run["shown"]["phase"];
  /** The number of the last event. */
  readonly shownTo: number;
}

/** What befalls the nodes while runs are under way. */
export class Trouble {
  readonly faults: Fault[] = [];
  #isUnderWay = false;
  #calmSince = Date.now();

  /** When all nodes began to work; null while they do not. */
  get calmSince(): number | null {
    return this.#isUnderWay ? null : this.#calmSince;
  }

  /** Lets something befall the nodes that concerns these runs. */
  async during(fault: () => Promise<Fault>): Promise<void> {
    this.#isUnderWay = true;
    try {
      this.faults.push(await fault());
    } finally {
      this.#isUnderWay = false;
      this.#calmSince = Date.now();
    }
  }
}

/** The runs that are not over, as a fault finds them. */
export function findRuns(runs: readonly Run[]): readonly FoundRun[] {
  return runs
    .filter(({ isOver, id }) => !isOver && id !== null)
    .map((run) => ({ run, phase: run.shown.phase, shownTo: run.shown.last?.number ?? -1 }));
}
