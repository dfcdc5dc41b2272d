import { CompiledQuery, Kysely, sql } from "kysely";
import { migrate } from "../database/migrate.ts";
import type { Database } from "../database/schema.ts";
import { sqliteDialect } from "../database/sqlite.ts";
import { SQLITE_RULES } from "../database/transaction-rules.ts";
import { countUsage } from "../upkeep/count-usage.ts";
import { WorkerLease } from "../workers/worker-lease.ts";
import type { Statement, StatementResult } from "./database-calls.ts";
import { DatabaseOwner } from "./database-owner.ts";
import type { OwnWorkers } from "./own-workers.ts";

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

/** Owns the one connection to the database. The store thread has one of these. */
export class SqliteOwner extends DatabaseOwner {
  readonly #health: Health;

  private constructor(db: Kysely<Database>, own: OwnWorkers, health: Health) {
    super({ db, writes: db, lease: new WorkerLease(db, own), rules: SQLITE_RULES });
    this.#health = health;
  }

  /** Opens the database and brings its tables up to date. */
  static async open({ file, lockWaitMs, sync, countsUsage }: DatabaseOptions, own: OwnWorkers): Promise<SqliteOwner> {
    const health: Health = { isSpoilt: false };
    const onSpoilt = (): void => {
      health.isSpoilt = true;
    };
    const db = new Kysely<Database>({ dialect: sqliteDialect(file, { lockWaitMs, sync, onSpoilt }) });
    try {
      await migrate(db);
      if (countsUsage) await countUsage(db);
      // The tables leave the log, which then has room of its own for what is written on a full disk.
      await sql`pragma wal_checkpoint(passive)`.execute(db);
    } catch (error) {
      await db.destroy();
      throw error;
    }
    return new SqliteOwner(db, own, health);
  }

  async isSound(): Promise<boolean> {
    await this.db.selectFrom("workers").select("id").limit(1).execute();
    return !this.#health.isSpoilt;
  }

  /** Needs no locks: all statements run one after the other. */
  async query({ sql: text, parameters }: Statement, _lockName?: string): Promise<StatementResult> {
    const { rows, numAffectedRows, insertId } = await this.db.executeQuery<never>(
      CompiledQuery.raw(text, [...parameters]),
    );
    return { rows, numAffectedRows, insertId };
  }

  async close(): Promise<void> {
    try {
      await this.lease.resign();
    } finally {
      await this.db.destroy();
    }
  }
}
