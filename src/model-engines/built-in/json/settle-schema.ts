import { isRecord } from "../../../base/json/records.ts";
import { isGenerous, type Making, type SchemaObject, takeLook } from "./making.ts";
import { mergeSchemas } from "./merge-schemas.ts";
import { findReferenced, schemaHeight } from "./schema-height.ts";

/** References and choices of one place, one inside the other. */
const NESTED_MAX = 32;

/**
 * The schema with its references followed, its choices made and its parts joined: what is left says how one value
 * looks.
 */
export function settleSchema(schema: unknown, making: Making, nested = 0): SchemaObject {
  if (!isRecord(schema) || nested > NESTED_MAX || !takeLook(making, Object.keys(schema).length)) return {};
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const parts = [
    ...(typeof $ref === "string" ? [findReferenced($ref, making.root)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
    ...(Array.isArray(anyOf) ? [chooseBranch(anyOf, making)] : []),
    ...(Array.isArray(oneOf) ? [chooseBranch(oneOf, making)] : []),
  ];
  if (parts.length === 0) return own;
  const merged = mergeSchemas([own, ...parts.map((part) => settleSchema(part, making, nested + 1))]);
  takeLook(making, isRecord(merged["properties"]) ? Object.keys(merged["properties"]).length : 0);
  return merged;
}

/** The first branch that is not null; in great depth the branch that ends soonest. */
function chooseBranch(branches: readonly unknown[], making: Making): unknown {
  if (!takeLook(making, branches.length)) return branches[0];
  const possible = branches.filter((branch) => branch !== false);
  const first = possible.find((branch) => !isNullSchema(branch)) ?? possible[0];
  if (isGenerous(making)) return first;
  const heights = possible.map((branch) => schemaHeight(branch, making));
  return possible[heights.indexOf(Math.min(...heights))] ?? first;
}

function isNullSchema(schema: unknown): boolean {
  return isRecord(schema) && (schema["type"] === "null" || schema["const"] === null);
}
