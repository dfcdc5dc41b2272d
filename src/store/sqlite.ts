import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import {
  CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
} from "kysely";
import { assert } from "../base/assert.ts";

/** SQLite's own bound on the variables of one statement. */
export const STATEMENT_VARIABLES_MAX = 32_766;

const BUSY_TIMEOUT_MS = 5_000;
const BUSY_RETRY_MS = 5;
const SQLITE_BUSY = 5;
/** What an error is lies in the lowest byte of its code, why it is one above. */
const PRIMARY_CODES = 256;
const PAGE_CACHE_KIB = 16 * 1024;
const LOG_FILE_BYTES_MAX = 64 * 1024 * 1024;
const CACHED_STATEMENTS_MAX = 200;
/** Longer statements insert very many rows: they are rare, seldom alike, and their programs are large. */
const CACHED_STATEMENT_LENGTH_MAX = 8_192;

/** A dialect over one connection to `file`, made together with its folder for this user's eyes only. Nothing else here knows that the database is SQLite. */
export function sqliteDialect(file: string): SqliteDialect {
  if (file !== ":memory:") makePrivateFile(file);
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  enterWriteAheadMode(database);
  database.exec(`
    pragma synchronous = normal;
    pragma foreign_keys = on;
    pragma cache_size = -${PAGE_CACHE_KIB};
    pragma journal_size_limit = ${LOG_FILE_BYTES_MAX};
  `);
  return new SharedFileDialect(new NodeSqlite(database));
}

/**
 * SQLite does not wait for its turn here, as it does elsewhere: of processes that open a new database together, those that are late are told at once
 * that it is locked.
 */
function enterWriteAheadMode(database: DatabaseSync): void {
  const givenUpAt = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      return database.exec("pragma journal_mode = wal");
    } catch (error) {
      if (!isBusy(error) || performance.now() > givenUpAt) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_RETRY_MS);
    }
  }
}

function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return false;
  return error.errcode % PRIMARY_CODES === SQLITE_BUSY;
}

function makePrivateFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, "a", 0o600)); // SQLite gives its log files the mode of the database.
}

/** Kysely's dialect, for a file that other processes write to as well. */
class SharedFileDialect extends SqliteDialect {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    super({ database });
    this.#database = database;
  }

  override createAdapter(): DialectAdapter {
    return new TransactionalDdlAdapter();
  }

  override createDriver(): Driver {
    return new WritingDriver({ database: this.#database });
  }
}

/** Transactions take the right to write when they begin: one that took it later would fail, and not wait, where another process had written meanwhile. */
class WritingDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }
}

/** Kysely says that SQLite cannot undo changes of tables. It can, so a migration killed half way leaves nothing behind. */
class TransactionalDdlAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** What Kysely expects of a driver, over `node:sqlite`. Keeps the statements used last prepared. */
class NodeSqlite implements SqliteDatabase {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  prepare(sql: string): SqliteStatement {
    const known = this.#statements.get(sql);
    const statement = known ?? this.#prepare(sql);
    if (known !== undefined) this.#statements.delete(sql);
    if (sql.length <= CACHED_STATEMENT_LENGTH_MAX) this.#statements.set(sql, statement); // A map keeps the order of insertion: the first one was used least recently.
    if (this.#statements.size > CACHED_STATEMENTS_MAX) this.#forgetOldest();
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

  #forgetOldest(): void {
    for (const sql of this.#statements.keys()) {
      this.#statements.delete(sql);
      return;
    }
  }
}

function bindable(parameters: readonly unknown[]): readonly SQLInputValue[] {
  assert(parameters.every(isBindable), "every query parameter is text, a number or null");
  return parameters;
}

function isBindable(value: unknown): value is SQLInputValue {
  return typeof value === "string" || typeof value === "number" || value === null;
}
