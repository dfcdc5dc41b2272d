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
  /** Shared by all places of the value. */
  readonly budget: Budget;
}

/** What one value may still cost. Without it, a small schema could ask for a huge value. */
export interface Budget {
  valuesLeft: number;
  charactersLeft: number;
  /** Reads of schemas. A recursive schema can be reached by very many paths and be long each time. */
  schemaReadsLeft: number;
  /** How many numbers of the message have been used. */
  numbersUsed: number;
}

export function fullBudget(): Budget {
  return { valuesLeft: 2000, charactersLeft: 100_000, schemaReadsLeft: 50_000, numbersUsed: 0 };
}

/** Below this depth, values are as small as their schema allows. */
const SHALLOW_DEPTH_MAX = 4;

export function isShallow(context: ValueContext): boolean {
  return context.depth <= SHALLOW_DEPTH_MAX;
}

/** This many members of a schema count as one more read. */
const MEMBERS_PER_READ = 16;

/** Counts the read of a schema with this many members. False if the budget is used up. */
export function takeSchemaRead({ budget }: ValueContext, members = 0): boolean {
  budget.schemaReadsLeft -= 1 + members / MEMBERS_PER_READ;
  return budget.schemaReadsLeft >= 0;
}

/** A JSON Schema object. `true` and a missing schema are read as `{}`. */
export type SchemaObject = Readonly<Record<string, unknown>>;

export function numberOr<T>(value: unknown, otherwise: T): number | T {
  return typeof value === "number" ? value : otherwise;
}

export function textList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}
