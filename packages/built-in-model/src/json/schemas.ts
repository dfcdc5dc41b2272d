import { isRecord } from "@antiphon/base/json/records.ts";
import type { Hints } from "./hints.ts";

/** The place in a JSON value that is being made, and what all places share. */
export interface ValueContext {
  /** The whole schema, in which references are looked up. */
  readonly root: unknown;
  readonly hints: Hints;
  /** The name of the property; elements have the name of their array's property. */
  readonly name: string;
  readonly depth: number;
  /** The index among array elements, so that they differ. */
  readonly position: number;
  /** What the value may still cost, for all its places: a small schema can ask for a huge value. */
  readonly budget: { valuesLeft: number; charactersLeft: number; schemaReadsLeft: number; numbersUsed: number };
}

/** A JSON Schema object. `true` and a missing schema are read as `{}`. */
export type SchemaObject = Readonly<Record<string, unknown>>;

/** Maximum depth of references and choices inside each other at one place. */
const NESTED_MAX = 32;
/** Below this depth, values are as small as their schema allows. */
const SHALLOW_DEPTH_MAX = 4;
/** This many members of a schema count as one more read. */
const MEMBERS_PER_READ = 4;
/** What a branch costs to search: this many characters count as one member. */
const CHARS_PER_MEMBER = 64;
/** A longer reference is not followed, and a longer list of types is cut. */
const REFERENCE_CHARS_MAX = 1000;
export const TYPES_MAX = 20;

export function isShallow({ depth }: ValueContext): boolean {
  return depth <= SHALLOW_DEPTH_MAX;
}

/** Counts the read of a schema with this many members. False if the budget is used up. */
export function takeSchemaRead({ budget }: ValueContext, members = 0): boolean {
  budget.schemaReadsLeft -= 1 + members / MEMBERS_PER_READ;
  return budget.schemaReadsLeft >= 0;
}

export function numberOr<T>(value: unknown, otherwise: T): number | T {
  return typeof value === "number" ? value : otherwise;
}

export function textList(value: unknown): string[] {
  return listOf(value).filter((entry) => typeof entry === "string");
}

/** Follows references, chooses a branch of `anyOf` and `oneOf`, and merges `allOf`. The result describes one value. */
export function resolveSchema(schema: unknown, context: ValueContext, depth = 0): SchemaObject {
  if (!isRecord(schema) || depth > NESTED_MAX) return {};
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const members = Object.keys(schema).length + Object.keys(own["properties"] ?? {}).length;
  if (!takeSchemaRead(context, members)) return {};
  const parts = [
    ...(typeof $ref === "string" ? [findReferenced($ref, context.root)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
    ...[anyOf, oneOf].filter(Array.isArray).map((branches) => chooseBranch(branches, context)),
  ];
  if (parts.length === 0) return own;
  return mergeRecords([own, ...parts.map((part) => resolveSchema(part, context, depth + 1))], joinValues);
}

/** The first branch that is not null; when nested deeply, the one that refers least to other schemas. */
function chooseBranch(branches: readonly unknown[], context: ValueContext): unknown {
  if (!takeSchemaRead(context, branches.length)) return branches[0];
  const possible = branches.filter((branch) => branch !== false);
  if (isShallow(context)) return possible.find((branch) => !isNullSchema(branch)) ?? possible[0];
  const sized = possible.map((branch) => ({ branch, size: countReferences(branch, context) }));
  return sized.toSorted((one, other) => one.size - other.size)[0]?.branch;
}

function isNullSchema(schema: unknown): boolean {
  return isRecord(schema) && (schema["type"] === "null" || schema["const"] === null);
}

/** -1 for null, which refers to nothing and is the smallest value. */
function countReferences(schema: unknown, context: ValueContext): number {
  const { $ref } = isRecord(schema) ? schema : {};
  const json = JSON.stringify(typeof $ref === "string" ? findReferenced($ref, context.root) : schema) ?? "";
  return takeSchemaRead(context, json.length / CHARS_PER_MEMBER) && isNullSchema(schema)
    ? -1
    : json.split('"$ref":').length;
}

/** The schema that a reference within the document names. A reference to another document allows anything. */
function findReferenced(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#") || reference.length > REFERENCE_CHARS_MAX) return {};
  const [, ...steps] = reference.split("/");
  return steps.reduce<unknown>((place, step) => {
    const key = step.replaceAll("%25", "%").replaceAll("~1", "/").replaceAll("~0", "~");
    return typeof place === "object" ? Object.getOwnPropertyDescriptor(place ?? {}, key)?.value : undefined;
  }, root);
}

/** One record with the members of all. Merging pair by pair would take quadratic time. */
function mergeRecords(all: readonly unknown[], join: (key: string, values: readonly unknown[]) => unknown) {
  const entries = Map.groupBy(all.filter(isRecord).flatMap(Object.entries<unknown>), ([key]) => key);
  return Object.fromEntries(
    Array.from(entries, ([key, same]) => [
      key,
      join(
        key,
        same.map((entry) => entry[1]),
      ),
    ]),
  );
}

/** What a keyword of several schemas requires together, as far as keywords can be merged one by one. */
function joinValues(keyword: string, values: readonly unknown[]): unknown {
  if (keyword === "required") return [...new Set(values.flatMap(listOf))];
  if (keyword === "properties")
    return mergeRecords(values, (_, schemas) => (schemas.length === 1 ? schemas[0] : { allOf: schemas }));
  if (keyword === "enum") return values.map(listOf).reduce(commonValues);
  if (keyword === "type") return values.map(typesOf).reduce(commonValues);
  const numbers = values.filter((value) => typeof value === "number");
  if (numbers.length > 0 && /^min|Min/.test(keyword)) return numbers.reduce((one, other) => Math.max(one, other));
  if (numbers.length > 0 && /^max|Max/.test(keyword)) return numbers.reduce((one, other) => Math.min(one, other));
  return values.at(-1);
}

/** What two lists have in common; the second one if that is nothing. */
function commonValues(one: readonly unknown[], other: readonly unknown[]): readonly unknown[] {
  const kept = new Set(other.map((value) => JSON.stringify(value)));
  const common = one.filter((value) => kept.has(JSON.stringify(value)));
  return common.length > 0 ? common : other;
}

/** Integers are numbers, too. */
function typesOf(type: unknown): readonly unknown[] {
  const types = listOf(type).slice(0, TYPES_MAX);
  return types.flatMap((one) => (one === "number" ? [one, "integer"] : [one]));
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}
