import { type RawBuilder, type SqlBool, sql } from "kysely";
import { dialectal } from "./dialectal.ts";

/**
 * How many characters at the end of an id move to its start. In ids that `base/ids` derives from a stem, they begin
 * with the time.
 */
const MOVED = 32;
const MOVED_SQL = sql.lit(MOVED);

/**
 * The indexed form of an id: its last 32 characters, then the others; shorter ids are unchanged. Ids begin with random
 * digits, so each new id would go to a random page of the index. In this form, new ids go to its end.
 *
 * As in SQLite, characters are code points, and a text ends at its first NUL. Two such texts can have the same form, so
 * conditions also compare the ids themselves.
 */
export function timeFirst(id: string): string {
  const characters = /^[\w-]*$/.test(id) ? id : [...(id.split("\0", 1)[0] ?? "")];
  const end = characters.slice(-MOVED);
  const start = characters.slice(0, Math.max(0, characters.length - MOVED));
  return [end, start].map((part) => (typeof part === "string" ? part : part.join(""))).join("");
}

/** `timeFirst` in SQL. Only conditions with exactly this expression use the index. */
export function timeFirstSql(column: string): RawBuilder<string> {
  const name = sql.ref(column);
  return dialectal(
    sql<string>`(substr(${name}, -${MOVED_SQL}) || substr(${name}, 1, length(${name}) - ${MOVED_SQL}))`,
    () => timeFirstInPostgres(name),
  );
}

/** The same expression for PostgreSQL, which counts differently from the end. */
function timeFirstInPostgres(text: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`(right(${text}, ${MOVED_SQL}) || left(${text}, -${MOVED_SQL}))`;
}

/** An id that a query gets when it runs. */
export interface IdValue {
  readonly id: RawBuilder<string>;
  readonly timeFirst: RawBuilder<string>;
}

/** Whether a column, such as `table.column`, contains this id. Uses the column's index. */
export function isId(column: string, id: string | IdValue): RawBuilder<SqlBool> {
  const value = typeof id === "string" ? { id: sql.val(id), timeFirst: sql.val(timeFirst(id)) } : id;
  const form = dialectal<string>(value.timeFirst, () => timeFirstInPostgres(sql`${value.id}::text`));
  return sql<SqlBool>`(${timeFirstSql(column)} = ${form} and ${sql.ref(column)} = ${value.id})`;
}

/** Whether two columns contain the same id. Uses the index of the first. */
export function isSameId(column: string, other: string): RawBuilder<SqlBool> {
  const isSame = sql`${sql.ref(column)} = ${sql.ref(other)}`;
  return sql<SqlBool>`(${timeFirstSql(column)} = ${timeFirstSql(other)} and ${isSame})`;
}

/** Whether a column contains one of these ids. Uses the column's index. */
export function isOneOf(column: string, ids: readonly string[]): RawBuilder<SqlBool> {
  const name = sql.ref(column);
  const form = timeFirstSql(column);
  const forms = JSON.stringify(ids.map(timeFirst));
  return dialectal(
    sql<SqlBool>`(${form} in (select value from json_each(${forms})) and ${name} in (${sql.join(ids)}))`,
    () => sql<SqlBool>`(${form} = any(array(select ${timeFirstInPostgres(sql`id`)} from unnest(${sql.val(ids)}::text[]) as id))
      and ${name} = any(${sql.val(ids)}::text[]))`,
  );
}
