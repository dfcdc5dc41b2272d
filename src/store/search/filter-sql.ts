import { assertNever } from "@antiphon/base/assert.ts";
import type { ComparisonFilter, FileSearchFilter } from "@antiphon/contracts/responses-api/types.ts";
import { type RawBuilder, sql } from "kysely";
import { dialectal } from "../database/dialectal.ts";
import { postgresCompares, postgresHasOneOf } from "./postgres/attribute-sql.ts";

type Value = string | number | boolean;

/**
 * The SQL condition of a filter on the column `attributes` of `files`. Values are bound and keys are compared
 * literally, so neither can change the statement. A file without the key, or with a value of another type, matches only
 * `ne` and `nin`.
 */
export function filterSql(filter: FileSearchFilter): RawBuilder<boolean> {
  switch (filter.type) {
    case "and":
      return joinConditions(filter.filters.map(filterSql), sql` and `, sql<boolean>`true`);
    case "or":
      return joinConditions(filter.filters.map(filterSql), sql` or `, sql<boolean>`false`);
    case "eq":
    case "ne":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
    case "in":
    case "nin":
      return comparisonSql(filter);
    default:
      return assertNever(filter);
  }
}

function joinConditions(
  parts: readonly RawBuilder<boolean>[],
  separator: RawBuilder<unknown>,
  ofNone: RawBuilder<boolean>,
): RawBuilder<boolean> {
  return parts.length === 0 ? ofNone : sql`(${sql.join(parts, separator)})`;
}

function comparisonSql({ type, key, value }: ComparisonFilter): RawBuilder<boolean> {
  const values: readonly Value[] = Array.isArray(value) ? value : [value];
  switch (type) {
    case "eq":
    case "in":
      return hasOneOf(key, values);
    case "ne":
    case "nin":
      return sql`not ${hasOneOf(key, values)}`;
    case "gt":
      return compares(key, values, sql`>`);
    case "gte":
      return compares(key, values, sql`>=`);
    case "lt":
      return compares(key, values, sql`<`);
    case "lte":
      return compares(key, values, sql`<=`);
    default:
      return assertNever(type);
  }
}

/** One list per type of value, because SQLite rejects conditions that are a thousand levels deep. */
function hasOneOf(key: string, values: readonly Value[]): RawBuilder<boolean> {
  const ofTypes = [...Map.groupBy(values, (value) => typeof value).values()].map((ofType) => {
    const types = ofType.slice(0, 1).flatMap(jsonTypes);
    return sql<boolean>`(attribute.type in (${sql.join(types)}) and attribute.atom in (${sql.join(ofType.map(bindValue))}))`;
  });
  if (ofTypes.length === 0) return sql`false`;
  return dialectal(
    sql`exists (select 1 from json_each(files.attributes) as attribute where attribute.key = ${key}
      and (${sql.join(ofTypes, sql` or `)}))`,
    () => postgresHasOneOf(key, values),
  );
}

/** Compares texts with texts, numbers with numbers and booleans with booleans. */
function compares(key: string, [value]: readonly Value[], operator: RawBuilder<unknown>): RawBuilder<boolean> {
  if (value === undefined) return sql`false`;
  return dialectal(
    sql`exists (select 1 from json_each(files.attributes) as attribute where attribute.key = ${key}
      and attribute.type in (${sql.join(jsonTypes(value))}) and attribute.atom ${operator} ${bindValue(value)})`,
    () => postgresCompares(key, value, operator),
  );
}

function jsonTypes(value: Value): readonly string[] {
  if (typeof value === "string") return ["text"];
  return typeof value === "number" ? ["integer", "real"] : ["true", "false"];
}

/** As `json_each` returns booleans. */
function bindValue(value: Value): string | number {
  return typeof value === "boolean" ? Number(value) : value;
}
