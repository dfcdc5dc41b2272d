import { setTimeout as sleep } from "node:timers/promises";
import { isStorageFull } from "@antiphon/base/storage-full.ts";
import { CompiledQuery, type DatabaseConnection, type QueryResult, type SqliteDatabase, SqliteDriver } from "kysely";
import type { Checkpoints } from "./checkpoints.ts";
import { busyError, isBusy, isSpoilt, spoiltError } from "./sqlite-faults.ts";
import { Turns } from "./turns.ts";

/** Pauses between retries, in milliseconds. */
const RETRY_MS = [1, 2, 5, 10, 15, 20];
const RETRY_MS_MAX = 25;

/** Whether the database is in a transaction; it may have ended one by itself. */
interface OpenDatabase extends SqliteDatabase {
  readonly isTransaction: boolean;
}

/**
 * One connection, used by all callers in turn, to a file that other processes write too. SQLite itself never waits for
 * a lock, because that would block the whole store thread. A caller that needs another process's lock retries, and
 * others can read in between.
 */
export class SharedFileDriver extends SqliteDriver {
  readonly #database: OpenDatabase;
  readonly #lockWaitMs: number;
  readonly #onSpoilt: () => void;
  readonly #turns = new Turns(1);
  #connection: DatabaseConnection | null = null;
  readonly #checkpoints: Checkpoints | null;
  #inTransaction = false;

  /** `checkpoints`: null for a database in memory. */
  constructor(database: OpenDatabase, lockWaitMs: number, onSpoilt: () => void, checkpoints: Checkpoints | null) {
    super({ database });
    this.#database = database;
    this.#checkpoints = checkpoints;
    this.#lockWaitMs = lockWaitMs;
    this.#onSpoilt = onSpoilt;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    await this.#turns.take();
    this.#connection ??= this.#patient(await super.acquireConnection());
    return this.#connection;
  }

  override async releaseConnection(): Promise<void> {
    this.#turns.giveBack();
  }

  /**
   * Takes the write lock at the start. A transaction that takes it later fails at once if another process has written
   * in between.
   */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
    this.#inTransaction = true;
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection);
    this.#inTransaction = false;
    this.#checkpoints?.afterTransaction();
  }

  /** A statement that finds the disk full has already rolled back. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    this.#inTransaction = false;
    try {
      if (this.#database.isTransaction) await super.rollbackTransaction(connection);
    } finally {
      this.#checkpoints?.afterTransaction();
    }
  }

  override async destroy(): Promise<void> {
    await this.#checkpoints?.close();
    await super.destroy();
  }

  #patient(connection: DatabaseConnection): DatabaseConnection {
    return {
      executeQuery: (query) => this.#tryUntilFree(() => this.#execute(connection, query)),
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    };
  }

  async #execute<Row>(connection: DatabaseConnection, query: CompiledQuery): Promise<QueryResult<Row>> {
    this.#checkpoints?.beforeStatement(query.parameters);
    try {
      return await connection.executeQuery<Row>(query);
    } catch (error) {
      if (isStorageFull(error)) this.#checkpoints?.startLogAgain();
      throw error;
    } finally {
      if (!this.#inTransaction) this.#checkpoints?.afterTransaction();
    }
  }

  /** A started transaction has every lock it needs, so its statements are not retried. */
  async #tryUntilFree<Row>(execute: () => Promise<QueryResult<Row>>): Promise<QueryResult<Row>> {
    const startedAt = performance.now();
    let isDiskFull = false;
    for (let tries = 0; ; tries++) {
      try {
        return await execute();
      } catch (error) {
        if (isStorageFull(error) && !this.#inTransaction && !isDiskFull) {
          isDiskFull = true;
          continue; // The log was restarted, which may have made room for a deletion.
        }
        if (isSpoilt(error)) {
          this.#onSpoilt();
          throw spoiltError(error);
        }
        if (this.#inTransaction || !isBusy(error)) throw error;
        if (performance.now() - startedAt >= this.#lockWaitMs) throw busyError(this.#lockWaitMs, error);
      }
      await this.#stepAside(RETRY_MS[tries] ?? RETRY_MS_MAX);
    }
  }

  /** Lets others use the connection for this time. */
  async #stepAside(ms: number): Promise<void> {
    this.#turns.giveBack();
    await sleep(ms);
    await this.#turns.take();
  }
}
