import type { Chunk } from "../rows/events/run-tail.ts";
import type { RedoPart, WriteJob, WriteOutcome } from "../rows/runs/write-job.ts";
import type { ErasureCursor, ErasureStep } from "./upkeep/erasure.ts";
import type { ExpiryCursor, ExpiryStep } from "./upkeep/expiry.ts";

/** One SQL statement. Each parameter is text, a number, bytes or null. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export interface StatementResult {
  /** `never`, because only the author of the statement knows their shape. */
  readonly rows: never[];
  readonly numAffectedRows: bigint | undefined;
  readonly insertId: bigint | undefined;
}

/** A live run that no other living worker holds. */
export interface UnmadeRow {
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  /** Whether a model will be called for it: 0 or 1. */
  readonly needsPlace: number;
  /** The beginning of its task, with its version; null if it cannot be restarted. */
  readonly taskHead: string | null;
  /** Its last worker; null if it was released. */
  readonly worker: number | null;
}

/** A run that this worker has just claimed. */
export interface ClaimedRun {
  readonly organization: string;
  readonly project: string;
  /** The latest snapshot as JSON. */
  readonly body: string;
  readonly task: string | null;
  readonly restarts: number;
  readonly restart_steps: number;
  /** JSON. */
  readonly turn_attempts: string | null;
  /** What clients ask of it: 1 for a stop, 2 for a pause and 4 for input, added up. */
  readonly requests: number;
}

/**
 * Operations that need the owner of the database's connection: single statements, and work that needs a transaction or
 * the worker's state. Arguments and results are plain data, because they are copied between threads. Besides the
 * documented errors, calls reject with `StoreBusy`, `StoreSpoilt`, or with `StoreStopped` if the owner ends before it
 * responds.
 */
export interface DatabaseCalls {
  /** Returns false if the database is damaged; rejects if it does not respond. */
  isSound(): Promise<boolean>;
  /**
   * Statements with the same lock name run one after the other, each after the previous commit. In SQLite, all
   * statements do.
   */
  query(statement: Statement, lockName?: string): Promise<StatementResult>;
  /**
   * Runs statements in one transaction and resolves to the number of changed rows of each. The first is a condition: if
   * it changes no row, nothing is changed, and the result is null.
   */
  transact(statements: readonly Statement[]): Promise<readonly bigint[] | null>;
  /**
   * Stores all jobs in order, or none. A commit begins after all earlier ones have ended. `redo`: the jobs that are in
   * the redo log, if there are any. Rejects with `StoreBusy` if an earlier part of the log is not stored.
   */
  commit(jobs: readonly WriteJob[], redo?: RedoPart | null): Promise<readonly WriteOutcome[]>;
  /** The events of a live run that are in no chunk yet, whichever worker makes it; null if there are none. */
  findTail(responseId: string): Promise<Chunk | null>;
  /** The number of this worker. */
  workerNumber(): Promise<number>;
  /** Returns false if the lease had expired and another worker has removed this one. */
  renewLease(): Promise<boolean>;
  findDeadWorkers(): Promise<readonly number[]>;
  /** Removes dead workers and lists the runs without a living worker, oldest first, including this worker's own. */
  listUnmadeRuns(): Promise<readonly UnmadeRow[]>;
  /** Assigns the runs of this list that are still live and unmade to this worker. */
  claimRuns(ids: readonly string[]): Promise<readonly ClaimedRun[]>;
  deleteExpired(before: number, cursor: ExpiryCursor | null): Promise<ExpiryStep>;
  eraseUnused(cursor: ErasureCursor): Promise<ErasureStep>;
  /** Removes this worker from the list and closes the database. No call is allowed afterwards. */
  close(): Promise<void>;
}
