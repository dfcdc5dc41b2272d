import { type InsertObject, type Kysely, sql } from "kysely";
import type { RowInserter, RowOfResponse } from "../database/row-inserter.ts";
import type { Database, ResponseParts } from "../database/schema.ts";
import { timeFirst, timeFirstSql } from "../database/time-first.ts";

/** The columns that hold numbers, among those of the tables that are written in this way. */
const NUMBERS: ReadonlySet<string> = new Set([
  "completed_at",
  "created_at",
  "first_number",
  "last_number",
  "position",
  "restarts",
  "stop_asked",
  "streamed",
  "version",
  "worker",
]);

/**
 * Inserts rows in one statement, with one parameter for each column, so that its SQL is the same for any number of
 * rows.
 */
export class ArrayInserter implements RowInserter {
  async insert<Table extends keyof Database>(
    db: Kysely<Database>,
    table: Table,
    rows: readonly InsertObject<Database, Table>[],
  ): Promise<void> {
    if (rows.length === 0) return;
    const { names, given } = columnsOf(rows);
    await sql`insert into ${sql.table(table)} (${names}) select * from unnest(${given})`.execute(db);
  }

  /** Locks the responses, so that one that is being deleted gets nothing more. */
  async insertParts<Table extends ResponseParts>(
    db: Kysely<Database>,
    table: Table,
    rows: readonly RowOfResponse<Table>[],
  ): Promise<void> {
    if (rows.length === 0) return;
    const keyed = rows.map(({ response_id: id, ...others }) => ({ response_id: timeFirst(id), ...others }));
    const { names, given } = columnsOf(keyed);
    const others = sql.join(
      Object.keys(keyed[0] ?? {})
        .slice(1)
        .map((name) => sql.ref(name)),
    );
    await sql`insert into ${sql.table(table)} (response_number, ${others})
      select responses.number, ${sql.join(
        Object.keys(keyed[0] ?? {})
          .slice(1)
          .map((name) => sql.ref(`given.${name}`)),
      )}
      from unnest(${given}) with ordinality as given (${names}, place)
      join responses on ${timeFirstSql("responses.id")} = given.response_id
      order by place for key share of responses`.execute(db);
  }
}

/** The names of the columns, and an array of the values of each. */
function columnsOf(rows: readonly object[]) {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => Object.values(row));
  return {
    names: sql.join(columns.map((name) => sql.ref(name))),
    given: sql.join(
      columns.map((name, index) => {
        const ofColumn = sql.val(values.map((row) => row[index]));
        return NUMBERS.has(name) ? sql`${ofColumn}::bigint[]` : sql`${ofColumn}::text[]`;
      }),
    ),
  };
}
