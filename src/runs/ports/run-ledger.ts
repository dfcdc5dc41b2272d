import type { Response } from "../../../generated/responses-api/types.ts";
import type { Owner } from "./owner.ts";
import type { TurnAttempts } from "./store-faults.ts";

/** A run that no living worker makes, as it stands in a list. */
export interface UnmadeRun {
  readonly responseId: string;
  /** `queue`: it was released, or waits to be begun; `dead`: its worker is dead; `own`: this worker holds it. */
  readonly from: "queue" | "dead" | "own";
  /** Whether a model will be asked for it, so that it needs a place. The others only have to be ended. */
  readonly needsPlace: boolean;
  /** The version of its task; null if it has none that says one. */
  readonly taskVersion: number | null;
}

/** The runs that no living worker makes. */
export interface UnmadeRuns {
  /** Those that only have to be ended, and then the others, in turn for each owner. */
  readonly runs: readonly UnmadeRun[];
  /** How many workers live, this one included. */
  readonly workers: number;
  /** The latest version of tasks that one of them can read. */
  readonly taskVersion: number;
}

/** A run that this worker has claimed. */
export interface AbandonedRun extends Pick<UnmadeRun, "from"> {
  readonly owner: Owner;
  readonly response: Response;
  /** Null if the run cannot be restarted. */
  readonly task: string | null;
  /** How often the run was restarted since its latest step, and was not released cleanly. */
  readonly restarts: number;
  /** How many steps had ended at the latest restart. */
  readonly restartSteps: number;
  /** The failed attempts at its turn, if it was suspended. */
  readonly attempts: TurnAttempts | null;
}

/** How a run is given up. */
export interface Release {
  /** Whether it was being made here, and not only waiting. That was no restart that failed. */
  readonly hadBegun: boolean;
  /** How long nobody may go on with it, in milliseconds; null if anybody may at once. */
  readonly pauseMs?: number | null;
  readonly attempts?: TurnAttempts | null;
}

/**
 * Records which worker holds which run. A worker is one server process; it holds its runs as long as it renews its
 * lease. Its number is unique and stands in every row it may change, so writes after it lost a run have no effect.
 */
export interface RunLedger {
  /**
   * Lists the runs whose worker is dead or that no worker holds, and runs of this worker for which `isHere` is false.
   * `isHere` must return true from before a run is stored until after its end is stored. Leaves out suspended runs
   * whose time has not come.
   */
  listUnmade(isHere: (responseId: string) => boolean): Promise<UnmadeRuns>;
  /** Claims those of these runs that nobody makes, still. */
  claim(runs: readonly UnmadeRun[]): Promise<readonly AbandonedRun[]>;
  /** How many background runs wait for a worker that has room for them. */
  countWaiting(): Promise<number>;
  /** The ids of the runs that this worker holds. */
  listHeld(): Promise<readonly string[]>;
  /** Adds one to the restarts of a run, which begin at 1 again if more steps have ended than at the latest one. */
  countRestart(responseId: string, steps: number): Promise<void>;
  /** Gives up a run, so that any worker can claim it. */
  release(responseId: string, release: Release): Promise<void>;
  /** Renews the lease for another term. Returns false if it had expired and the worker has lost all its runs. */
  renewLease(): Promise<boolean>;
  /** Asks the worker that holds the run to cancel it. */
  requestStop(responseId: string): Promise<void>;
  /** The ids of this worker's runs that somebody asked to cancel. */
  listStopRequests(): Promise<readonly string[]>;
}
