import { isRecord } from "@antiphon/base/json/records.ts";
import { type Hints, isSpoken, plainWords } from "./hints.ts";
import { makeString } from "./make-string.ts";
import {
  isShallow,
  listOf,
  numberOr,
  resolveSchema,
  type SchemaObject,
  TYPES_MAX,
  takeSchemaRead,
  textList,
  type ValueContext,
} from "./schemas.ts";

const DEPTH_MAX = 32;
/** Only this many values of an enumeration are searched for in the message. */
const MENTIONED_MAX = 200;
/** Upper bound of an array's length and of `minProperties`, even if the schema asks for more. */
const MEMBERS_MAX = 1000;
/** Multiples of a step that are tried in each direction. */
const TRIES_MAX = 1000;
/** If a range contains no multiple of the step, this many evenly spaced values of it are tried. */
const PARTS = 64;

/**
 * A JSON value that fits a JSON Schema. Where the schema leaves a choice, values from the message are used. `pattern`
 * and `oneOf` are supported in part; `not`, `if` and dependent schemas are ignored.
 */
export function makeValue(schema: unknown, hints: Hints): unknown {
  const budget = { valuesLeft: 2000, charactersLeft: 100_000, schemaReadsLeft: 50_000, numbersUsed: 0 };
  return make(schema, { root: schema, hints, name: "", depth: 0, position: 0, budget });
}

function make(schema: unknown, context: ValueContext): unknown {
  context.budget.valuesLeft -= 1;
  if (context.depth > DEPTH_MAX || context.budget.valuesLeft < 0) return null;
  const resolvedSchema = resolveSchema(schema, context);
  const { enum: values, type } = resolvedSchema;
  if ("const" in resolvedSchema) return resolvedSchema["const"];
  if (Array.isArray(values)) return takeSchemaRead(context, values.length) ? chooseValue(values, type, context) : null;
  const kind = chooseType(resolvedSchema, context);
  switch (kind) {
    case "object":
      return makeObject(resolvedSchema, context);
    case "array":
      return makeArray(resolvedSchema, context);
    case "number":
    case "integer":
      return makeNumber(resolvedSchema, context, kind === "integer");
    case "boolean":
      return saysNo(context) === (context.position % 2 === 1);
    case "null":
      return null;
    default:
      return makeString(resolvedSchema, context);
  }
}

/** The value that the message mentions, or the first one. Further elements of an array get the values after it. */
function chooseValue(values: readonly unknown[], type: unknown, context: ValueContext): unknown {
  const types = listOf(type).slice(0, TYPES_MAX);
  const isOfType = (value: unknown): boolean => {
    const own = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
    return types.includes(own) || (types.includes("integer") && Number.isInteger(value));
  };
  const allowed = type === undefined ? values : values.filter(isOfType);
  const place = allowed.slice(0, MENTIONED_MAX).findIndex((value) => isMentioned(value, context));
  return allowed[(Math.max(place, 0) + context.position) % allowed.length] ?? null;
}

function isMentioned(value: unknown, context: ValueContext): boolean {
  return typeof value === "string" && takeSchemaRead(context) && isSpoken(value, context.hints);
}

/** The first type but null. A schema without `type` implies one by its keywords. */
function chooseType(schema: SchemaObject, context: ValueContext): unknown {
  const types = listOf(schema["type"]).slice(0, TYPES_MAX);
  if (!isShallow(context) && types.includes("null")) return "null";
  if (types[0] !== undefined) return types.find((one) => one !== "null") ?? "null";
  const keywords = Object.keys(schema);
  if (keywords.some((keyword) => /^(?:properties|required|additionalProperties|minProperties)$/.test(keyword)))
    return "object";
  if (keywords.some((keyword) => /^(?:items|prefixItems|minItems|maxItems|uniqueItems)$/.test(keyword))) return "array";
  return keywords.some((keyword) => /^(?:exclusiveM|m)(?:in|ax)imum$|^multipleOf$/.test(keyword)) ? "number" : "string";
}

