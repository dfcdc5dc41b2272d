import { isRecord } from "../../../base/json/records.ts";
import type { SchemaObject } from "./value-context.ts";

/** For these keywords the stricter value is kept; for all others the later schema replaces the earlier one. */
const JOINS: Readonly<Record<string, (one: unknown, other: unknown) => unknown>> = {
  minimum: larger,
  exclusiveMinimum: larger,
  minLength: larger,
  minItems: larger,
  minProperties: larger,
  maximum: smaller,
  exclusiveMaximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
  maxProperties: smaller,
  enum: common,
  type: commonTypes,
};

/** One schema that requires what all given schemas require, as far as keywords can be merged one by one. */
export function mergeSchemas(schemas: readonly unknown[]): SchemaObject {
  const merged: Record<string, unknown> = {};
  const all = schemas.filter(isRecord);
  for (const schema of all) {
    for (const [keyword, value] of Object.entries(schema)) {
      const join = Object.hasOwn(JOINS, keyword) ? JOINS[keyword] : undefined;
      merged[keyword] = keyword in merged && join !== undefined ? join(merged[keyword], value) : value;
    }
  }
  const required = all.flatMap((schema) => ("required" in schema ? listOf(schema["required"]) : []));
  if ("required" in merged) merged["required"] = [...new Set(required)];
  if ("properties" in merged) merged["properties"] = mergeProperties(all.map((schema) => schema["properties"]));
  return merged;
}

/** Merges all at once. Merging pair by pair would take quadratic time. */
function mergeProperties(all: readonly unknown[]): unknown {
  const schemas = new Map<string, unknown[]>();
  for (const [name, schema] of all.filter(isRecord).flatMap((properties) => Object.entries(properties))) {
    const same = schemas.get(name);
    if (same === undefined) schemas.set(name, [schema]);
    else same.push(schema);
  }
  return Object.fromEntries([...schemas].map(([name, same]) => [name, same.length === 1 ? same[0] : { allOf: same }]));
}

function larger(one: unknown, other: unknown): unknown {
  return typeof one === "number" && typeof other === "number" ? Math.max(one, other) : other;
}

function smaller(one: unknown, other: unknown): unknown {
  return typeof one === "number" && typeof other === "number" ? Math.min(one, other) : other;
}

function common(one: unknown, other: unknown): unknown {
  const kept = new Set(listOf(other).map((value) => JSON.stringify(value)));
  return listOf(one).filter((value) => kept.has(JSON.stringify(value)));
}

/** `integer` and `number` have `integer` in common. */
function commonTypes(one: unknown, other: unknown): unknown {
  const first = new Set(listOf(one));
  const second = new Set(listOf(other));
  const both = [...first].filter((type) => second.has(type) || (type === "integer" && second.has("number")));
  const integers = second.has("integer") && first.has("number") ? ["integer"] : [];
  const types = [...new Set([...both, ...integers])];
  return types.length > 0 ? types : [...second];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}
