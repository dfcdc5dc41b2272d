import { setImmediate as nextTurn } from "node:timers/promises";
import type { CompiledQuery, InsertObject, Kysely } from "kysely";
import type { Database } from "./schema.ts";
import { STATEMENT_VARIABLES_MAX } from "./sqlite.ts";
import { textLength } from "./text-length.ts";

/** How much text, and how many rows, one statement inserts, unless a single row is larger. */
const STATEMENT_CHARACTERS_MAX = 1024 * 1024;
const STATEMENT_ROWS_MAX = 2_000;

/**
 * The SQL of larger inserts is not cached: few have the same number of rows, and building it is cheap beside running
 * it.
 */
const REMEMBERED_ROWS_MAX = 8;

/**
 * Inserts rows in few statements, with a turn of the event loop between them. Caches the SQL of small inserts, which
 * would take longer to build than to run.
 */
export class RowInserter {
  readonly #queries = new Map<string, CompiledQuery>();

  /** All rows of a table must have the same columns in the same order. */
  async insert<Table extends keyof Database>(
    db: Kysely<Database>,
    table: Table,
    rows: readonly InsertObject<Database, Table>[],
  ): Promise<void> {
    for (let start = 0; start < rows.length; ) {
      if (start > 0) await nextTurn();
      const slice = sliceFrom(rows, start);
      start += slice.length;
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
