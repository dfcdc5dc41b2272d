import { ExpressionWrapper, type OperationNode, type RawBuilder, sql } from "kysely";

/** The PostgreSQL form of each node that has one. */
const POSTGRES_FORMS = new WeakMap<OperationNode, () => RawBuilder<unknown>>();

/**
 * SQL that differs between SQLite and PostgreSQL. The form is chosen when a query is compiled, so callers need not know
 * the database. The SQLite form is the default and is always built.
 */
export function dialectal<Type>(sqlite: RawBuilder<Type>, postgres: () => RawBuilder<Type>): RawBuilder<Type> {
  const node = sqlite.toOperationNode();
  POSTGRES_FORMS.set(node, postgres);
  return sql<Type>`${new ExpressionWrapper(node)}`;
}

/** The node that PostgreSQL's compiler writes instead; null if both databases use the same form. */
export function postgresForm(node: OperationNode): OperationNode | null {
  return POSTGRES_FORMS.get(node)?.().toOperationNode() ?? null;
}

/** The time in Unix milliseconds. PostgreSQL's own clock is shared by all machines. */
export function nowMs(): RawBuilder<number> {
  return dialectal(
    sql<number>`${Date.now()}`,
    () => sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  );
}

/** Whether a column contains one of these numbers. `numbers`: a JSON list, so that it is one parameter. */
export function isListedNumber(column: string, numbers: RawBuilder<string>): RawBuilder<boolean> {
  const name = sql.ref(column);
  return dialectal(
    sql<boolean>`${name} in (select value from json_each(${numbers}))`,
    () =>
      sql<boolean>`${name} = any(array(select value::bigint from json_array_elements_text(${numbers}::json) as value))`,
  );
}

/** At the end of a query for rows to change: skips rows that another transaction is changing. */
export const SKIP_LOCKED = dialectal(sql``, () => sql`for update skip locked`);

/** At the end of a query: locks these rows against changes and removal until the transaction ends. */
export const KEEP_ROWS = dialectal(sql``, () => sql`for share`);

/** The same for rows of one table whose key alone must remain. */
export function keepKeysOf(table: string): RawBuilder<unknown> {
  return dialectal(sql``, () => sql`for key share of ${sql.ref(table)}`);
}

/** Whether a text column contains this text. */
export function hasText(column: string, text: string | RawBuilder<string>): RawBuilder<boolean> {
  const name = sql.ref(column);
  return dialectal(sql<boolean>`instr(${name}, ${text}) > 0`, () => sql<boolean>`strpos(${name}, ${text}) > 0`);
}
