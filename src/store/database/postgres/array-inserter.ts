import { type InsertObject, type Kysely, sql } from "kysely";
import type { RowInserter, RowOfResponse } from "../row-inserter.ts";
import type { Database, ResponseParts } from "../schema.ts";
import { timeFirst, timeFirstSql } from "../time-first.ts";
import type { Additions } from "../transaction-rules.ts";

/** The numeric columns of the tables that are written this way. */
const NUMBERS: ReadonlySet<string> = new Set([
  "completed_at",
  "created_at",
  "duration_ms",
  "first_number",
  "first_text_ms",
  "input_tokens",
  "last_number",
  "output_tokens",
  "position",
  "restarts",
  "stop_asked",
  "streamed",
  "version",
  "worker",
]);

/**
 * Inserts rows in one statement with one parameter per column, so that its SQL does not depend on the number of rows.
 */
export class ArrayInserter implements RowInserter {
  async insert<Table extends keyof Database>(
    db: Kysely<Database>,
    table: Table,
    rows: readonly InsertObject<Database, Table>[],
  ): Promise<void> {
    if (rows.length === 0) return;
    const { names, given: values } = columnsOf(rows);
    await sql`insert into ${sql.table(table)} (${names}) select * from unnest(${values})`.execute(db);
  }

  /** Locks the responses, so that nothing is added to one that is being deleted. */
  async insertParts<Table extends ResponseParts>(
    db: Kysely<Database>,
    table: Table,
    rows: readonly RowOfResponse<Table>[],
  ): Promise<void> {
    if (rows.length === 0) return;
    const {
      names,
      given: values,
      others,
    } = partColumnsOf(rows.map((row) => ({ ...row, response_id: timeFirst(row.response_id) })));
    const columns = sql.join(others.map((name) => sql.ref(name)));
    const read = sql.join(others.map((name) => sql.ref(`given.${name}`)));
    await sql`insert into ${sql.table(table)} (response_number, ${columns}) select responses.number, ${read}
      from unnest(${values}) with ordinality as given (${names}, place)
      join responses on ${timeFirstSql("responses.id")} = given.response_id
      order by place for key share of responses`.execute(db);
  }
}

/** The foreign key of the journal rejects everything if the worker was removed. */
export async function addAll(db: Kysely<Database>, additions: Additions): Promise<void> {
  const { worker, position, body } = additions.journal;
  const responses = columnsOf(additions.responses);
  const steps = [
    sql`noted as (insert into event_journal (worker, position, body) values (${worker}, ${position}, ${body}))`,
    sql`added as (insert into responses (${responses.names}) select * from unnest(${responses.given})
      returning number, id)`,
    ...partsOfAdded("items", additions.items),
    ...partsOfAdded("event_chunks", additions.chunks),
  ];
  await sql`with ${sql.join(steps)} select 1`.execute(db);
}

/** The parts of responses that the same statement adds. */
function partsOfAdded(table: ResponseParts, rows: readonly RowOfResponse<ResponseParts>[]) {
  if (rows.length === 0) return [];
  const { names, given: values, others } = partColumnsOf(rows);
  const columns = sql.join(others.map((name) => sql.ref(name)));
  const read = sql.join(others.map((name) => sql.ref(`given.${name}`)));
  return [
    sql`${sql.ref(`new_${table}`)} as (insert into ${sql.table(table)} (response_number, ${columns})
      select added.number, ${read} from unnest(${values}) with ordinality as given (${names}, place)
      join added on added.id = given.response_id order by place)`,
  ];
}

/** The same for parts of responses: first the id of their response, and the names of the other columns. */
function partColumnsOf(rows: readonly { readonly response_id: string }[]) {
  const keyedRows = rows.map(({ response_id: id, ...others }) => ({ response_id: id, ...others }));
  return { ...columnsOf(keyedRows), others: Object.keys(keyedRows[0] ?? {}).slice(1) };
}

/** The column names, and an array of values for each. */
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
