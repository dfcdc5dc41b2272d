import type { RecordedEvent } from "../recorded-event.ts";
import type { Subscription } from "./live-feed.ts";

/**
 * The other processes that share the database, as known from messages. Messages may be lost, so everything they
 * announce is also polled from the database, a second later.
 */
export interface Neighbours {
  /**
   * The events above `after` of another process's run, in order and perhaps with gaps; the log has the events in gaps.
   * Ends when this process is done with the run, or when nobody makes it any more. The caller has read the log up to
   * `after`.
   */
  subscribe(responseId: string, after: number): Subscription;
  /** Resolves once the database has what other processes have shown so far of their runs. */
  settle(): Promise<void>;
  /** Resolves when another process's run may have ended, or when `signal` aborts. */
  waitForEnd(responseId: string, signal: AbortSignal): Promise<void>;
  /** Notifies the process that makes a run to check for a requested cancel or a delete. */
  tellStop(responseId: string): void;
  /** Notifies all processes with room to check for runs that nobody makes. */
  tellWork(): void;
  /** Announces that this process makes these runs from now on. */
  tellTaken(responseIds: readonly string[]): void;
}

/** Which worker makes a run, and how far it is stored. */
export interface RunPlace {
  readonly responseId: string;
  /** The worker that makes it; null if it is waiting or over. */
  readonly worker: number | null;
  readonly isOver: boolean;
  /** The number of the last event in a chunk; −1 if none is. */
  readonly chunkedTo: number;
}

/** Recently stored events of a worker. */
export interface JournalPage {
  /** The page's end position in the worker's journal. */
  readonly position: number;
  readonly runs: readonly JournaledRun[];
}

interface JournaledRun {
  readonly responseId: string;
  readonly events: readonly RecordedEvent[];
}

/** The database's record of other workers' runs. */
export interface RunPlaces {
  /** The number of this worker. It changes after the worker loses its lease. */
  ownWorker(): Promise<number>;
  /** The places of the stored ones among these responses. */
  find(responseIds: readonly string[]): Promise<readonly RunPlace[]>;
  /** Resolves once the database has what other workers have shown so far, or after two seconds. */
  settle(): Promise<void>;
  /**
   * The events of these runs in a worker's journal after a position; −1 is its beginning. Older events are in chunks.
   */
  readJournal(worker: number, position: number, responseIds: ReadonlySet<string>): AsyncIterable<JournalPage>;
}
