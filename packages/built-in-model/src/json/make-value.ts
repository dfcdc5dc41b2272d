import { isRecord } from "@antiphon/base/json/records.ts";
import { type Hints, isSpoken, plainWords } from "./hints.ts";
import { makeString } from "./make-string.ts";
import {
  isShallow,
  listOf,
  numberOr,
  resolveSchema,
  type SchemaObject,
  takeReads,
  type ValueContext,
} from "./schemas.ts";

const DEPTH_MAX = 32;
/** Upper bound of an array's length and of `minProperties`, even if the schema asks for more. */
const MEMBERS_MAX = 1000;
/** Multiples of a step that are tried in each direction. */
const TRIES_MAX = 1000;
/** If a range contains no multiple of the step, this many evenly spaced values of it are tried. */
const PARTS = 64;
/** What a search for a value in the message costs. */
const READS_PER_SEARCH = 4;
/** The type that a schema without `type` implies by one of its keywords. */
const IMPLIED_TYPES = [
  ["object", /^(?:properties|required|additionalProperties|minProperties)$/],
  ["array", /^(?:items|prefixItems|minItems|maxItems|uniqueItems)$/],
  ["number", /^(?:minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf)$/],
] as const;

/**
 * A JSON value that fits a JSON Schema. Where the schema leaves a choice, values from the message are used. `pattern`
 * and `oneOf` are supported in part; `not`, `if` and dependent schemas are ignored.
 */
export function makeValue(schema: unknown, hints: Hints): unknown {
  const budget = { valuesLeft: 2000, charactersLeft: 100_000, readsLeft: 200_000, numbersUsed: 0 };
  return makePlace(schema, { root: schema, hints, name: "", depth: 0, position: 0, budget });
}

function makePlace(unresolved: unknown, context: ValueContext): unknown {
  context.budget.valuesLeft -= 1;
  if (context.depth > DEPTH_MAX || context.budget.valuesLeft < 0) return null;
  const schema = resolveSchema(unresolved, context);
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"])) return chooseValue(schema["enum"], schema["type"], context);
  const type = chooseType(schema, context);
  switch (type) {
    case "object":
      return makeObject(schema, context);
    case "array":
      return makeArray(schema, context);
    case "number":
    case "integer":
      return makeNumber(schema, context, type === "integer");
    case "boolean":
      return saysNo(context) === (context.position % 2 === 1);
    case "null":
      return null;
    default:
      return makeString(schema, context);
  }
}

/** The value that the message mentions, or the first one. Further elements of an array get the values after it. */
function chooseValue(values: readonly unknown[], type: unknown, context: ValueContext): unknown {
  const types = new Set(listOf(type));
  const isOfType = (value: unknown): boolean =>
    types.has(value === null ? "null" : Array.isArray(value) ? "array" : typeof value) ||
    (types.has("integer") && Number.isInteger(value));
  const allowed = type === undefined ? values : values.filter(isOfType);
  const place = allowed.findIndex((value) => isMentioned(value, context));
  return allowed[(Math.max(place, 0) + context.position) % allowed.length] ?? null;
}

function isMentioned(value: unknown, context: ValueContext): boolean {
  return typeof value === "string" && takeReads(context, READS_PER_SEARCH) && isSpoken(value, context.hints);
}

/** The first type but null. When nested deeply, null if that is allowed. */
function chooseType(schema: SchemaObject, context: ValueContext): unknown {
  const types = listOf(schema["type"]);
  if (!isShallow(context) && types.includes("null")) return "null";
  if (types[0] !== undefined) return types.find((one) => one !== "null") ?? "null";
  const keywords = Object.keys(schema);
  return IMPLIED_TYPES.find(([, implying]) => keywords.some((keyword) => implying.test(keyword)))?.[0];
}

function makeObject(schema: SchemaObject, context: ValueContext): unknown {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const names = memberNames(schema, properties, context).slice(0, Math.max(0, context.budget.valuesLeft));
  const members = names.map((name) => {
    const member = Object.hasOwn(properties, name) ? properties[name] : schema["additionalProperties"];
    return [name, makePlace(member, { ...context, name, depth: context.depth + 1 })] as const;
  });
  return Object.fromEntries(members);
}

