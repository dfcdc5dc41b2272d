import type { Hints } from "./hints.ts";

/** Where in a JSON value the making stands. */
export interface Making {
  /** The whole schema, for references. */
  readonly root: unknown;
  readonly hints: Hints;
  /** The property that the value is for; elements have their array's. */
  readonly name: string;
  readonly depth: number;
  /** Counts siblings in arrays, so that elements differ. */
  readonly position: number;
  /** Shared by the whole value: how much of the budget and of the message's numbers is used. */
  readonly spent: Spent;
}

export interface Spent {
  values: number;
  numbers: number;
  steps: number;
}

/** Beyond this depth values are as small as their schema lets them be. */
const GENEROUS_DEPTH = 4;

export function isGenerous(making: Making): boolean {
  return making.depth <= GENEROUS_DEPTH;
}

/** All looks at schemas that one value may cost: a schema can refer to itself in more ways than anyone wants to follow. */
const STEPS_MAX = 50_000;

export function takeStep({ spent }: Making): boolean {
  spent.steps += 1;
  return spent.steps <= STEPS_MAX;
}

/** A schema that may say nothing: `true` and absent allow anything. */
export type SchemaObject = Readonly<Record<string, unknown>>;

export function numberOr<T>(value: unknown, otherwise: T): number | T {
  return typeof value === "number" ? value : otherwise;
}

export function textList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}
