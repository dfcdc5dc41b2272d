import { numberOr, type SchemaObject, type ValueContext } from "./value-context.ts";

const TRIES_MAX = 1000;
/** If a range contains no multiple of the step, this many evenly spaced values of it are tried. */
const PARTS = 64;

/** The next number in the message that the schema allows; otherwise an allowed number near 1. */
export function makeNumber(schema: SchemaObject, integer: boolean, { hints, budget, position }: ValueContext): number {
  const fits = (value: number): boolean => fitsSchema(value, schema, integer);
  const mentioned = hints.numbers.findIndex((value, index) => index >= budget.numbersUsed && fits(value));
  if (mentioned !== -1) {
    budget.numbersUsed = mentioned + 1;
    return hints.numbers[mentioned] ?? 0;
  }
  const low = Math.max(numberOr(schema["minimum"], -Infinity), numberOr(schema["exclusiveMinimum"], -Infinity));
  const high = Math.min(numberOr(schema["maximum"], Infinity), numberOr(schema["exclusiveMaximum"], Infinity));
  const nearest = Math.min(Math.max(1, low), high);
  const step = Math.abs(numberOr(schema["multipleOf"], 1)) || 1;
  return (
    nthOf(multiplesAround(nearest, step), position, fits) ?? nthOf(rangeSteps(low, high), position, fits) ?? nearest
  );
}

function* multiplesAround(middle: number, step: number): Generator<number, void, undefined> {
  const first = Math.ceil(middle / step);
  yield first * step;
  for (let offset = 1; offset <= TRIES_MAX; offset += 1) {
    yield (first + offset) * step;
    yield (first - offset) * step;
  }
}

function* rangeSteps(low: number, high: number): Generator<number, void, undefined> {
  for (let part = 0; part <= PARTS; part += 1) yield low + ((high - low) * part) / PARTS;
}

/** The nth value that fits, or the last one if fewer fit: a repeated number is better than one that is not allowed. */
function nthOf(values: Iterable<number>, nth: number, fits: (value: number) => boolean): number | null {
  let index = 0;
  let last: number | null = null;
  for (const value of values) {
    if (!fits(value)) continue;
    last = value;
    if (index === nth) break;
    index += 1;
  }
  return last;
}

function fitsSchema(value: number, schema: SchemaObject, integer: boolean): boolean {
  const multipleOf = numberOr(schema["multipleOf"], null);
  return (
    Number.isFinite(value) &&
    (!integer || Number.isInteger(value)) &&
    value >= numberOr(schema["minimum"], -Infinity) &&
    value <= numberOr(schema["maximum"], Infinity) &&
    value > numberOr(schema["exclusiveMinimum"], -Infinity) &&
    value < numberOr(schema["exclusiveMaximum"], Infinity) &&
    (multipleOf === null || multipleOf <= 0 || Number.isInteger(value / multipleOf))
  );
}
