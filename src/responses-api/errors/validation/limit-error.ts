import type { ApiError } from "@antiphon/base/api-error.ts";
import { outOfBounds } from "../parameter-errors.ts";

/** JSON Schema keywords that limit a size. */
export type SizeRule = "maxLength" | "minLength" | "maxItems" | "minItems" | "maxProperties";

interface SizeWords {
  readonly code: string;
  readonly what: string;
  readonly expectation: (limit: number) => string;
  readonly got: (size: number) => string;
}

const stringOf = (size: number): string => `a string with length ${size}`;
const arrayOf = (size: number): string => `an array with length ${size}`;

const SIZE_WORDS: Readonly<Record<SizeRule, SizeWords>> = {
  maxLength: {
    code: "string_above_max_length",
    what: "string too long",
    expectation: (limit) => `a string with maximum length ${limit}`,
    got: stringOf,
  },
  minLength: {
    code: "string_below_min_length",
    what: "string too short",
    expectation: (limit) => `a string with minimum length ${limit}`,
    got: stringOf,
  },
  maxItems: {
    code: "array_above_max_length",
    what: "array too long",
    expectation: (limit) => `an array with maximum length ${limit}`,
    got: arrayOf,
  },
  minItems: {
    code: "array_below_min_length",
    what: "array too short",
    expectation: (limit) => `an array with minimum length ${limit}`,
    got: arrayOf,
  },
  maxProperties: {
    code: "object_above_max_properties",
    what: "too many properties",
    expectation: (limit) => `an object with at most ${limit} properties`,
    got: (size) => `an object with ${size} properties`,
  },
};

export function isSizeRule(rule: string): rule is SizeRule {
  return Object.hasOwn(SIZE_WORDS, rule);
}

/** The error for a string, array or object of `size` that breaks `limit`. */
export function sizeError(rule: SizeRule, param: string, limit: number, size: number): ApiError {
  const { code, what, expectation, got } = SIZE_WORDS[rule];
  return outOfBounds(code, param, `${what}. Expected ${expectation(limit)}, but got ${got(size)} instead.`);
}

/** The error for a number outside its limit. */
export function rangeError(
  rule: "minimum" | "maximum",
  param: string,
  limit: number,
  { got, isInteger }: { readonly got: string; readonly isInteger: boolean },
): ApiError {
  const kind = isInteger ? "integer" : "decimal";
  const [code, place, sign] =
    rule === "minimum" ? ["below_min", "below minimum", ">="] : ["above_max", "above maximum", "<="];
  return outOfBounds(
    `${kind}_${code}_value`,
    param,
    `${kind} ${place} value. Expected a value ${sign} ${limit}, but got ${got} instead.`,
  );
}

export function patternError(param: string, pattern: string): ApiError {
  return outOfBounds(
    "invalid_value",
    param,
    `string does not match pattern. Expected a string that matches the pattern '${pattern}'.`,
  );
}
