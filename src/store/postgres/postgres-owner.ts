import { CompiledQuery, Kysely, sql } from "kysely";
import type { Pool } from "pg";
import { StoreBusy } from "../../responses-api/ports.ts";
import type { Database } from "../database/schema.ts";
import type { TransactionRules } from "../database/transaction-rules.ts";
import type { WriteJob, WriteOutcome } from "../runs/commit-plan.ts";
import { findForeignTail } from "../runs/event-log.ts";
import { type Chunk, chunkOfTail } from "../runs/run-tail.ts";
import { RunWriter } from "../runs/run-writer.ts";
import type { ClaimedRun, DatabaseCalls, Statement, StatementResult, UnmadeRun } from "../thread/database-calls.ts";
import { freePlace, type OwnWorkers, takePlace } from "../thread/own-workers.ts";
import { claimRuns, listUnmadeRuns } from "../thread/run-claims.ts";
import { type ErasureCursor, type ErasureStep, StoredErasure } from "../upkeep/erasure.ts";
import { type ExpiryCursor, type ExpiryStep, StoredExpiry } from "../upkeep/expiry.ts";
import { type DatabaseAddress, openPostgresPool } from "./connections.ts";
import { countPostgresUsage } from "./count-postgres-usage.ts";
import { checkTables, migratePostgres } from "./migrate-postgres.ts";
import { postgresDialect } from "./postgres-dialect.ts";
import { againAfterDeadlock } from "./postgres-faults.ts";
import { PostgresLease } from "./postgres-lease.ts";
import { postgresRules } from "./transaction-rules.ts";

export interface PostgresOptions extends DatabaseAddress {
  /** How many connections serve everything but commits and the lease, which have one each. */
  readonly poolMax: number;
  /** How long a lease lasts without renewal, in milliseconds. */
  readonly leaseMs: number;
  /** Whether the tables are brought up to date, or only looked at. */
  readonly migrates: boolean;
  /** Whether the bytes stored for each owner are counted. */
  readonly countsUsage: boolean;
}

/** The connections of one kind, and how many statements wait for one of them. */
export interface LaneLoad {
  readonly lane: "commits" | "lease" | "other";
  readonly busy: number;
  readonly idle: number;
  readonly waiting: number;
}

/**
 * What `DatabaseOwner` is for SQLite, over connections to PostgreSQL. Nothing of it blocks, so it needs no thread.
 * Commits have a connection of their own, and so has the lease: neither waits for what others ask.
 */
export class PostgresOwner implements DatabaseCalls {
  readonly db: Kysely<Database>;
  readonly #pools: Readonly<Record<LaneLoad["lane"], Pool>>;
  readonly #writes: Kysely<Database>;
  readonly #leases: Kysely<Database>;
  readonly #own: OwnWorkers;
  readonly #rules: TransactionRules;
  readonly #lease: PostgresLease;
  readonly #writer: RunWriter;
  readonly #expiry: StoredExpiry;
  readonly #erasure: StoredErasure;
  /** Resolves when all commits so far have ended. */
  #committed: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | null = null;

  private constructor(options: PostgresOptions) {
    this.#pools = {
      other: openPostgresPool(options, options.poolMax),
      commits: openPostgresPool(options, 1),
      lease: openPostgresPool(options, 1),
    };
    this.db = openDatabase(this.#pools.other);
    this.#writes = openDatabase(this.#pools.commits);
    this.#leases = openDatabase(this.#pools.lease);
    this.#own = takePlace();
    this.#rules = postgresRules(options.timeoutMs);
    this.#lease = new PostgresLease(this.#leases, this.#own, options.leaseMs, this.#rules.inserter);
    this.#writer = new RunWriter(this.#writes, this.#lease, this.#rules);
    this.#expiry = new StoredExpiry(this.db, this.#rules);
    this.#erasure = new StoredErasure(this.db, this.#rules);
  }

