import type { ApiError } from "@antiphon/base/api-error.ts";
import { assert } from "@antiphon/base/assert.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { SchemaRefusal } from "@antiphon/base/json/schema-refusal.ts";
import { invalidType, invalidValue, missingParameter, outOfBounds, unknownParameter } from "../parameter-errors.ts";
import { isSizeRule, patternError, rangeError, sizeError } from "./limit-error.ts";
import { quotedList } from "./quoted-list.ts";

/** Turns a validator's refusals into the reference's error for the deepest of them. `root` is the path of the value. */
export function validationError(refusals: readonly SchemaRefusal[], root: string): ApiError {
  const refusal = deepest(refusals);
  const param = joinPath(root, refusal.instancePath);
  const { params } = refusal;
  switch (refusal.keyword) {
    case "additionalProperties":
      return unknownParameter(member(param, String(params["additionalProperty"])), "");
    case "required":
      return missingMember(param, String(params["missingProperty"]), refusal.data);
    case "type":
    case "anyOf":
    case "oneOf":
      return typeError(param, refusal);
    case "enum":
    case "const":
      return valueError(param, refusal);
    case "discriminator":
      return tagError(param, refusal);
    default:
      return boundsError(param, refusal);
  }
}

/** The deepest refusal; at equal depth, the most specific. */
function deepest(refusals: readonly SchemaRefusal[]): SchemaRefusal {
  const weight = (refusal: SchemaRefusal): number => depth(refusal.instancePath) * 4 + specificity(refusal);
  const best = refusals.toSorted((a, b) => weight(b) - weight(a))[0];
  assert(best !== undefined, "a validator that refuses a value reports at least one error");
  return best;
}

/**
 * 0: a union, or its branch for null. 1: a wrong type. 2: a union that describes what it expects (`x-expected`). 3: the
 * right type with a wrong value.
 */
function specificity(refusal: SchemaRefusal): 0 | 1 | 2 | 3 {
  switch (refusal.keyword) {
    case "if":
      return 0;
    case "anyOf":
    case "oneOf":
      return expectedOf(refusal.parentSchema) === null ? 0 : 2;
    case "type":
      return paramOf(refusal, "type") === "null" ? 0 : 1;
    case "enum":
    case "const":
      return typeof refusal.data === "string" ? 3 : 1;
    default:
      return 3;
  }
}

function paramOf(refusal: SchemaRefusal, name: string): unknown {
  return refusal.params[name];
}

function depth(instancePath: string): number {
  return instancePath.split("/").length - 1;
}

/** Turns `/1/content/0` under `input` into `input[1].content[0]`. */
function joinPath(root: string, instancePath: string): string {
  return instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : member(path, step)), root);
}

