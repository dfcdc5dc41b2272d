import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { TurnAttempts } from "./store-faults.ts";

/** What clients ask of a run, as stored. */
export interface RunRequests {
  readonly responseId: string;
  /** Whether to cancel it. */
  readonly stops: boolean;
  /** Whether to pause it before the next turn of its model. */
  readonly pauses: boolean;
  /** Whether input waits for it to end, so that it ends before the next turn of its model. */
  readonly isSteered: boolean;
}

/** A run without a live worker, as listed. */
export interface UnmadeRun {
  readonly responseId: string;
  /** `queue`: it was released or is waiting to start; `dead`: its worker is dead; `own`: this worker holds it. */
  readonly from: "queue" | "dead" | "own";
  /** Whether a model will be called for it, so that it needs a place. Other runs only need to be ended. */
  readonly needsPlace: boolean;
  /** The version of its task; null if the task has none. */
  readonly taskVersion: number | null;
}

/** The runs without a live worker. */
export interface UnmadeRuns {
  /** First the runs that only need to be ended, then the others, alternating between owners. */
  readonly runs: readonly UnmadeRun[];
  /** The number of live workers, this one included. */
  readonly workers: number;
  /** The latest version of tasks that any of them can read. */
  readonly taskVersion: number;
}

/** A run that this worker has claimed. */
export interface AbandonedRun extends Pick<UnmadeRun, "from"> {
  readonly owner: Owner;
  readonly response: Response;
  /** Null if the run cannot be restarted. */
  readonly task: string | null;
  /** How often the run was restarted since its latest step without a clean release. */
  readonly restarts: number;
  /** The number of completed steps at the latest restart. */
  readonly restartSteps: number;
  /** The failed attempts at its turn, if it was suspended. */
  readonly attempts: TurnAttempts | null;
  /** What clients ask of it. If it is paused and not stopped, it is only to be released. */
  readonly requests: RunRequests;
}

/** How a run is released. */
export interface Release {
  /** Whether the run had started here. A release before the start does not count as a failed restart. */
  readonly hadBegun: boolean;
  /** How long nobody may continue it, in milliseconds; null for no pause. */
  readonly pauseMs?: number | null;
  readonly attempts?: TurnAttempts | null;
}

/**
 * Records which worker holds which run. A worker is one server process; it holds its runs as long as it renews its
 * lease. Its number is unique and part of every row that it may change, so writes have no effect after it loses a run.
 */
export interface RunLedger {
  /**
   * Lists the runs that are held by a dead worker or by none, and runs of this worker for which `isHere` is false.
   * `isHere` must return true from before a run is stored until after its end is stored. Leaves out suspended runs that
   * are not due, and paused ones.
   */
  listUnmade(isHere: (responseId: string) => boolean): Promise<UnmadeRuns>;
  /** Claims the runs of this list that still have no live worker. */
  claim(runs: readonly UnmadeRun[]): Promise<readonly AbandonedRun[]>;
  /** The number of background runs waiting for a worker with room. */
  countWaiting(): Promise<number>;
  /** The ids of the runs that this worker holds. */
  listHeld(): Promise<readonly string[]>;
  /**
   * Increments the restarts of a run. Counting starts again at 1 if more steps have ended than at the latest restart.
   */
  countRestart(responseId: string, steps: number): Promise<void>;
  /** Releases a run, so that any worker can claim it. */
  release(responseId: string, release: Release): Promise<void>;
  /** Renews the lease for another term. Returns false if it had expired and the worker has lost all its runs. */
  renewLease(): Promise<boolean>;
  /** Requests a cancel from the worker that holds the run. */
  requestStop(responseId: string): Promise<void>;
  /** Pauses a live background run. Returns false if there is none. */
  requestPause(responseId: string): Promise<boolean>;
  /** Ends the pause of a live background run. Returns false if there is none. */
  requestResume(responseId: string): Promise<boolean>;
  /** Requests a cancel of the runs that were paused before this time, in Unix seconds. Returns their ids. */
  stopPaused(before: number): Promise<readonly string[]>;
  /** What clients ask of this worker's runs; runs of which nothing is asked are left out. */
  listRequests(): Promise<readonly RunRequests[]>;
}
