import { isStorageFull } from "@antiphon/base/storage-full.ts";
import { CompiledQuery, Kysely, sql } from "kysely";
import type { Database } from "../../database/schema.ts";
import { migrate } from "../../database/sqlite/migrate.ts";
import { sqliteDialect } from "../../database/sqlite/sqlite.ts";
import { textLength } from "../../database/text-length.ts";
import { SQLITE_RULES } from "../../database/transaction-rules.ts";
import { RedoFolders } from "../../redo-log/redo-folders.ts";
import type { RedoPart, WriteJob, WriteOutcome } from "../../rows/runs/write-job.ts";
import type { Statement, StatementResult } from "../database-calls.ts";
import { DatabaseOwner, type OwnedDatabase } from "../database-owner.ts";
import { countUsage } from "../upkeep/count-usage.ts";
import type { ErasureCursor, ErasureStep } from "../upkeep/erasure.ts";
import type { ExpiryCursor, ExpiryStep } from "../upkeep/expiry.ts";
import type { OwnWorkers } from "../workers/own-workers.ts";
import { WorkerLease } from "../workers/worker-lease.ts";
import { StorageReserve } from "./storage-reserve.ts";

/** A deletion, or a change that adds no row and little text: many deletions first lock what they delete. */
const FREEING = /^\s*(?:delete|update)\b/i;
/** The maximum characters of the parameters of such a change. */
const CHARACTERS_MAX = 4_096;

/** Plain data, because it is copied into the store thread. */
export interface DatabaseOptions {
  /** Path of the database, or `:memory:`. The file and its folder are created if missing. */
  readonly file: string;
  /** How long a write waits for a lock of another process, in milliseconds. */
  readonly lockWaitMs: number;
  /** `full`: a commit waits for the disk. `normal`: a power failure can lose the latest commits. */
  readonly sync: "normal" | "full";
  /** Whether to count the stored bytes of each owner. */
  readonly countsUsage: boolean;
}

interface Health {
  /** Whether a statement has found damage. */
  isSpoilt: boolean;
}

/** Owns the only connection to the database. Runs in the store thread. */
export class SqliteOwner extends DatabaseOwner<WorkerLease> {
  readonly #health: Health;
  readonly #reserve: StorageReserve | null;

  /** `reserve`: null for a database in memory. */
  private constructor(owned: OwnedDatabase<WorkerLease>, health: Health, reserve: StorageReserve | null) {
    super(owned);
    this.#health = health;
    this.#reserve = reserve;
  }

  /** Opens the database and migrates its tables. */
  static async open({ file, lockWaitMs, sync, countsUsage }: DatabaseOptions, own: OwnWorkers): Promise<SqliteOwner> {
    const health: Health = { isSpoilt: false };
    const onSpoilt = (): void => {
      health.isSpoilt = true;
    };
    const reserve = file === ":memory:" ? null : new StorageReserve(file);
    const redo = file === ":memory:" ? null : new RedoFolders(file);
    const onCopied = (): void => reserve?.fill();
    const db = new Kysely<Database>({ dialect: sqliteDialect(file, { lockWaitMs, sync, onSpoilt, onCopied }) });
    try {
      await migrate(db);
      if (countsUsage) await countUsage(db);
      // The tables leave the log, which then has room for writes on a full disk.
      await sql`pragma wal_checkpoint(passive)`.execute(db);
      reserve?.fill();
      if (redo !== null) await removeLeftRedoLogs(db, redo);
    } catch (error) {
      await db.destroy();
      throw error;
    }
    const rules = { ...SQLITE_RULES, redo };
    return new SqliteOwner({ db, writes: db, lease: new WorkerLease(db, own, rules), rules }, health, reserve);
  }

  async isSound(): Promise<boolean> {
    await this.db.selectFrom("workers").select("id").limit(1).execute();
    return !this.#health.isSpoilt;
  }

  /** Needs no locks: all statements run one after the other. */
  override query(statement: Statement, _lockName?: string): Promise<StatementResult> {
    return makesRoom(statement) ? this.#inReserve(() => this.#query(statement)) : this.#query(statement);
  }

  override transact(statements: readonly Statement[]): Promise<readonly bigint[] | null> {
    const [condition] = statements;
    const transact = () => super.transact(statements);
    return condition !== undefined && makesRoom(condition) ? this.#inReserve(transact) : transact();
  }

  override commit(jobs: readonly WriteJob[], redo: RedoPart | null = null): Promise<readonly WriteOutcome[]> {
    return jobs.some(removesData) ? this.#inReserve(() => super.commit(jobs, redo)) : super.commit(jobs, redo);
  }

  override workerNumber(): Promise<number> {
    return this.#inReserve(() => super.workerNumber());
  }

  override renewLease(): Promise<boolean> {
    return this.#inReserve(() => super.renewLease());
  }

  override deleteExpired(before: number, cursor: ExpiryCursor | null): Promise<ExpiryStep> {
    return this.#inReserve(() => super.deleteExpired(before, cursor));
  }

  override eraseUnused(cursor: ErasureCursor): Promise<ErasureStep> {
    return this.#inReserve(() => super.eraseUnused(cursor));
  }

  /** For work that must not fail on a full disk: deletions, and renewals of this worker's lease. */
  async #inReserve<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#reserve === null ? await work() : await this.#reserve.during(work, () => this.#emptyLog());
  }

  /** While others read the log, it is copied but not emptied. */
  async #emptyLog(): Promise<void> {
    await sql`pragma wal_checkpoint(truncate)`.execute(this.db).catch((error: unknown) => {
      if (!isStorageFull(error)) throw error;
    });
  }

  async #query({ sql: text, parameters }: Statement): Promise<StatementResult> {
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

/** Removes the redo logs of workers that were removed. Nobody lists a log before its worker. */
async function removeLeftRedoLogs(db: Kysely<Database>, redo: RedoFolders): Promise<void> {
  const loggedWorkers = redo.list();
  if (loggedWorkers.length === 0) return;
  const workers = await db.selectFrom("workers").select("id").execute();
  const ids = new Set(workers.map(({ id }) => id));
  for (const worker of loggedWorkers) if (!ids.has(worker)) redo.remove(worker);
}

/** Whether a statement belongs to a deletion, or adds almost nothing. */
function makesRoom({ sql: text, parameters }: Statement): boolean {
  return FREEING.test(text) && textLength(parameters) <= CHARACTERS_MAX;
}

/** Whether a job of a commit deletes something. */
function removesData(job: WriteJob): boolean {
  if (job.type === "conversation") return job.step.type === "delete" || job.step.type === "delete_item";
  return job.type === "delete";
}
