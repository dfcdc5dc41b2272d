import type { RecordedEvent } from "../recorded-event.ts";
import type { Subscription } from "./live-feed.ts";

/**
 * The other processes that serve the same database, as far as messages between them tell. Messages may be lost, so
 * whatever depends on them is also found in the database, a second later.
 */
export interface Neighbours {
  /**
   * The events above `after` of a run that another process makes, in order and perhaps with gaps; events in gaps are in
   * the log. Ends when that process is done with the run, or nobody makes it any more. The caller has read the log up
   * to `after`.
   */
  subscribe(responseId: string, after: number): Subscription;
  /** Resolves when a run may have ended that another process makes, or when `signal` aborts. */
  waitForEnd(responseId: string, signal: AbortSignal): Promise<void>;
  /** The process that makes a run looks now whether the run was asked to stop or was deleted. */
  tellStop(responseId: string): void;
  /** Everyone with room looks now for runs that nobody makes. */
  tellWork(): void;
  /** This process makes these runs from now on. */
  tellTaken(responseIds: readonly string[]): void;
}

/** Who makes a run, and how far it is stored. */
export interface RunPlace {
  readonly responseId: string;
  /** The worker that makes it; null if it waits for one, or is over. */
  readonly worker: number | null;
  readonly isOver: boolean;
  /** The number of the last event that is in a chunk; −1 if none is. */
  readonly chunkedTo: number;
}

/** Events that a worker has stored lately. */
export interface JournalPage {
  /** Where in the worker's journal the page ends. */
  readonly position: number;
  readonly runs: readonly JournaledRun[];
}

interface JournaledRun {
  readonly responseId: string;
  readonly events: readonly RecordedEvent[];
}

/** What the database says about the runs of other workers. */
export interface RunPlaces {
  /** The number of this worker. It changes when the worker has lost its lease. */
  ownWorker(): Promise<number>;
  /** The places of those of these responses that are stored. */
  find(responseIds: readonly string[]): Promise<readonly RunPlace[]>;
  /**
   * The events of these runs in the journal of a worker, behind a position; −1 is its beginning. Older events are in
   * chunks.
   */
  readJournal(worker: number, position: number, responseIds: ReadonlySet<string>): AsyncIterable<JournalPage>;
}
