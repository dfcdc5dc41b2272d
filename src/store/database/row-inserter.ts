import type { CompiledQuery, InsertObject, Kysely } from "kysely";
import type { Database } from "./schema.ts";
import { STATEMENT_VARIABLES_MAX } from "./sqlite.ts";

/** Inserts of more rows are seldom alike, and to put them together takes little next to storing them. */
const REMEMBERED_ROWS_MAX = 8;

/**
 * Inserts rows in as few statements as the database allows. Remembers the SQL of small inserts, which would take longer
 * to put together than to run.
 */
export class RowInserter {
  readonly #queries = new Map<string, CompiledQuery>();

  /** The rows of one table always have the same columns in the same order. */
  async insert<Table extends keyof Database>(
    db: Kysely<Database>,
    table: Table,
    rows: readonly InsertObject<Database, Table>[],
  ): Promise<void> {
    const rowsMax = rowsMaxOf(rows);
    for (let start = 0; start < rows.length; start += rowsMax) {
      const slice = rows.slice(start, start + rowsMax);
      await db.executeQuery({
        ...this.#queryFor(db, table, slice),
        parameters: slice.flatMap((row) => Object.values(row)),
      });
    }
  }

  #queryFor<Table extends keyof Database>(
    db: Kysely<Database>,
    table: Table,
    rows: readonly InsertObject<Database, Table>[],
  ): CompiledQuery {
    const name = `${table} ${rows.length}`;
    const known = this.#queries.get(name);
    if (known !== undefined) return known;
    const query = db.insertInto(table).values(rows).compile();
    if (rows.length <= REMEMBERED_ROWS_MAX) this.#queries.set(name, query);
    return query;
  }
}

function rowsMaxOf(rows: readonly object[]): number {
  const columns = Object.keys(rows[0] ?? {}).length;
  return Math.floor(STATEMENT_VARIABLES_MAX / Math.max(1, columns));
}
