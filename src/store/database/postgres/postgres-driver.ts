import { InvariantError } from "@antiphon/base/assert.ts";
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from "kysely";
import type { Pool, PoolClient, QueryConfig } from "pg";
import { againAfterDeadlock, endsConnection, isOldPlan, translateFault } from "./postgres-faults.ts";
import { writtenValue } from "./postgres-values.ts";

/** The number of statements with a cached plan per connection. Others are planned each time. */
const PREPARED_MAX = 400;
/** Longer statements have one parameter per value and are rarely the same twice. */
const PREPARED_LENGTH_MAX = 8_192;

/** Kysely's driver over a pool of connections to PostgreSQL. */
export class PostgresDriver implements Driver {
  readonly #pool: Pool;
  readonly #names = new StatementNames();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    try {
      return new PostgresConnection(await this.#pool.connect(), this.#names);
    } catch (error) {
      throw translateFault(error);
    }
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    await connection.run("begin");
    connection.isInTransaction = true;
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    const { command } = await connection.run("commit");
    if (command !== "COMMIT") throw new InvariantError("a transaction in which a statement failed is not committed");
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.run("rollback").catch(() => {}); // The connection is lost, and its transaction with it.
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

/** One connection, from taking it out of the pool until its return. */
class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #names: StatementNames;
  #isBroken = false;
  /** Whether a failed statement also ends earlier ones. */
  isInTransaction = false;

  constructor(client: PoolClient, names: StatementNames) {
    this.#client = client;
    this.#names = names;
  }

  /** A statement that PostgreSQL cancelled because of a deadlock changed nothing and is repeated. */
  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.isInTransaction ? this.#execute(query) : againAfterDeadlock(() => this.#execute(query));
  }

  async #execute<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const query = { text: sql, values: parameters.map(writtenValue) };
    const name = this.#names.nameOf(sql);
    if (name === null) return await this.#query(query);
    try {
      return await this.#query({ ...query, name });
    } catch (error) {
      if (this.isInTransaction || !isOldPlan(error)) throw error;
      return await this.#query(query); // The statement had no effect; without a name, it is planned again.
    }
  }

  async #query<Row>(query: QueryConfig): Promise<QueryResult<Row>> {
    try {
      const { rows, rowCount } = await this.#client.query<never>(query);
      return { rows, ...(rowCount === null ? {} : { numAffectedRows: BigInt(rowCount) }) };
    } catch (error) {
      throw this.#faultOf(error);
    }
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new InvariantError("rows are read by pages, not as a stream");
  }

  /** Runs a statement without parameters and rows. */
  async run(sql: string): Promise<{ readonly command: string }> {
    try {
      return await this.#client.query(sql);
    } catch (error) {
      throw this.#faultOf(error);
    }
  }

  /** Returns the connection to the pool, which closes it if it is broken. */
  release(): void {
    this.#client.release(this.#isBroken);
  }

  #faultOf(error: unknown): unknown {
    this.#isBroken ||= endsConnection(error) || isOldPlan(error);
    return translateFault(error);
  }
}

/** The names of prepared statements by SQL, shared by all connections of a pool. */
class StatementNames {
  readonly #names = new Map<string, string>();

  /** Null for statements that should not be prepared. */
  nameOf(sql: string): string | null {
    const earlier = this.#names.get(sql);
    if (earlier !== undefined) return earlier;
    if (this.#names.size >= PREPARED_MAX || sql.length > PREPARED_LENGTH_MAX) return null;
    const name = `antiphon_${this.#names.size}`;
    this.#names.set(sql, name);
    return name;
  }
}
