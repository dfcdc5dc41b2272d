import { InvariantError } from "@antiphon/base/assert.ts";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { OwnTurnsAdapter } from "../../database/sqlite/own-turns-adapter.ts";
import { Turns } from "../../database/sqlite/turns.ts";
import type { DatabaseCalls } from "../database-calls.ts";

/** Further statements wait in this thread, so that commits and other calls come in between. */
export const STATEMENTS_AT_ONCE_MAX = 64;

/** A Kysely dialect whose single statements run at the owner of the database. It has no transactions. */
export function remoteDialect(calls: Pick<DatabaseCalls, "query">): Dialect {
  return {
    createDriver: () => new RemoteDriver(calls),
    createAdapter: () => new OwnTurnsAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

class RemoteDriver implements Driver {
  readonly #connection: DatabaseConnection;
  readonly #turns = new Turns(STATEMENTS_AT_ONCE_MAX);

  constructor(calls: Pick<DatabaseCalls, "query">) {
    this.#connection = {
      executeQuery: (query) => execute(calls, query),
      streamQuery: () => {
        throw new InvariantError("rows are read by pages, not as a stream");
      },
    };
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#turns.take();
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#turns.giveBack();
  }

  beginTransaction(): Promise<void> {
    throw new InvariantError("transactions are calls of their own, made where the database is");
  }

  commitTransaction(): Promise<void> {
    return this.beginTransaction();
  }

  rollbackTransaction(): Promise<void> {
    return this.beginTransaction();
  }

  async destroy(): Promise<void> {}
}

async function execute<Row>(
  calls: Pick<DatabaseCalls, "query">,
  { sql, parameters }: CompiledQuery,
): Promise<QueryResult<Row>> {
  const { rows, numAffectedRows, insertId } = await calls.query({ sql, parameters });
  return {
    rows,
    ...(numAffectedRows === undefined ? {} : { numAffectedRows }),
    ...(insertId === undefined ? {} : { insertId }),
  };
}
