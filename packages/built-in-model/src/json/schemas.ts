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
  readonly budget: { valuesLeft: number; charactersLeft: number; readsLeft: number; numbersUsed: number };
}

/** A JSON Schema object. `true` and a missing schema are read as `{}`. */
export type SchemaObject = Readonly<Record<string, unknown>>;

/** Maximum depth of references and choices inside each other at one place. */
const NESTED_MAX = 32;
/** Below this depth, values are as small as their schema allows. */
const SHALLOW_DEPTH_MAX = 4;
/** A longer reference is not followed. */
const REFERENCE_CHARS_MAX = 1000;
/** What a branch costs to search: this many characters count as one read. */
const CHARS_PER_READ = 16;

export function isShallow({ depth }: ValueContext): boolean {
  return depth <= SHALLOW_DEPTH_MAX;
}

/** Counts reads of the schema. False if the budget is used up. */
export function takeReads({ budget }: ValueContext, reads: number): boolean {
  budget.readsLeft -= reads;
  return budget.readsLeft >= 0;
}

/** A keyword of a schema that should be a number, as far as it is one. */
export function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** Follows references, chooses a branch of `anyOf` and `oneOf`, and merges `allOf`. The result describes one value. */
export function resolveSchema(schema: unknown, context: ValueContext, depth = 0): SchemaObject {
  if (!isRecord(schema) || depth > NESTED_MAX || !takeReads(context, sizeOf(schema))) return {};
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const parts = [
    ...(typeof $ref === "string" ? [findReferenced($ref, context.root)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
    ...[anyOf, oneOf].filter(Array.isArray).map((branches) => chooseBranch(branches, context)),
  ];
  const resolvedParts = parts.map((part) => resolveSchema(part, context, depth + 1));
  return Object.fromEntries(
    groupMembers([own, ...resolvedParts]).map(([keyword, values]) => [keyword, joinValues(keyword, values)]),
  );
}

/** The members of a schema and of what they hold. All of these may be read. */
function sizeOf(schema: SchemaObject): number {
  const sizes = Object.values(schema).map((value) => (typeof value === "object" ? Object.keys(value ?? {}).length : 0));
  return sizes.reduce((sum, size) => sum + 1 + size, 1);
}

/** The first branch that is not null; when nested deeply, null, or the branch that refers least to other schemas. */
function chooseBranch(branches: readonly unknown[], context: ValueContext): unknown {
  const possible = branches.filter((branch) => branch !== false);
  const others = possible.filter((one) => !isRecord(one) || (one["type"] !== "null" && one["const"] !== null));
  if (isShallow(context)) return others[0] ?? possible[0];
  if (others.length < possible.length) return { type: "null" };
  const sized = others.map((branch) => ({ branch, size: countReferences(branch, context) }));
  return sized.toSorted((one, other) => one.size - other.size)[0]?.branch;
}

function countReferences(schema: unknown, context: ValueContext): number {
  const { $ref } = isRecord(schema) ? schema : {};
  const json = JSON.stringify(typeof $ref === "string" ? findReferenced($ref, context.root) : schema) ?? "";
  takeReads(context, json.length / CHARS_PER_READ);
  return json.split('"$ref":').length;
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

/** All values of each member. Merging records pair by pair would take quadratic time. */
function groupMembers(records: readonly unknown[]): [string, unknown[]][] {
  const members = Map.groupBy(records.filter(isRecord).flatMap(Object.entries<unknown>), ([key]) => key);
  return Array.from(members, ([key, same]) => [key, same.map(([, value]) => value)]);
}

/** What a keyword of several schemas requires together, as far as keywords can be merged one by one. */
function joinValues(keyword: string, values: readonly unknown[]): unknown {
  if (values.length === 1) return values[0];
  if (keyword === "required") return [...new Set(values.flatMap(listOf))];
  if (keyword === "properties")
    return Object.fromEntries(
      groupMembers(values).map(([name, allOf]) => [name, allOf.length === 1 ? allOf[0] : { allOf }]),
    );
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
  return listOf(type).flatMap((one) => (one === "number" ? [one, "integer"] : [one]));
}
