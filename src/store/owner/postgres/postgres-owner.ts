import { CompiledQuery, Kysely, sql } from "kysely";
import type { Pool } from "pg";
import { StoreBusy } from "../../../runs/ports/store-faults.ts";
import { type DatabaseAddress, openPostgresPool } from "../../database/postgres/connections.ts";
import { checkTables, migratePostgres } from "../../database/postgres/migrate-postgres.ts";
import { postgresDialect } from "../../database/postgres/postgres-dialect.ts";
import { againAfterDeadlock } from "../../database/postgres/postgres-faults.ts";
import { postgresRules } from "../../database/postgres/transaction-rules.ts";
import type { Database } from "../../database/schema.ts";
import type { Statement, StatementResult } from "../database-calls.ts";
import { DatabaseOwner } from "../database-owner.ts";
import { freePlace, type OwnWorkers, takePlace } from "../workers/own-workers.ts";
import { countPostgresUsage } from "./count-postgres-usage.ts";
import { PostgresLease } from "./postgres-lease.ts";

export interface PostgresOptions extends DatabaseAddress {
  /** Connections for everything but commits and the lease, which have one each. */
  readonly poolMax: number;
  /** How long a lease lasts without renewal, in milliseconds. */
  readonly leaseMs: number;
  /** Whether to migrate the tables, or only to check them. */
  readonly migrates: boolean;
  /** Whether to count the stored bytes of each owner. */
  readonly countsUsage: boolean;
}

/** The connections of one kind, and the number of waiting statements. */
export interface LaneLoad {
  readonly lane: "commits" | "lease" | "other";
  readonly busy: number;
  readonly idle: number;
  readonly waiting: number;
}

type Pools = Readonly<Record<LaneLoad["lane"], Pool>>;

/**
 * Owns the connections to PostgreSQL. No call blocks, so it needs no thread. Commits and the lease have their own
 * connections, so that neither waits for other statements.
 */
export class PostgresOwner extends DatabaseOwner<PostgresLease> {
  readonly #pools: Pools;
  readonly #writes: Kysely<Database>;
  readonly #leases: Kysely<Database>;
  readonly #own: OwnWorkers;
  #closing: Promise<void> | null = null;

  private constructor(pools: Pools, own: OwnWorkers, { leaseMs, timeoutMs }: PostgresOptions) {
    const writes = openDatabase(pools.commits);
    const leases = openDatabase(pools.lease);
    const rules = postgresRules(timeoutMs);
    const lease = new PostgresLease(leases, own, leaseMs, rules.inserter);
    super({ db: openDatabase(pools.other), writes, lease, rules });
    this.#pools = pools;
    this.#writes = writes;
    this.#leases = leases;
    this.#own = own;
  }

  /** Opens the connections after migrating the tables. Throws `UnfitTables` if the tables cannot be used. */
  static async open(options: PostgresOptions): Promise<PostgresOwner> {
    await (options.migrates ? migratePostgres(options.url) : checkTables(options));
    if (options.countsUsage) await countPostgresUsage(options.url);
    const pools: Pools = {
      other: openPostgresPool(options, options.poolMax),
      commits: openPostgresPool(options, 1),
      lease: openPostgresPool(options, 1),
    };
    return new PostgresOwner(pools, takePlace(), options);
  }

  /** The load of the connections. */
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
        : await this.transaction(async (transaction) => {
            await sql`select pg_advisory_xact_lock(hashtextextended(${lockName}, 0))`.execute(transaction);
            return await transaction.executeQuery<never>(query);
          });
    return { rows, numAffectedRows, insertId: undefined };
  }

  protected override transaction<Result>(work: (transaction: Kysely<Database>) => Promise<Result>): Promise<Result> {
    return againAfterDeadlock(() => super.transaction(work));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.lease.resign().catch((error: unknown) => {
        if (!(error instanceof StoreBusy)) throw error; // Otherwise, the lease expires by itself.
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
