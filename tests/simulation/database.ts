import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from "kysely";
import { StoreAway } from "../../src/runs/ports/store-faults.ts";
import { ConnectionLost } from "../../src/store/database/postgres/postgres-faults.ts";
import type { Database } from "../../src/store/database/schema.ts";
import { migrate } from "../../src/store/database/sqlite/migrate.ts";
import { OwnTurnsAdapter } from "../../src/store/database/sqlite/own-turns-adapter.ts";
import { sqliteDialect } from "../../src/store/database/sqlite/sqlite.ts";
import type { Random } from "./random.ts";
import type { Actor, Scheduler } from "./scheduler.ts";

/** The result code of SQLite for a row whose parent is missing, and what PostgreSQL says instead. */
const SQLITE_FOREIGN_KEY = 787;
const POSTGRES_FOREIGN_KEY = "23503";

/** How the way to the database fails. Each is a share of 1 of all statements outside of transactions. */
export interface DatabaseFaults {
  /** The statement never arrives, and the caller learns so. */
  readonly refused: number;
  /** The statement or the commit is done, and its reply is lost. */
  readonly unanswered: number;
  /** The commit is not done, and its reply is lost. */
  readonly undone: number;
  /** Times of a statement's way, in milliseconds. */
  readonly latencyMs: number;
  readonly slow: number;
  readonly slowMs: number;
}

/** How long a client waits for a database that does not answer. */
const TIMEOUT_MS = 1_000;

interface StatementOfDatabase {
  readonly statement: StatementSync;
  readonly isReader: boolean;
}

/** One database in memory, which all nodes share and which outlives them. */
export class SharedDatabase {
  readonly #sqlite: DatabaseSync;
  readonly #statements = new Map<string, StatementOfDatabase>();
  readonly #emptying: string;
  /** Who is in a transaction. */
  #writer: Connection | null = null;
  #waiting: (() => void)[] = [];

  private constructor(sqlite: DatabaseSync) {
    this.#sqlite = sqlite;
    const tables = sqlite
      .prepare(
        "select name from pragma_table_list where schema = 'main' and type = 'table' and name <> 'sqlite_schema'",
      )
      .all()
      .map(({ name }) => String(name));
    this.#emptying = tables.map((name) => `delete from "${name}";`).join("");
  }

  /** Creates the tables, as at the first start of a server. */
  static async create(): Promise<SharedDatabase> {
    const options = { lockWaitMs: 0, sync: "normal", onSpoilt: () => {} } as const;
    const model = new Kysely<Database>({ dialect: sqliteDialect(":memory:", options) });
    await migrate(model);
    const { rows } = await sql<{ readonly sql: string }>`select sql from sqlite_schema
      where sql is not null and name not glob 'sqlite_*' order by rowid`.execute(model);
    await model.destroy();
    const sqlite = new DatabaseSync(":memory:");
    for (const row of rows) if (!isPartOfIndex(row.sql)) sqlite.exec(row.sql);
    sqlite.exec("pragma foreign_keys = on");
    return new SharedDatabase(sqlite);
  }

  /** Removes all rows. */
  empty(): void {
    this.#writer = null;
    this.#waiting = [];
    if (this.#sqlite.isTransaction) this.#sqlite.exec("rollback");
    this.#sqlite.exec(`pragma foreign_keys = off; begin; ${this.#emptying} commit; pragma foreign_keys = on;`);
  }

  /** For checks: runs a query beside all nodes. */
  read(text: string, ...parameters: readonly SQLInputValue[]): readonly Readonly<Record<string, unknown>>[] {
    return this.#prepare(text).statement.all(...parameters);
  }

  execute<Row>(query: CompiledQuery): QueryResult<Row> {
    const { statement, isReader } = this.#prepare(query.sql);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The store binds nothing else.
    const parameters = query.parameters as readonly SQLInputValue[];
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Only the author of the query knows its rows.
      if (isReader) return { rows: statement.all(...parameters) as Row[] };
      const { changes, lastInsertRowid } = statement.run(...parameters);
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
    } catch (error) {
      throw asPostgres(error);
    }
  }

  /** Undefined if nobody is in a transaction. */
  free(): Promise<void> | undefined {
    return this.#writer === null ? undefined : new Promise((resolve) => void this.#waiting.push(resolve));
  }

  begin(writer: Connection): void {
    this.#sqlite.exec("begin immediate");
    this.#writer = writer;
  }

