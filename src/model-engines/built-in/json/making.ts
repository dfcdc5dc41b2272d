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
  /** Shared by the whole value. */
  readonly budget: Budget;
}

/** What making one value may still cost: schemas can ask for more than anyone wants to make. */
export interface Budget {
  valuesLeft: number;
  charactersLeft: number;
  /** Looks at schemas: one can refer to itself in more ways than anyone wants to follow, and be long each time. */
  looksLeft: number;
  /** How many numbers of the message are used up. */
  numbersUsed: number;
}

export function fullBudget(): Budget {
  return { valuesLeft: 2000, charactersLeft: 100_000, looksLeft: 50_000, numbersUsed: 0 };
}

/** Beyond this depth values are as small as their schema lets them be. */
const GENEROUS_DEPTH = 4;

export function isGenerous(making: Making): boolean {
  return making.depth <= GENEROUS_DEPTH;
}

/** Members that are seen at one look. */
const LOOK_MEMBERS = 16;

/** Whether something of so many members may still be looked at. */
export function takeLook({ budget }: Making, members = 0): boolean {
  budget.looksLeft -= 1 + members / LOOK_MEMBERS;
  return budget.looksLeft >= 0;
}

/** A schema that may say nothing: `true` and absent allow anything. */
export type SchemaObject = Readonly<Record<string, unknown>>;

export function numberOr<T>(value: unknown, otherwise: T): number | T {
  return typeof value === "number" ? value : otherwise;
}

export function textList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}
