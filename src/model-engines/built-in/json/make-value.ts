import { assertNever } from "../../../base/assert.ts";
import { type Hints, isSpoken, wordsOf } from "./hints.ts";
import { makeArray } from "./make-array.ts";
import { makeNumber } from "./make-number.ts";
import { makeObject } from "./make-object.ts";
import { makeString } from "./make-string.ts";
import { fullBudget, isGenerous, type Making, type SchemaObject, takeLook } from "./making.ts";
import { settleSchema } from "./settle-schema.ts";

const DEPTH_MAX = 32;
/** Of a longer enumeration only the first values are looked for in the message. */
const MENTIONED_MAX = 200;

/** There are seven types, and nobody lists more. */
const NAMED_TYPES_MAX = 20;

export type JsonType = "object" | "array" | "string" | "number" | "integer" | "boolean" | "null";
const TYPES: readonly JsonType[] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/**
 * A JSON value that fits a JSON Schema, filled from a message where the schema leaves a choice. Patterns and `oneOf`
 * are honoured as far as the engine understands them; `not`, `if` and dependent schemas are not read.
 */
export function makeValue(schema: unknown, hints: Hints): unknown {
  return make(schema, { root: schema, hints, name: "", depth: 0, position: 0, budget: fullBudget() });
}

function make(schema: unknown, making: Making): unknown {
  making.budget.valuesLeft -= 1;
  if (making.depth > DEPTH_MAX || making.budget.valuesLeft < 0) return null;
  const settled = settleSchema(schema, making);
  if ("const" in settled) return settled["const"];
  if (Array.isArray(settled["enum"])) {
    if (!takeLook(making, settled["enum"].length)) return null;
    return chooseValue(allowedValues(settled["enum"], typesOf(settled)), making);
  }
  const type = chooseType(settled, making);
  switch (type) {
    case "object":
      return makeObject(settled, making, make);
    case "array":
      return makeArray(settled, making, make);
    case "string":
      return makeString(settled, making);
    case "number":
    case "integer":
      return makeNumber(settled, type === "integer", making);
    case "boolean":
      return saysNo(making) === (making.position % 2 === 1);
    case "null":
      return null;
    default:
      return assertNever(type);
  }
}

/** The value that the message mentions, or the first; further elements of an array get the ones after it. */
function chooseValue(values: readonly unknown[], making: Making): unknown {
  const start = values.slice(0, MENTIONED_MAX);
  const mentioned = start.findIndex(
    (value) => typeof value === "string" && takeLook(making) && isSpoken(value, making.hints),
  );
  return values[(Math.max(mentioned, 0) + making.position) % values.length] ?? null;
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

function chooseType(schema: SchemaObject, making: Making): JsonType {
  const types = typesOf(schema);
  if (!isGenerous(making) && types.includes("null")) return "null";
  return types.find((type) => type !== "null") ?? types[0] ?? impliedType(schema);
}

function typesOf({ type }: SchemaObject): JsonType[] {
  const named: readonly unknown[] = Array.isArray(type) ? type.slice(0, NAMED_TYPES_MAX) : [type];
  return TYPES.filter((known) => named.includes(known)).toSorted(
    (one, other) => named.indexOf(one) - named.indexOf(other),
  );
}

/** A schema without a type means the kind of value that its keywords are about. */
function impliedType(schema: SchemaObject): JsonType {
  const has = (...keywords: readonly string[]): boolean => keywords.some((keyword) => keyword in schema);
  if (has("properties", "required", "additionalProperties", "minProperties")) return "object";
  if (has("items", "prefixItems", "minItems", "maxItems", "uniqueItems")) return "array";
  if (has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")) return "number";
  return "string";
}

function saysNo({ hints, name }: Making): boolean {
  const words = wordsOf(name).trim();
  return [" no ", " not ", " without ", " disable "].some((no) => hints.spoken.includes(`${no}${words} `));
}
