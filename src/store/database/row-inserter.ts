import { type CompiledQuery, type InsertObject, type Kysely, sql } from "kysely";
import type { Database, ResponseParts } from "./schema.ts";
import { STATEMENT_VARIABLES_MAX } from "./sqlite/sqlite.ts";
import { textLength } from "./text-length.ts";
import { timeFirst, timeFirstSql } from "./time-first.ts";

/** The maximum text and number of rows per insert statement, unless a single row is larger. */
const STATEMENT_CHARACTERS_MAX = 1024 * 1024;
const STATEMENT_ROWS_MAX = 2_000;

/**
 * The SQL of larger inserts is not cached: few have the same number of rows, and building it is cheap compared to
 * running it.
 */
const REMEMBERED_ROWS_MAX = 32;

/** A row of a response, before the response's number is known. */
export type RowOfResponse<Table extends ResponseParts> = Omit<InsertObject<Database, Table>, "response_number"> & {
  readonly response_id: string;
};

/** Inserts rows in few statements. */
export interface RowInserter {
  /** All rows of a table must have the same columns in the same order. */
  insert<Table extends keyof Database>(
    db: Kysely<Database>,
    table: Table,
    rows: readonly InsertObject<Database, Table>[],
  ): Promise<void>;
  /** The same for rows of responses. Leaves out rows whose response is not stored. */
  insertParts<Table extends ResponseParts>(
    db: Kysely<Database>,
    table: Table,
    rows: readonly RowOfResponse<Table>[],
  ): Promise<void>;
}

/** Lists all values. Caches the SQL of small inserts, which takes longer to build than to run. */
export class ValuesInserter implements RowInserter {
  readonly #queries = new Map<string, CompiledQuery>();

  async insert<Table extends keyof Database>(
    db: Kysely<Database>,
    table: Table,
    rows: readonly InsertObject<Database, Table>[],
  ): Promise<void> {
    await this.#insert(db, table, rows, (slice) => db.insertInto(table).values(slice).compile());
  }

  async insertParts<Table extends ResponseParts>(
    db: Kysely<Database>,
    table: Table,
    rows: readonly RowOfResponse<Table>[],
  ): Promise<void> {
    const keyedRows = rows.map((row) => ({ ...row, response_id: timeFirst(row.response_id) }));
    await this.#insert(db, table, keyedRows, (slice) => partsQuery(db, table, slice));
  }

  async #insert<Row extends object>(
    db: Kysely<Database>,
    table: keyof Database,
    rows: readonly Row[],
    build: (slice: readonly Row[]) => CompiledQuery,
  ): Promise<void> {
    for (let start = 0; start < rows.length; ) {
      const slice = sliceFrom(rows, start);
      start += slice.length;
      await db.executeQuery({
        ...this.#queryFor(table, slice.length, () => build(slice)),
        parameters: slice.flatMap((row) => Object.values(row)),
      });
    }
  }

  #queryFor(table: keyof Database, rowCount: number, build: () => CompiledQuery): CompiledQuery {
    const name = `${table} ${rowCount}`;
    const earlier = this.#queries.get(name);
    if (earlier !== undefined) return earlier;
    const query = build();
    if (rowCount <= REMEMBERED_ROWS_MAX) this.#queries.set(name, query);
    return query;
  }
}

/** An insert that looks up the number of each row's response, in the order of the rows. */
function partsQuery(db: Kysely<Database>, table: ResponseParts, rows: readonly object[]): CompiledQuery {
  const columns = Object.keys(rows[0] ?? {});
  const columnNames = columns.map((name) => sql.ref(name === "response_id" ? "response_number" : name));
  const read = columns.map((name) => sql.ref(name === "response_id" ? "responses.number" : `given.${name}`));
  const valueRows = rows.map((row) => sql`(${sql.join(Object.values(row))})`);
  // `cross join` keeps SQLite from reading the responses first.
  return sql`
    with given (${sql.join(columns.map((name) => sql.ref(name)))}) as (values ${sql.join(valueRows)})
    insert into ${sql.table(table)} (${sql.join(columnNames)})
    select ${sql.join(read)} from given
      cross join responses on ${timeFirstSql("responses.id")} = given.response_id`.compile(db);
}

function sliceFrom<Row extends object>(rows: readonly Row[], start: number): readonly Row[] {
  const columns = Object.keys(rows[start] ?? {}).length;
  const rowsMax = Math.min(STATEMENT_ROWS_MAX, Math.floor(STATEMENT_VARIABLES_MAX / Math.max(1, columns)));
  let characters = 0;
  const slice = rows.slice(start, start + rowsMax);
  const end = slice.findIndex((row, index) => {
    characters += textLength(Object.values(row));
    return index > 0 && characters > STATEMENT_CHARACTERS_MAX;
  });
  return end === -1 ? slice : slice.slice(0, end);
}