/** All required members, the optional ones that the message mentions, and more up to `minProperties`. */
function memberNames(schema: SchemaObject, properties: SchemaObject, context: ValueContext): string[] {
  const required = new Set(listOf(schema["required"]).filter((name) => typeof name === "string"));
  const optional = Object.keys(properties).filter((name) => properties[name] !== false && !required.has(name));
  const isWanted = (name: string): boolean => {
    const { enum: values } = isRecord(properties[name]) ? properties[name] : {};
    return required.size === 0 || listOf(values).some((value) => isMentioned(value, context));
  };
  const wanted = isShallow(context) ? optional.filter(isWanted) : [];
  const min = Math.min(numberOr(schema["minProperties"], 0), MEMBERS_MAX);
  const room = Math.max(0, numberOr(schema["maxProperties"], Infinity) - required.size);
  const names = [...required, ...wanted.slice(0, room)];
  const more = [...optional, ...Array.from({ length: min }, (_, index) => `key${index + 1}`)];
  return names.length < min ? [...new Set([...names, ...more])].slice(0, min) : names;
}

/** One element, or one for each value in the message; none when nested deeply, unless the schema requires some. */
function makeArray(schema: SchemaObject, context: ValueContext): unknown[] {
  const { items, prefixItems, minItems, maxItems, uniqueItems } = schema;
  const prefix: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
  const max = Math.min(numberOr(maxItems, MEMBERS_MAX), items === false ? prefix.length : MEMBERS_MAX, MEMBERS_MAX);
  const series = context.position === 0 ? context.hints.series.length : 0;
  const wanted = isShallow(context) ? Math.max(prefix.length, series, 1) : 0;
  const size = Math.min(Math.max(numberOr(minItems, 0), wanted), max, Math.max(0, context.budget.valuesLeft));
  const isUnique = uniqueItems === true;
  const hints = isUnique ? { ...context.hints, numbers: [] } : context.hints; // The message may repeat a number.
  const elements = Array.from({ length: size }, (_, index) => {
    const position = context.position * size + index;
    const element = index < prefix.length ? prefix[index] : items;
    return makePlace(element, { ...context, hints, position, depth: context.depth + 1 });
  });
  return isUnique ? [...new Map(elements.map((element) => [JSON.stringify(element), element])).values()] : elements;
}

/** The next number in the message that the schema allows; otherwise an allowed number near 1. */
function makeNumber(schema: SchemaObject, { hints, budget, position }: ValueContext, isInteger: boolean): number {
  const above = numberOr(schema["exclusiveMinimum"], -Infinity);
  const below = numberOr(schema["exclusiveMaximum"], Infinity);
  const low = Math.max(numberOr(schema["minimum"], -Infinity), above);
  const high = Math.min(numberOr(schema["maximum"], Infinity), below);
  const multipleOf = Math.abs(numberOr(schema["multipleOf"], 0));
  const fits = (value: number): boolean =>
    (isInteger ? Number.isInteger(value) : Number.isFinite(value)) &&
    value >= low &&
    value <= high &&
    value !== above &&
    value !== below &&
    (multipleOf === 0 || Number.isInteger(value / multipleOf));
  const place = hints.numbers.findIndex((value, index) => index >= budget.numbersUsed && fits(value));
  budget.numbersUsed = place === -1 ? budget.numbersUsed : place + 1;
  const nearest = Math.min(Math.max(1, low), high);
  const fitting = candidates(nearest, multipleOf || 1, low, high)
    .filter(fits)
    .take(position + 1);
  // A repeated number is better than one that is not allowed.
  return hints.numbers[place] ?? fitting.toArray().at(-1) ?? nearest;
}

/** Multiples of the step around a number, then evenly spaced values of the range. */
function* candidates(nearest: number, step: number, low: number, high: number): Generator<number, void, undefined> {
  const first = Math.ceil(nearest / step);
  yield first * step;
  for (let offset = 1; offset <= TRIES_MAX; offset += 1) {
    yield (first + offset) * step;
    yield (first - offset) * step;
  }
  for (let part = 0; part <= PARTS; part += 1) yield low + ((high - low) * part) / PARTS;
}

function saysNo({ hints, name }: ValueContext): boolean {
  const words = plainWords(name).trim();
  return [" no ", " not ", " without ", " disable "].some((no) => hints.spoken.includes(`${no}${words} `));
}