function makeObject(schema: SchemaObject, context: ValueContext): unknown {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const names = memberNames(schema, properties, context).slice(0, Math.max(0, context.budget.valuesLeft));
  const members = names.map((name) => {
    const member = Object.hasOwn(properties, name) ? properties[name] : schema["additionalProperties"];
    return [name, make(member, { ...context, name, depth: context.depth + 1 })] as const;
  });
  return Object.fromEntries(members);
}

/** All required members, the optional ones that the message mentions, and more up to `minProperties`. */
function memberNames(schema: SchemaObject, properties: SchemaObject, context: ValueContext): string[] {
  const requiredNames = new Set(textList(schema["required"]));
  if (!takeSchemaRead(context, requiredNames.size)) return [];
  const optional = Object.keys(properties).filter((name) => properties[name] !== false && !requiredNames.has(name));
  const isWanted = (name: string): boolean => {
    const { enum: values } = isRecord(properties[name]) ? properties[name] : {};
    const choices = Array.isArray(values) ? values.slice(0, MENTIONED_MAX) : [];
    return requiredNames.size === 0 || choices.some((value) => isMentioned(value, context));
  };
  const optionalNames = isShallow(context) ? optional.filter(isWanted) : [];
  const min = Math.min(numberOr(schema["minProperties"], 0), MEMBERS_MAX);
  const room = Math.max(0, numberOr(schema["maxProperties"], Infinity) - requiredNames.size);
  const names = [...requiredNames, ...optionalNames.slice(0, room)];
  const more = [...optional, ...Array.from({ length: min }, (_, index) => `key${index + 1}`)];
  return names.length < min ? [...new Set([...names, ...more])].slice(0, min) : names;
}

/** One element, or one for each value in the message; none when nested deeply, unless the schema requires some. */
function makeArray(schema: SchemaObject, context: ValueContext): unknown[] {
  const { items, prefixItems, minItems, maxItems, uniqueItems } = schema;
  const prefix: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
  const max = Math.min(numberOr(maxItems, MEMBERS_MAX), items === false ? prefix.length : MEMBERS_MAX, MEMBERS_MAX);
  const named = context.position === 0 ? context.hints.series.length : 0;
  const wanted = isShallow(context) ? Math.max(prefix.length, named, 1) : 0;
  const size = Math.min(Math.max(numberOr(minItems, 0), wanted), max, Math.max(0, context.budget.valuesLeft));
  const isUnique = uniqueItems === true;
  const hints = isUnique ? { ...context.hints, numbers: [] } : context.hints; // The message may repeat a number.
  const elements = Array.from({ length: size }, (_, index) => {
    const position = context.position * size + index;
    const inner = { ...context, hints, position, depth: context.depth + 1 };
    return make(index < prefix.length ? prefix[index] : items, inner);
  });
  return isUnique ? [...new Map(elements.map((element) => [JSON.stringify(element), element])).values()] : elements;
}

/** The next number in the message that the schema allows; otherwise an allowed number near 1. */
function makeNumber(schema: SchemaObject, { hints, budget, position }: ValueContext, isInteger: boolean): number {
  const least = numberOr(schema["minimum"], -Infinity);
  const most = numberOr(schema["maximum"], Infinity);
  const above = numberOr(schema["exclusiveMinimum"], -Infinity);
  const below = numberOr(schema["exclusiveMaximum"], Infinity);
  const step = numberOr(schema["multipleOf"], 0);
  const fits = (value: number): boolean =>
    (isInteger ? Number.isInteger(value) : Number.isFinite(value)) &&
    value >= least &&
    value <= most &&
    value > above &&
    value < below &&
    (step <= 0 || Number.isInteger(value / step));
  const place = hints.numbers.findIndex((value, index) => index >= budget.numbersUsed && fits(value));
  budget.numbersUsed = place === -1 ? budget.numbersUsed : place + 1;
  const low = Math.max(least, above);
  const high = Math.min(most, below);
  const nearest = Math.min(Math.max(1, low), high);
  const fitting = candidates(nearest, Math.abs(step) || 1, low, high)
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