  end(end: "commit" | "rollback"): void {
    this.#writer = null;
    if (this.#sqlite.isTransaction) this.#sqlite.exec(end);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const goOn of waiting) goOn();
  }

  /** Rolls back what a dead node left. */
  noteDeath(actor: Actor): void {
    if (this.#writer?.actor === actor) this.end("rollback");
  }

  #prepare(text: string): StatementOfDatabase {
    const earlier = this.#statements.get(text);
    if (earlier !== undefined) return earlier;
    const statement = this.#sqlite.prepare(text);
    const prepared = { statement, isReader: statement.columns().length > 0 };
    this.#statements.set(text, prepared);
    return prepared;
  }
}

function isPartOfIndex(definition: string): boolean {
  return /^CREATE TABLE '\w+_(?:data|idx|content|docsize|config)'/.test(definition);
}

/** The store knows the faults of a database in another process in PostgreSQL's form. */
function asPostgres(error: unknown): unknown {
  const isOrphan = error instanceof Error && "errcode" in error && error.errcode === SQLITE_FOREIGN_KEY;
  return isOrphan ? Object.assign(error, { severity: "ERROR", code: POSTGRES_FOREIGN_KEY }) : error;
}

export interface Line {
  readonly database: SharedDatabase;
  readonly scheduler: Scheduler;
  readonly random: Random;
  /** Changes while a seed runs. */
  faults(): DatabaseFaults;
  /** Whether this node reaches the database now. */
  isReached(actor: Actor): boolean;
}

/** A Kysely dialect that goes to the shared database by a line that fails. */
export function lineDialect(line: Line, actor: Actor): Dialect {
  return {
    createAdapter: () => ADAPTER,
    createDriver: () => new LineDriver(line, actor),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** One for all, because queries are built once for each adapter. */
const ADAPTER = new OwnTurnsAdapter();

class LineDriver implements Driver {
  readonly #line: Line;
  readonly #actor: Actor;

  constructor(line: Line, actor: Actor) {
    this.#line = line;
    this.#actor = actor;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<Connection> {
    return new Connection(this.#line, this.#actor);
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await ownConnection(connection).begin();
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await ownConnection(connection).commit();
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    ownConnection(connection).rollback();
  }

  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}

function ownConnection(connection: DatabaseConnection): Connection {
  if (connection instanceof Connection) return connection;
  throw new Error("a driver gets its own connections back");
}

/**
 * One caller's way to the database. A statement is a step of its own, and so is a whole transaction: between any two of
 * them other nodes act, and a node may die. The reply is a further step.
 */
class Connection implements DatabaseConnection {
  readonly actor: Actor;
  readonly #line: Line;
  #isInTransaction = false;

  constructor(line: Line, actor: Actor) {
    this.#line = line;
    this.actor = actor;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#isInTransaction) return this.#execute<Row>(query);
    await this.#arrive(query.sql);
    const result = this.#execute<Row>(query);
    if (this.#happens("unanswered")) await this.#loseReply("the reply to a statement is lost");
    await this.#return();
    return result;
  }

  async begin(): Promise<void> {
    await this.#arrive("transaction");
    this.#line.database.begin(this);
    this.#isInTransaction = true;
  }

  async commit(): Promise<void> {
    this.#isInTransaction = false;
    const { database } = this.#line;
    if (this.#happens("undone")) {
      database.end("rollback");
      await this.#loseReply("a commit is lost");
    }
    try {
      database.end("commit");
    } catch (error) {
      database.end("rollback");
      throw asPostgres(error);
    }
    if (this.#happens("unanswered")) await this.#loseReply("the reply to a commit is lost");
    await this.#return();
  }

  rollback(): void {
    if (!this.#isInTransaction) return;
    this.#isInTransaction = false;
    this.#line.database.end("rollback");
  }

  // oxlint-disable-next-line require-yield -- Kysely's interface.
  async *streamQuery<Row>(): AsyncGenerator<QueryResult<Row>> {
    throw new Error("nothing is streamed from the database");
  }

  #execute<Row>(query: CompiledQuery): QueryResult<Row> {
    return this.#line.database.execute<Row>(query);
  }

  async #arrive(what: string): Promise<void> {
    const { scheduler, database } = this.#line;
    await scheduler.wait(this.actor, this.#wayMs(), what.slice(0, LABEL_CHARACTERS));
    for (let free = database.free(); free !== undefined; free = database.free()) await free;
    if (!this.#line.isReached(this.actor)) {
      await scheduler.wait(this.actor, TIMEOUT_MS, "database away");
      throw new StoreAway("The database is away.");
    }
    if (!this.#happens("refused")) return;
    scheduler.trace.note("a statement is refused");
    throw new StoreAway("The database is busy.");
  }

  /** Most replies come in the same step: no other step would differ. */
  async #return(): Promise<void> {
    const { random, scheduler } = this.#line;
    if (random.happens(REPLY_STEPS)) await scheduler.wait(this.actor, this.#wayMs(), "reply");
  }

  async #loseReply(what: string): Promise<never> {
    const { scheduler } = this.#line;
    scheduler.trace.note(what);
    await scheduler.wait(this.actor, this.#wayMs(), "connection lost");
    throw new ConnectionLost("The connection to the database was lost.");
  }

  #happens(fault: "refused" | "unanswered" | "undone"): boolean {
    const share = this.#line.faults()[fault];
    return share > 0 && this.#line.random.happens(share);
  }

  #wayMs(): number {
    const { random } = this.#line;
    const { latencyMs, slow, slowMs } = this.#line.faults();
    return random.between(0, random.happens(slow) ? slowMs : latencyMs);
  }
}

const LABEL_CHARACTERS = 60;
/** The share of replies that are a step of their own. */
const REPLY_STEPS = 0.3;
