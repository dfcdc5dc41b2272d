import type { ClaimedRun, DatabaseCalls, Statement, StatementResult, UnmadeRow } from "../../owner/database-calls.ts";
import type { ErasureCursor, ErasureStep } from "../../owner/upkeep/erasure.ts";
import type { ExpiryCursor, ExpiryStep } from "../../owner/upkeep/expiry.ts";
import type { Chunk } from "../../rows/events/run-tail.ts";
import type { RedoPart, WriteJob, WriteOutcome } from "../../rows/runs/write-job.ts";

/** The tables that logged changes of runs go to. */
const TABLES_OF_RUNS = /\b(?:responses|items|event_chunks|event_journal)\b/;

/** A condition on the id of a response. */
const BY_RESPONSE_ID = 'substr("responses"."id"';

/** The changes in redo logs. */
export interface LoggedChanges {
  /** Resolves once those of this process are stored; undefined if they are. */
  settle(): Promise<void> | undefined;
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
    await this.#settle();
    const result = await this.#calls.query(statement, lockName);
    if (!statement.sql.includes(BY_RESPONSE_ID) || hasFound(result)) return result;
    return (await this.#changes.settleOthers()) ? await this.#calls.query(statement, lockName) : result;
  }

  #settle(): Promise<void> | undefined {
    return this.#changes.settle();
  }

  async transact(statements: readonly Statement[]): Promise<readonly bigint[] | null> {
    if (statements.some(({ sql }) => TABLES_OF_RUNS.test(sql))) await this.#settle();
    return await this.#calls.transact(statements);
  }

  async findTail(responseId: string): Promise<Chunk | null> {
    await this.#settle();
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
