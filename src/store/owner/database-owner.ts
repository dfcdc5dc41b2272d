import { CompiledQuery, type Kysely } from "kysely";
import type { Database } from "../database/schema.ts";
import type { TransactionRules } from "../database/transaction-rules.ts";
import { type Chunk, chunkOfTail } from "../rows/events/run-tail.ts";
import { findForeignTail } from "../rows/runs/read-stored-events.ts";
import type { RedoPart, WriteJob, WriteOutcome } from "../rows/runs/write-job.ts";
import type { ClaimedRun, DatabaseCalls, Statement, StatementResult, UnmadeRow } from "./database-calls.ts";
import { claimRuns, listUnmadeRuns } from "./run-claims.ts";
import { RunWriter } from "./run-writer.ts";
import { type ErasureCursor, type ErasureStep, StoredErasure } from "./upkeep/erasure.ts";
import { type ExpiryCursor, type ExpiryStep, StoredExpiry } from "./upkeep/expiry.ts";
import type { Lease } from "./workers/lease.ts";

export interface OwnedDatabase<OwnLease extends Lease> {
  readonly db: Kysely<Database>;
  /** For the commits of runs. May be the same as `db`. */
  readonly writes: Kysely<Database>;
  readonly lease: OwnLease;
  readonly rules: TransactionRules;
}

/** The common part of both databases: statements, the writer of runs, and the lease of this worker. */
export abstract class DatabaseOwner<OwnLease extends Lease = Lease> implements DatabaseCalls {
  readonly db: Kysely<Database>;
  protected readonly lease: OwnLease;
  readonly #rules: TransactionRules;
  readonly #writer: RunWriter;
  readonly #expiry: StoredExpiry;
  readonly #erasure: StoredErasure;
  /** Resolves when all commits so far have ended. */
  #lastCommit: Promise<unknown> = Promise.resolve();

  protected constructor({ db, writes, lease, rules }: OwnedDatabase<OwnLease>) {
    this.db = db;
    this.lease = lease;
    this.#rules = rules;
    this.#writer = new RunWriter(writes, lease, rules);
    this.#expiry = new StoredExpiry(db, rules);
    this.#erasure = new StoredErasure(db, rules);
  }

  abstract isSound(): Promise<boolean>;
  abstract query(statement: Statement, lockName?: string): Promise<StatementResult>;
  abstract close(): Promise<void>;

  /** For statements only: a database in which transactions can fail may repeat them. */
  protected transaction<Result>(work: (transaction: Kysely<Database>) => Promise<Result>): Promise<Result> {
    return this.db.transaction().execute(work);
  }

  async transact([condition, ...others]: readonly Statement[]): Promise<readonly bigint[] | null> {
    if (condition === undefined) return [];
    return await this.transaction(async (transaction) => {
      const counts = [await runStatement(transaction, condition)];
      if (counts[0] === 0n) return null;
      for (const statement of others) counts.push(await runStatement(transaction, statement));
      return counts;
    });
  }

  commit(jobs: readonly WriteJob[], redo: RedoPart | null = null): Promise<readonly WriteOutcome[]> {
    const commit = this.#lastCommit.then(() => this.#writer.commit(jobs, redo));
    this.#lastCommit = commit.catch(() => {});
    return commit;
  }

  async findTail(responseId: string): Promise<Chunk | null> {
    await this.#writer.recover();
    const own = this.#writer.findTail(responseId);
    return own === null ? await findForeignTail(this.db, responseId) : chunkOfTail(own);
  }

  workerNumber(): Promise<number> {
    return this.lease.number();
  }

  async renewLease(): Promise<boolean> {
    return await this.lease.renew(await this.lease.number());
  }

  async findDeadWorkers(): Promise<readonly number[]> {
    return await this.lease.findDead(this.db, await this.lease.number());
  }

  listUnmadeRuns(): Promise<readonly UnmadeRow[]> {
    return listUnmadeRuns(this.db, this.lease, this.#rules);
  }

  async claimRuns(ids: readonly string[]): Promise<readonly ClaimedRun[]> {
    const claims = await claimRuns(this.db, this.lease, ids);
    this.#writer.takeUp(ids);
    return claims;
  }

  deleteExpired(before: number, cursor: ExpiryCursor | null): Promise<ExpiryStep> {
    return this.#expiry.deleteExpired(before, cursor);
  }

  eraseUnused(cursor: ErasureCursor): Promise<ErasureStep> {
    return this.#erasure.eraseUnused(cursor);
  }
}

/** Resolves to the number of changed rows. */
async function runStatement(db: Kysely<Database>, { sql, parameters }: Statement): Promise<bigint> {
  const { numAffectedRows } = await db.executeQuery(CompiledQuery.raw(sql, [...parameters]));
  return numAffectedRows ?? 0n;
}
