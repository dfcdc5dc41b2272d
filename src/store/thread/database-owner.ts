import { CompiledQuery, Kysely } from "kysely";
import { migrate } from "../database/migrate.ts";
import type { Database } from "../database/schema.ts";
import { sqliteDialect } from "../database/sqlite.ts";
import { SQLITE_RULES } from "../database/transaction-rules.ts";
import type { WriteJob, WriteOutcome } from "../runs/commit-plan.ts";
import { findForeignTail } from "../runs/event-log.ts";
import { type Chunk, chunkOfTail } from "../runs/run-tail.ts";
import { RunWriter } from "../runs/run-writer.ts";
import { countUsage } from "../upkeep/count-usage.ts";
import { type ErasureCursor, type ErasureStep, StoredErasure } from "../upkeep/erasure.ts";
import { type ExpiryCursor, type ExpiryStep, StoredExpiry } from "../upkeep/expiry.ts";
import { WorkerLease } from "../workers/worker-lease.ts";
import type { ClaimedRun, DatabaseCalls, Statement, StatementResult, UnmadeRun } from "./database-calls.ts";
import type { OwnWorkers } from "./own-workers.ts";
import { claimRuns, listUnmadeRuns } from "./run-claims.ts";

/** Plain data, because it is copied into the store thread. */
export interface DatabaseOptions {
  /** Path of the database, or `:memory:`. The file and its folder are created if they are missing. */
  readonly file: string;
  /** How long a write waits for a lock of another process, in milliseconds. */
  readonly lockWaitMs: number;
  /** `full`: a commit waits for the disk. `normal`: a power cut can lose the latest commits. */
  readonly sync: "normal" | "full";
  /** Whether the bytes stored for each owner are counted. */
  readonly countsUsage: boolean;
}

interface Health {
  /** Whether a statement has found damage. */
  isSpoilt: boolean;
}

/**
 * Owns the one connection to the database, and what must be beside it: the writer of runs and this worker's lease. The
 * store thread has one.
 */
export class DatabaseOwner implements DatabaseCalls {
  readonly #db: Kysely<Database>;
  readonly #lease: WorkerLease;
  readonly #writer: RunWriter;
  readonly #expiry: StoredExpiry;
  readonly #erasure: StoredErasure;
  readonly #health: Health;
  /** Resolves when all commits so far have ended. */
  #committed: Promise<unknown> = Promise.resolve();

  private constructor(db: Kysely<Database>, own: OwnWorkers, health: Health) {
    this.#db = db;
    this.#health = health;
    this.#lease = new WorkerLease(db, own);
    this.#writer = new RunWriter(db, this.#lease, SQLITE_RULES);
    this.#expiry = new StoredExpiry(db, SQLITE_RULES);
    this.#erasure = new StoredErasure(db, SQLITE_RULES);
  }

  /** Opens the database and brings its tables up to date. */
  static async open({ file, lockWaitMs, sync, countsUsage }: DatabaseOptions, own: OwnWorkers): Promise<DatabaseOwner> {
    const health: Health = { isSpoilt: false };
    const onSpoilt = (): void => {
      health.isSpoilt = true;
    };
    const db = new Kysely<Database>({ dialect: sqliteDialect(file, { lockWaitMs, sync, onSpoilt }) });
    try {
      await migrate(db);
      if (countsUsage) await countUsage(db);
    } catch (error) {
      await db.destroy();
      throw error;
    }
    return new DatabaseOwner(db, own, health);
  }

  async isSound(): Promise<boolean> {
    await this.#db.selectFrom("workers").select("id").limit(1).execute();
    return !this.#health.isSpoilt;
  }

  /** Needs no locks: all statements run one after the other. */
  async query({ sql, parameters }: Statement, _lockName?: string): Promise<StatementResult> {
    const { rows, numAffectedRows, insertId } = await this.#db.executeQuery<never>(
      CompiledQuery.raw(sql, [...parameters]),
    );
    return { rows, numAffectedRows, insertId };
  }

  async transact([condition, ...others]: readonly Statement[]): Promise<readonly bigint[] | null> {
    if (condition === undefined) return [];
    return await this.#db.transaction().execute(async (transaction) => {
      const changed = [await runStatement(transaction, condition)];
      if (changed[0] === 0n) return null;
      for (const statement of others) changed.push(await runStatement(transaction, statement));
      return changed;
    });
  }

  commit(jobs: readonly WriteJob[]): Promise<readonly WriteOutcome[]> {
    const commit = this.#committed.then(() => this.#writer.commit(jobs));
    this.#committed = commit.catch(() => {});
    return commit;
  }

  async findTail(responseId: string): Promise<Chunk | null> {
    await this.#writer.recover();
    const own = this.#writer.findTail(responseId);
    return own === null ? await findForeignTail(this.#db, responseId) : chunkOfTail(own);
  }

  workerNumber(): Promise<number> {
    return this.#lease.number();
  }

  async renewLease(): Promise<boolean> {
    return await this.#lease.renew(await this.#lease.number());
  }

  async findDeadWorkers(): Promise<readonly number[]> {
    return await this.#lease.findDead(this.#db, await this.#lease.number());
  }

  listUnmadeRuns(): Promise<readonly UnmadeRun[]> {
    return listUnmadeRuns(this.#db, this.#lease, SQLITE_RULES);
  }

  claimRuns(ids: readonly string[]): Promise<readonly ClaimedRun[]> {
    return claimRuns(this.#db, this.#lease, ids);
  }

  deleteExpired(before: number, cursor: ExpiryCursor | null): Promise<ExpiryStep> {
    return this.#expiry.deleteExpired(before, cursor);
  }

  eraseUnused(cursor: ErasureCursor): Promise<ErasureStep> {
    return this.#erasure.eraseUnused(cursor);
  }

  async close(): Promise<void> {
    try {
      await this.#lease.resign();
    } finally {
      await this.#db.destroy();
    }
  }
}

/** Resolves to the number of changed rows. */
async function runStatement(db: Kysely<Database>, { sql, parameters }: Statement): Promise<bigint> {
  const { numAffectedRows } = await db.executeQuery(CompiledQuery.raw(sql, [...parameters]));
  return numAffectedRows ?? 0n;
}