  /** Opens the connections, after the tables were brought up to date. Throws `UnfitTables` if they cannot be used. */
  static async open(options: PostgresOptions): Promise<PostgresOwner> {
    await (options.migrates ? migratePostgres(options.url) : checkTables(options));
    if (options.countsUsage) await countPostgresUsage(options.url);
    return new PostgresOwner(options);
  }

  /** How busy the connections are. */
  lanes(): readonly LaneLoad[] {
    return (["other", "commits", "lease"] as const).map((lane) => {
      const { totalCount, idleCount, waitingCount } = this.#pools[lane];
      return { lane, busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
    });
  }

  async isSound(): Promise<boolean> {
    await sql`select 1 from workers limit 1`.execute(this.db);
    return true;
  }

  async query({ sql: text, parameters }: Statement, lockName?: string): Promise<StatementResult> {
    const query = CompiledQuery.raw(text, [...parameters]);
    const { rows, numAffectedRows } =
      lockName === undefined
        ? await this.db.executeQuery<never>(query)
        : await this.#transaction(async (transaction) => {
            await sql`select pg_advisory_xact_lock(hashtextextended(${lockName}, 0))`.execute(transaction);
            return await transaction.executeQuery<never>(query);
          });
    return { rows, numAffectedRows, insertId: undefined };
  }

  async transact([condition, ...others]: readonly Statement[]): Promise<readonly bigint[] | null> {
    if (condition === undefined) return [];
    return await this.#transaction(async (transaction) => {
      const changed = [await runStatement(transaction, condition)];
      if (changed[0] === 0n) return null;
      for (const statement of others) changed.push(await runStatement(transaction, statement));
      return changed;
    });
  }

  /** For statements only, because it may be made again. */
  #transaction<Result>(work: (transaction: Kysely<Database>) => Promise<Result>): Promise<Result> {
    return againAfterDeadlock(() => this.db.transaction().execute(work));
  }

  commit(jobs: readonly WriteJob[]): Promise<readonly WriteOutcome[]> {
    const commit = this.#committed.then(() => this.#writer.commit(jobs));
    this.#committed = commit.catch(() => {});
    return commit;
  }

  async findTail(responseId: string): Promise<Chunk | null> {
    await this.#writer.recover();
    const own = this.#writer.findTail(responseId);
    return own === null ? await findForeignTail(this.db, responseId) : chunkOfTail(own);
  }

  workerNumber(): Promise<number> {
    return this.#lease.number();
  }

  async renewLease(): Promise<boolean> {
    return await this.#lease.renew(await this.#lease.number());
  }

  async findDeadWorkers(): Promise<readonly number[]> {
    return await this.#lease.findDead(this.db, await this.#lease.number());
  }

  listUnmadeRuns(): Promise<readonly UnmadeRun[]> {
    return listUnmadeRuns(this.db, this.#lease, this.#rules);
  }

  async claimRuns(ids: readonly string[]): Promise<readonly ClaimedRun[]> {
    const claimed = await claimRuns(this.db, this.#lease, ids);
    this.#writer.takeUp(ids);
    return claimed;
  }

  deleteExpired(before: number, cursor: ExpiryCursor | null): Promise<ExpiryStep> {
    return this.#expiry.deleteExpired(before, cursor);
  }

  eraseUnused(cursor: ErasureCursor): Promise<ErasureStep> {
    return this.#erasure.eraseUnused(cursor);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    try {
      await this.#lease.resign().catch((error: unknown) => {
        if (!(error instanceof StoreBusy)) throw error; // Else the lease runs out.
      });
    } finally {
      freePlace(this.#own);
      await Promise.all([this.db.destroy(), this.#writes.destroy(), this.#leases.destroy()]);
    }
  }
}

function openDatabase(pool: Pool): Kysely<Database> {
  return new Kysely<Database>({ dialect: postgresDialect(pool) });
}

/** Resolves to the number of changed rows. */
async function runStatement(db: Kysely<Database>, { sql: text, parameters }: Statement): Promise<bigint> {
  const { numAffectedRows } = await db.executeQuery(CompiledQuery.raw(text, [...parameters]));
  return numAffectedRows ?? 0n;
}
