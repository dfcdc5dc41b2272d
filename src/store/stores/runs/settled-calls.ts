import { setTimeout as sleep } from "node:timers/promises";
import type { ClaimedRun, DatabaseCalls, Statement, StatementResult, UnmadeRow } from "../../owner/database-calls.ts";
import type { ErasureCursor, ErasureStep } from "../../owner/upkeep/erasure.ts";
import type { ExpiryCursor, ExpiryStep } from "../../owner/upkeep/expiry.ts";
import type { Chunk } from "../../rows/events/run-tail.ts";
import type { RedoPart, WriteJob, WriteOutcome } from "../../rows/runs/write-job.ts";

/** The tables that logged changes of runs go to. */
const TABLES_OF_RUNS = /\b(?:responses|items|event_chunks|event_journal)\b/;

/** How long a list waits for logged changes, in milliseconds. */
const LIST_WAIT_MS = 500;

/** A condition on the id of a response. */
const BY_RESPONSE_ID = 'substr("responses"."id"';

/** The changes in redo logs. */
export interface LoggedChanges {
  /** Resolves once those of this process are stored; undefined if they are. */
  settle(): Promise<void> | undefined;
  /** Whether a change of this response in this process is not stored yet. */
  isUnstored(responseId: string): boolean;
  /** Resolves once those of the other processes are stored; to false if there are none. */
  settleOthers(): Promise<boolean>;
}

/**
 * Calls that find everything this process has shown: before a call that concerns runs, its changes in the redo log are
 * stored. What other processes have shown is waited for if a response cannot be found.
 */
export class SettledCalls implements DatabaseCalls {
  readonly #calls: DatabaseCalls;
  readonly #changes: LoggedChanges;

  constructor(calls: DatabaseCalls, changes: LoggedChanges) {
    this.#calls = calls;
    this.#changes = changes;
  }

  query(statement: Statement, lockName?: string): Promise<StatementResult> {
    return TABLES_OF_RUNS.test(statement.sql)
      ? this.#queryRuns(statement, lockName)
      : this.#calls.query(statement, lockName);
  }

  async #queryRuns(statement: Statement, lockName?: string): Promise<StatementResult> {
    const { sql, parameters } = statement;
    if (!sql.includes(BY_RESPONSE_ID)) {
      await this.#settleInTime();
      return await this.#calls.query(statement, lockName);
    }
    const isUnstored = parameters.some((value) => typeof value === "string" && this.#changes.isUnstored(value));
    if (isUnstored) await this.#changes.settle();
    const result = await this.#calls.query(statement, lockName);
    if (hasFound(result)) return result;
    return (await this.#changes.settleOthers()) ? await this.#calls.query(statement, lockName) : result;
  }

  #settle(): Promise<void> | undefined {
    return this.#changes.settle();
  }

  /** While the database is locked, lists show what is in it. */
  async #settleInTime(): Promise<void> {
    const settling = this.#changes.settle();
    if (settling === undefined) return;
    const waiting = new AbortController();
    const tooLate = sleep(LIST_WAIT_MS, undefined, { signal: waiting.signal });
    await Promise.race([settling, tooLate]).catch(() => {});
    tooLate.catch(() => {}); // It is stopped now.
    waiting.abort();
    settling.catch(() => {});
  }

  async transact(statements: readonly Statement[]): Promise<readonly bigint[] | null> {
    if (statements.some(({ sql }) => TABLES_OF_RUNS.test(sql))) await this.#settle();
    return await this.#calls.transact(statements);
  }

  async findTail(responseId: string): Promise<Chunk | null> {
    if (this.#changes.isUnstored(responseId)) await this.#settle();
    return await this.#calls.findTail(responseId);
  }

  async listUnmadeRuns(): Promise<readonly UnmadeRow[]> {
    await this.#settle();
    return await this.#calls.listUnmadeRuns();
  }

  async claimRuns(ids: readonly string[]): Promise<readonly ClaimedRun[]> {
    await this.#settle();
    return await this.#calls.claimRuns(ids);
  }

  async deleteExpired(before: number, cursor: ExpiryCursor | null): Promise<ExpiryStep> {
    await this.#settle();
    return await this.#calls.deleteExpired(before, cursor);
  }

  async eraseUnused(cursor: ErasureCursor): Promise<ErasureStep> {
    await this.#settle();
    return await this.#calls.eraseUnused(cursor);
  }

  commit(jobs: readonly WriteJob[], redo?: RedoPart | null): Promise<readonly WriteOutcome[]> {
    return this.#calls.commit(jobs, redo);
  }

  isSound(): Promise<boolean> {
    return this.#calls.isSound();
  }

  workerNumber(): Promise<number> {
    return this.#calls.workerNumber();
  }

  renewLease(): Promise<boolean> {
    return this.#calls.renewLease();
  }

  findDeadWorkers(): Promise<readonly number[]> {
    return this.#calls.findDeadWorkers();
  }

  close(): Promise<void> {
    return this.#calls.close();
  }
}

function hasFound({ rows, numAffectedRows = 0n }: StatementResult): boolean {
  return rows.length > 0 || numAffectedRows > 0n;
}