function member(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

const INPUT_ELEMENT = /^(input|items)\[\d+\]$/;

/** The reference lists fewer values if the effort is an integer. */
const EFFORT_OF_INTEGERS = "one of 'minimal', 'low', 'medium', or 'high'";

function typeError(param: string, { parentSchema, data }: SchemaRefusal): ApiError {
  if (param === "reasoning.effort" && Number.isInteger(data))
    return invalidType(param, EFFORT_OF_INTEGERS, "an integer");
  const expectedType = INPUT_ELEMENT.test(param) ? "an input item" : expectedWords(parentSchema);
  return invalidType(param, expectedType, typeWords(data));
}

const ROLES = ["assistant", "system", "developer", "user"];

const CHAT_SHAPE_HINT =
  " In the Responses API, 'name', 'description', 'parameters' and 'strict' stand beside 'type', not within 'function'.";

/** The reference treats an element of `input` without type and role as a message with an empty role. */
function missingMember(param: string, name: string, data: unknown): ApiError {
  const hasNoRole = isRecord(data) && data["type"] == null && data["role"] === undefined;
  if (INPUT_ELEMENT.test(param) && (name === "role" || hasNoRole)) return invalidValue(param, "", ROLES);
  const isChatShaped = name === "name" && isRecord(data) && isRecord(data["function"]);
  return missingParameter(member(param, name), isChatShaped ? CHAT_SHAPE_HINT : "");
}

function valueError(param: string, refusal: SchemaRefusal): ApiError {
  const allowedValues =
    refusal.keyword === "const" ? [paramOf(refusal, "allowedValue")] : paramOf(refusal, "allowedValues");
  const values =
    listedValues(refusal.parentSchema) ??
    (Array.isArray(allowedValues) ? allowedValues : []).filter((value) => value !== null).map(String);
  if (typeof refusal.data === "string") return invalidValue(param, refusal.data, values);
  return invalidType(
    param,
    expectedOf(refusal.parentSchema) ?? `one of ${quotedList(values, "or")}`,
    typeWords(refusal.data),
  );
}

/** The values listed in the reference's messages if it accepts more; otherwise null. */
function listedValues(schema: unknown): readonly string[] | null {
  const values = isRecord(schema) ? schema["x-listed-values"] : null;
  return Array.isArray(values) ? values.map(String) : null;
}

/**
 * The error for an unknown tag of a union. In an element of `input`, it names the element, elsewhere the path of the
 * tag.
 */
function tagError(param: string, refusal: SchemaRefusal): ApiError {
  const tag = String(paramOf(refusal, "tag"));
  const value = paramOf(refusal, "tagValue");
  if (!isRecord(refusal.data)) return typeError(param, refusal);
  if (value === undefined) return missingMember(param, tag, refusal.data);
  const text = typeof value === "string" ? value : "";
  const tags = allowedTags(refusal.parentSchema);
  const values = listedValues(refusal.parentSchema) ?? tags;
  if (values.includes(text)) return invalidValue(param, text, tags); // A known tag, but not allowed here.
  return invalidValue(INPUT_ELEMENT.test(param) ? param : member(param, tag), text, values);
}

function allowedTags(schema: unknown): readonly string[] {
  const tags = isRecord(schema) ? schema["x-tags"] : null;
  return Array.isArray(tags) ? tags.map(String) : [];
}

function boundsError(param: string, refusal: SchemaRefusal): ApiError {
  const { keyword, data } = refusal;
  const limit = Number(paramOf(refusal, "limit"));
  if (isSizeRule(keyword)) return sizeError(keyword, param, limit, valueSize(data));
  if (keyword === "minimum" || keyword === "maximum") {
    const isInteger = isRecord(refusal.parentSchema) && types(refusal.parentSchema).includes("integer");
    return rangeError(keyword, param, limit, { got: String(data), isInteger });
  }
  if (keyword === "pattern") return patternError(param, String(paramOf(refusal, "pattern")));
  return outOfBounds("invalid_value", param, "the value is not accepted here.");
}

function valueSize(value: unknown): number {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return isRecord(value) ? Object.keys(value).length : 0;
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "a string",
  boolean: "a boolean",
  integer: "an integer",
  number: "a decimal",
  object: "an object",
  array: "an array",
};

function expectedOf(schema: unknown): string | null {
  const words = isRecord(schema) ? schema["x-expected"] : null;
  return typeof words === "string" ? words : null;
}

function expectedWords(schema: unknown): string {
  const expectation = expectedOf(schema);
  if (expectation !== null) return expectation;
  if (!isRecord(schema)) return "another type";
  const values = schema["enum"];
  if (Array.isArray(values)) return `one of ${quotedList(values.filter((value) => value !== null).map(String), "or")}`;
  const words = types(schema).flatMap((type) => TYPE_WORDS[type] ?? []);
  return words.length === 1 && words[0] !== undefined ? words[0] : `one of ${words.join(" or ")}`;
}

function types(schema: Record<string, unknown>): readonly string[] {
  const type = schema["type"];
  return (Array.isArray(type) ? type : [type]).filter((name): name is string => typeof name === "string");
}

/** The type of a value that was sent, for error messages: "an array", "null". */
export function typeWords(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal";
  return TYPE_WORDS[typeof value] ?? "a value";
}
