import { setTimeout as sleep } from "node:timers/promises";
import { CompiledQuery, type DatabaseConnection, type QueryResult, type SqliteDatabase, SqliteDriver } from "kysely";
import { StoreBusy, StoreSpoilt } from "../../responses-api/ports.ts";
import { isBusy, isSpoilt } from "./sqlite-faults.ts";

/** How long to wait between two tries, longer each time; the last one counts for all further tries. */
const RETRY_MS = [1, 2, 5, 10, 15, 20];
const RETRY_MS_MAX = 25;

/**
 * One connection that all callers use in turn, to a file that other processes write to as well. SQLite itself never
 * waits for their locks, because that would stop the whole process: who needs a lock that another process holds tries
 * again and again, and others read meanwhile.
 */
export class SharedFileDriver extends SqliteDriver {
  readonly #lockWaitMs: number;
  readonly #turns = new Turns();
  #connection: DatabaseConnection | null = null;
  readonly #onSpoilt: () => void;
  #inTransaction = false;

  constructor(database: SqliteDatabase, lockWaitMs: number, onSpoilt: () => void) {
    super({ database });
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
   * Takes the right to write at once: a transaction that took it later would fail, and not wait, where another process
   * had written meanwhile.
   */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
    this.#inTransaction = true;
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection);
    this.#inTransaction = false;
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    this.#inTransaction = false;
    await super.rollbackTransaction(connection);
  }

  #patient(connection: DatabaseConnection): DatabaseConnection {
    return {
      executeQuery: (query) => this.#tryUntilFree(() => connection.executeQuery(query)),
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    };
  }

  /** A transaction that has begun holds every lock it needs, so within one nothing is tried again. */
  async #tryUntilFree<Row>(execute: () => Promise<QueryResult<Row>>): Promise<QueryResult<Row>> {
    const startedAt = performance.now();
    for (let tries = 0; ; tries++) {
      try {
        return await execute();
      } catch (error) {
        if (isSpoilt(error)) {
          this.#onSpoilt();
          throw new StoreSpoilt(error);
        }
        if (this.#inTransaction || !isBusy(error)) throw error;
        if (performance.now() - startedAt >= this.#lockWaitMs) throw new StoreBusy(this.#lockWaitMs, error);
      }
      await this.#stepAside(RETRY_MS[tries] ?? RETRY_MS_MAX);
    }
  }

  /** Others use the connection meanwhile. */
  async #stepAside(ms: number): Promise<void> {
    this.#turns.giveBack();
    await sleep(ms);
    await this.#turns.take();
  }
}

/** Lets one caller at a time have what only one may use, in the order of their coming. */
class Turns {
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  /** Resolves when it is the caller's turn, which ends with `giveBack`. */
  take(): Promise<void> {
    if (this.#taken) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#taken = true;
    return Promise.resolve();
  }

  giveBack(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken = false;
    else next();
  }
}
