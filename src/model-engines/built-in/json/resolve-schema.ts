import { isRecord } from "../../../base/json/records.ts";
import { mergeSchemas } from "./merge-schemas.ts";
import { findReferenced, schemaHeight } from "./schema-height.ts";
import { isShallow, type SchemaObject, takeSchemaRead, type ValueContext } from "./value-context.ts";

/** Maximum depth of references and choices inside each other at one place. */
const NESTED_MAX = 32;

/** Follows references, chooses a branch of `anyOf` and `oneOf`, and merges `allOf`. The result describes one value. */
export function resolveSchema(schema: unknown, context: ValueContext, nested = 0): SchemaObject {
  if (!isRecord(schema) || nested > NESTED_MAX || !takeSchemaRead(context, Object.keys(schema).length)) return {};
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const parts = [
    ...(typeof $ref === "string" ? [findReferenced($ref, context.root)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
    ...(Array.isArray(anyOf) ? [chooseBranch(anyOf, context)] : []),
    ...(Array.isArray(oneOf) ? [chooseBranch(oneOf, context)] : []),
  ];
  if (parts.length === 0) return own;
  const merged = mergeSchemas([own, ...parts.map((part) => resolveSchema(part, context, nested + 1))]);
  takeSchemaRead(context, isRecord(merged["properties"]) ? Object.keys(merged["properties"]).length : 0);
  return merged;
}

/** The first branch that is not null; when nested deeply, the branch with the smallest value. */
function chooseBranch(branches: readonly unknown[], context: ValueContext): unknown {
  if (!takeSchemaRead(context, branches.length)) return branches[0];
  const possible = branches.filter((branch) => branch !== false);
  const first = possible.find((branch) => !isNullSchema(branch)) ?? possible[0];
  if (isShallow(context)) return first;
  const heights = possible.map((branch) => schemaHeight(branch, context));
  return possible[heights.indexOf(Math.min(...heights))] ?? first;
}

function isNullSchema(schema: unknown): boolean {
  return isRecord(schema) && (schema["type"] === "null" || schema["const"] === null);
}
