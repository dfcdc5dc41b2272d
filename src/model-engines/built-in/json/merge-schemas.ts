import { isRecord } from "../../../base/records.ts";
import type { SchemaObject } from "./making.ts";

/** Keywords of which the stricter of two wins; all others of the later schema replace those of the earlier one. */
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
  required: union,
  enum: common,
  type: commonTypes,
  properties: mergeProperties,
};

/** One schema that asks for all that several ask for, as far as keywords can be joined one by one. */
export function mergeSchemas(schemas: readonly unknown[]): SchemaObject {
  const merged: Record<string, unknown> = {};
  for (const schema of schemas.filter(isRecord)) {
    for (const [keyword, value] of Object.entries(schema)) {
      const join = Object.hasOwn(JOINS, keyword) ? JOINS[keyword] : undefined;
      merged[keyword] = keyword in merged && join !== undefined ? join(merged[keyword], value) : value;
    }
  }
  return merged;
}

function larger(one: unknown, other: unknown): unknown {
  return typeof one === "number" && typeof other === "number" ? Math.max(one, other) : other;
}

function smaller(one: unknown, other: unknown): unknown {
  return typeof one === "number" && typeof other === "number" ? Math.min(one, other) : other;
}

function union(one: unknown, other: unknown): unknown {
  return [...new Set([...listOf(one), ...listOf(other)])];
}

function common(one: unknown, other: unknown): unknown {
  const kept = new Set(listOf(other).map((value) => JSON.stringify(value)));
  return listOf(one).filter((value) => kept.has(JSON.stringify(value)));
}

/** Every integer is a number, so the two have integers in common. */
function commonTypes(one: unknown, other: unknown): unknown {
  const [first, second] = [listOf(one), listOf(other)];
  const both = first.filter((type) => second.includes(type) || (type === "integer" && second.includes("number")));
  const integers = second.includes("integer") && first.includes("number") ? ["integer"] : [];
  const types = [...new Set([...both, ...integers])];
  return types.length > 0 ? types : second;
}

function mergeProperties(one: unknown, other: unknown): unknown {
  if (!isRecord(one) || !isRecord(other)) return other;
  const shared = Object.keys(other).filter((name) => Object.hasOwn(one, name));
  return { ...one, ...other, ...Object.fromEntries(shared.map((name) => [name, { allOf: [one[name], other[name]] }])) };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}
