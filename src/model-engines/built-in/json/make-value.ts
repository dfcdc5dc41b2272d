import { assertNever } from "../../../base/assert.ts";
import { type Hints, isSpoken, plainWords } from "./hints.ts";
import { makeArray } from "./make-array.ts";
import { makeNumber } from "./make-number.ts";
import { makeObject } from "./make-object.ts";
import { makeString } from "./make-string.ts";
import { resolveSchema } from "./resolve-schema.ts";
import { fullBudget, isShallow, type SchemaObject, takeSchemaRead, type ValueContext } from "./value-context.ts";

const DEPTH_MAX = 32;
/** Only this many values of an enumeration are searched for in the message. */
const MENTIONED_MAX = 200;

/** JSON Schema has seven types; a longer list is cut. */
const NAMED_TYPES_MAX = 20;

export type JsonType = "object" | "array" | "string" | "number" | "integer" | "boolean" | "null";
const TYPES: readonly JsonType[] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/**
 * A JSON value that fits a JSON Schema. Where the schema leaves a choice, values from the message are used. `pattern`
 * and `oneOf` are supported in part; `not`, `if` and dependent schemas are ignored.
 */
export function makeValue(schema: unknown, hints: Hints): unknown {
  return make(schema, { root: schema, hints, name: "", depth: 0, position: 0, budget: fullBudget() });
}

function make(schema: unknown, context: ValueContext): unknown {
  context.budget.valuesLeft -= 1;
  if (context.depth > DEPTH_MAX || context.budget.valuesLeft < 0) return null;
  const resolved = resolveSchema(schema, context);
  if ("const" in resolved) return resolved["const"];
  if (Array.isArray(resolved["enum"])) {
    if (!takeSchemaRead(context, resolved["enum"].length)) return null;
    return chooseValue(allowedValues(resolved["enum"], typesOf(resolved)), context);
  }
  const type = chooseType(resolved, context);
  switch (type) {
    case "object":
      return makeObject(resolved, context, make);
    case "array":
      return makeArray(resolved, context, make);
    case "string":
      return makeString(resolved, context);
    case "number":
    case "integer":
      return makeNumber(resolved, type === "integer", context);
    case "boolean":
      return saysNo(context) === (context.position % 2 === 1);
    case "null":
      return null;
    default:
      return assertNever(type);
  }
}

/** The value that the message mentions, or the first one. Further elements of an array get the values after it. */
function chooseValue(values: readonly unknown[], context: ValueContext): unknown {
  const start = values.slice(0, MENTIONED_MAX);
  const mentioned = start.findIndex(
    (value) => typeof value === "string" && takeSchemaRead(context) && isSpoken(value, context.hints),
  );
  return values[(Math.max(mentioned, 0) + context.position) % values.length] ?? null;
}

function allowedValues(values: readonly unknown[], types: readonly JsonType[]): readonly unknown[] {
  if (types.length === 0) return values;
  return values.filter((value) =>
    types.some((type) => (type === "integer" ? Number.isInteger(value) : type === typeOf(value))),
  );
}

function typeOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

function chooseType(schema: SchemaObject, context: ValueContext): JsonType {
  const types = typesOf(schema);
  if (!isShallow(context) && types.includes("null")) return "null";
  return types.find((type) => type !== "null") ?? types[0] ?? impliedType(schema);
}

function typesOf({ type }: SchemaObject): JsonType[] {
  const named: readonly unknown[] = Array.isArray(type) ? type.slice(0, NAMED_TYPES_MAX) : [type];
  return TYPES.filter((known) => named.includes(known)).toSorted(
    (one, other) => named.indexOf(one) - named.indexOf(other),
  );
}

/** The type that a schema without `type` implies by its keywords. */
function impliedType(schema: SchemaObject): JsonType {
  const has = (...keywords: readonly string[]): boolean => keywords.some((keyword) => keyword in schema);
  if (has("properties", "required", "additionalProperties", "minProperties")) return "object";
  if (has("items", "prefixItems", "minItems", "maxItems", "uniqueItems")) return "array";
  if (has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")) return "number";
  return "string";
}

function saysNo({ hints, name }: ValueContext): boolean {
  const words = plainWords(name).trim();
  return [" no ", " not ", " without ", " disable "].some((no) => hints.spoken.includes(`${no}${words} `));
}
