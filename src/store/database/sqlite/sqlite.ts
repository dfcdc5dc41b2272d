import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { assert } from "@antiphon/base/assert.ts";
import { type DialectAdapter, type Driver, type SqliteDatabase, SqliteDialect, type SqliteStatement } from "kysely";
import { LRUCache } from "lru-cache";
import { Checkpoints } from "./checkpoints.ts";
import { OwnTurnsAdapter } from "./own-turns-adapter.ts";
import { SharedFileDriver } from "./shared-file-driver.ts";
import { busyError, isBusy, isSpoilt, spoiltError } from "./sqlite-faults.ts";

/** SQLite's own limit on the variables of one statement. */
export const STATEMENT_VARIABLES_MAX = 32_766;

const OPEN_RETRY_MS = 5;
const PAGE_CACHE_KIB = 16 * 1024;
const LOG_FILE_BYTES_MAX = 64 * 1024 * 1024;
const CACHED_STATEMENTS_MAX = 200;
/** Longer statements insert many rows. They are rare, differ from each other, and take much memory when prepared. */
const CACHED_STATEMENT_LENGTH_MAX = 8_192;

export interface SqliteOptions {
  /** How long a statement waits for a lock of another process, in milliseconds. */
  readonly lockWaitMs: number;
  /** `full`: a commit waits for the disk. `normal`: a power failure can lose the latest commits. */
  readonly sync: "normal" | "full";
  /** Called each time a statement finds the database damaged. */
  readonly onSpoilt: () => void;
  /** Called each time most of the log was copied into the database. */
  readonly onCopied?: () => void;
}

/** A Kysely dialect with one connection to `file`. Creates the file and its folder, readable only by this user. */
export function sqliteDialect(file: string, options: SqliteOptions): SqliteDialect {
  const { lockWaitMs, sync } = options;
  if (file !== ":memory:") makePrivateFile(file);
  const database = new DatabaseSync(file, { timeout: 0 }); // The driver waits instead, without blocking the thread.
  enterWriteAheadMode(database, lockWaitMs);
  database.exec(`
    pragma synchronous = ${sync};
    pragma foreign_keys = on;
    pragma cache_size = -${PAGE_CACHE_KIB};
    pragma journal_size_limit = ${LOG_FILE_BYTES_MAX};
  `);
  const checkpoints = file === ":memory:" ? null : new Checkpoints(database, file, options);
  return new SharedFileDialect(new NodeSqlite(database), options, checkpoints);
}

/**
 * If several processes open a new database at once, SQLite reports it as locked to all but the first. Nothing is served
 * yet, so the wait may block.
 */
function enterWriteAheadMode(database: DatabaseSync, lockWaitMs: number): void {
  const startedAt = performance.now();
  for (;;) {
    try {
      return database.exec("pragma journal_mode = wal");
    } catch (error) {
      if (isSpoilt(error)) throw spoiltError(error);
      if (!isBusy(error)) throw error;
      if (performance.now() - startedAt >= lockWaitMs) throw busyError(lockWaitMs, error);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPEN_RETRY_MS);
    }
  }
}

function makePrivateFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, "a", 0o600)); // SQLite gives its log files the mode of the database file.
}

/** Kysely's SQLite dialect, for a file that other processes write too. */
class SharedFileDialect extends SqliteDialect {
  readonly #database: NodeSqlite;
  readonly #options: SqliteOptions;
  readonly #checkpoints: Checkpoints | null;

  constructor(database: NodeSqlite, options: SqliteOptions, checkpoints: Checkpoints | null) {
    super({ database });
    this.#database = database;
    this.#options = options;
    this.#checkpoints = checkpoints;
  }

  override createAdapter(): DialectAdapter {
    return new SharedFileAdapter();
  }

  override createDriver(): Driver {
    return new SharedFileDriver(this.#database, this.#options.lockWaitMs, this.#options.onSpoilt, this.#checkpoints);
  }
}

class SharedFileAdapter extends OwnTurnsAdapter {
  /**
   * Kysely assumes that SQLite cannot roll back schema changes. It can, so a killed migration leaves nothing behind.
   */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** A second connection to a database that another thread writes. It never waits and never writes. */
export class ReadOnlyDatabase {
  readonly #sqlite: NodeSqlite;

  constructor(file: string) {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 0 });
    database.exec(`pragma cache_size = -${PAGE_CACHE_KIB}`);
    this.#sqlite = new NodeSqlite(database);
  }

  all(sql: string, parameters: readonly unknown[]): unknown[] {
    return this.#sqlite.prepare(sql).all(parameters);
  }

  close(): void {
    this.#sqlite.close();
  }
}

/** Adapts `node:sqlite` to Kysely. Caches the most recently used prepared statements. */
class NodeSqlite implements SqliteDatabase {
  readonly #database: DatabaseSync;
  readonly #statements = new LRUCache<string, SqliteStatement>({ max: CACHED_STATEMENTS_MAX });

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Whether a transaction is open. On a full disk, SQLite ends one by itself. */
  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  prepare(sql: string): SqliteStatement {
    const earlier = this.#statements.get(sql);
    if (earlier !== undefined) return earlier;
    const statement = this.#prepare(sql);
    if (sql.length <= CACHED_STATEMENT_LENGTH_MAX) this.#statements.set(sql, statement);
    return statement;
  }

  #prepare(sql: string): SqliteStatement {
    const statement = this.#database.prepare(sql);
    return {
      reader: statement.columns().length > 0,
      all: (parameters) => statement.all(...bindable(parameters)),
      run: (parameters) => statement.run(...bindable(parameters)),
      iterate: (parameters) => statement.iterate(...bindable(parameters)),
    };
  }
}

function bindable(parameters: readonly unknown[]): readonly SQLInputValue[] {
  assert(parameters.every(isBindable), "every query parameter is text, a number, bytes or null");
  return parameters;
}

function isBindable(value: unknown): value is SQLInputValue {
  return typeof value === "string" || typeof value === "number" || value === null || value instanceof Uint8Array;
}
