import { ExpressionWrapper, type OperationNode, type RawBuilder, sql } from "kysely";

/** The form for PostgreSQL of each node that has one. */
const POSTGRES_FORMS = new WeakMap<OperationNode, () => RawBuilder<unknown>>();

/**
 * SQL that SQLite and PostgreSQL write differently. Which of the two forms is used is decided when a query is compiled,
 * so whoever uses it needs not know the database. The form for SQLite is the usual one and is always built.
 */
export function dialectal<Type>(sqlite: RawBuilder<Type>, postgres: () => RawBuilder<Type>): RawBuilder<Type> {
  const node = sqlite.toOperationNode();
  POSTGRES_FORMS.set(node, postgres);
  return sql<Type>`${new ExpressionWrapper(node)}`;
}

/** What PostgreSQL's compiler writes in place of this node; null if it is the same for both databases. */
export function postgresForm(node: OperationNode): OperationNode | null {
  return POSTGRES_FORMS.get(node)?.().toOperationNode() ?? null;
}

/** The time in Unix milliseconds. In PostgreSQL it is that of the database, which all machines share. */
export function nowMs(): RawBuilder<number> {
  return dialectal(
    sql<number>`${Date.now()}`,
    () => sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  );
}

/** Whether a column holds one of these numbers. `numbers`: a JSON list, so that it is one parameter. */
export function isListedNumber(column: string, numbers: RawBuilder<string>): RawBuilder<boolean> {
  const name = sql.ref(column);
  return dialectal(
    sql<boolean>`${name} in (select value from json_each(${numbers}))`,
    () =>
      sql<boolean>`${name} = any(array(select value::bigint from json_array_elements_text(${numbers}::json) as value))`,
  );
}

/** At the end of a query for rows to change: those that another transaction is changing are passed over. */
export const SKIP_LOCKED = dialectal(sql``, () => sql`for update skip locked`);

/** At the end of a query: nobody may change or remove these rows before the transaction ends. */
export const KEEP_ROWS = dialectal(sql``, () => sql`for share`);

/** The same for rows of one table, of which only the key must stay. */
export function keepKeysOf(table: string): RawBuilder<unknown> {
  return dialectal(sql``, () => sql`for key share of ${sql.ref(table)}`);
}

/** Whether a text column holds this text anywhere. */
export function hasText(column: string, text: string | RawBuilder<string>): RawBuilder<boolean> {
  const name = sql.ref(column);
  return dialectal(sql<boolean>`instr(${name}, ${text}) > 0`, () => sql<boolean>`strpos(${name}, ${text}) > 0`);
}
