import { type RawBuilder, sql } from "kysely";

type Value = string | number | boolean;

/** JSON's escape of the character 0. PostgreSQL's JSON cannot contain it, so it is replaced as in other texts. */
const NUL = sql.lit("\\u0000");
const HELD_NUL = sql.lit("\uE0000");

/** Whether the attribute of a file is one of these values. */
export function postgresHasOneOf(key: string, values: readonly Value[]): RawBuilder<boolean> {
  const texts = values.map((value) => JSON.stringify(value));
  return sql<boolean>`coalesce(
    ${attribute(key)} = any(array(select ${jsonOf(sql`wanted`)} from unnest(${texts}::text[]) as wanted)), false)`;
}

/** Whether the attribute of a file has the value's type and this relation to it. */
export function postgresCompares(key: string, value: Value, operator: RawBuilder<unknown>): RawBuilder<boolean> {
  const isTrue =
    typeof value === "string"
      ? sql`(${attribute(key)} #>> '{}') collate "C" ${operator} ${value}`
      : sql`${attribute(key)} ${operator} ${jsonOf(sql`${JSON.stringify(value)}::text`)}`;
  return sql<boolean>`case jsonb_typeof(${attribute(key)}) when ${sql.lit(typeof value)} then ${isTrue} else false end`;
}

function attribute(key: string): RawBuilder<unknown> {
  return sql`(${jsonOf(sql`files.attributes`)} -> ${key}::text)`;
}

function jsonOf(text: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`replace(${text}, ${NUL}, ${HELD_NUL})::jsonb`;
}
