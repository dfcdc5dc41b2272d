import { isRecord } from "@antiphon/base/json/records.ts";
import fc from "fast-check";
import {
  choicesOf,
  numberAt,
  propertiesOf,
  requiredOf,
  type Schema,
  schemaNamed,
  typesOf,
  type Variant,
  variantsOf,
} from "./contract-schema.ts";
import { itemsOf } from "./smallest-value.ts";

type Json = fc.Arbitrary<unknown>;

const DEPTH_MAX = 6;
const ELEMENTS_MAX = 3;
const TEXT_CHARS_MAX = 40;
const INTEGER_MAX = 1_000_000;

/** Create bodies that are valid by the contract's schema. `members` are the optional ones that may occur. */
export function createBodies(model: string, members: readonly string[]): fc.Arbitrary<Record<string, unknown>> {
  const offered = propertiesOf(schemaNamed("CreateResponseRequest")).filter(([name]) => members.includes(name));
  const optional = offered.map(([name, schema]): [string, Json] => [
    name,
    fc.option(valueOf(schema, 0), { nil: undefined, freq: 2 }),
  ]);
  return fc.record({ model: fc.constant(model), input: inputs(), ...Object.fromEntries(optional) });
}

export function topLevelMembers(): readonly string[] {
  return propertiesOf(schemaNamed("CreateResponseRequest"))
    .map(([name]) => name)
    .filter((name) => name !== "model" && name !== "input");
}

function inputs(): Json {
  const item = fc.oneof(
    { weight: 3, arbitrary: valueOf(schemaNamed("MessageInput"), 1) },
    { weight: 1, arbitrary: valueOf(schemaNamed("InputItem"), 1) },
  );
  return fc.oneof(texts(0, TEXT_CHARS_MAX), fc.array(item, { maxLength: ELEMENTS_MAX }));
}

/** Values that fit a schema. */
export function valueOf(schema: Schema, depth = 0): Json {
  const variants = variantsOf(schema);
  return fc.oneof(...variants.map((variant) => fc.constant(variant).chain((chosen) => variantValue(chosen, depth))));
}

function variantValue(variant: Variant, depth: number): Json {
  const { schema } = variant;
  const choices = choicesOf(schema);
  if (choices !== null) return fc.constantFrom(...choices);
  const types = typesOf(variant);
  if (types === null) return fc.jsonValue({ maxDepth: 2 });
  return fc.oneof(...types.map((type) => typedValue(type, schema, depth)));
}

function typedValue(type: string, schema: Schema, depth: number): Json {
  switch (type) {
    case "string":
      return text(schema);
    case "integer":
      return fc.integer({
        min: numberAt(schema, "minimum") ?? -INTEGER_MAX,
        max: numberAt(schema, "maximum") ?? INTEGER_MAX,
      });
    case "number":
      return fc.double({
        min: numberAt(schema, "minimum") ?? -1e9,
        max: numberAt(schema, "maximum") ?? 1e9,
        noNaN: true,
      });
    case "boolean":
      return fc.boolean();
    case "array":
      return list(schema, depth);
    case "object":
      return record(schema, depth);
    default:
      return fc.constant(null);
  }
}

function text(schema: Schema): fc.Arbitrary<string> {
  const { pattern } = schema;
  if (typeof pattern !== "string")
    return texts(numberAt(schema, "minLength") ?? 0, numberAt(schema, "maxLength") ?? TEXT_CHARS_MAX);
  return fc.stringMatching(new RegExp(pattern.replace("+$", "{1,20}$"), "u"));
}

/** Text with every kind of character, including lone surrogates. */
function texts(minLength: number, limit: number): fc.Arbitrary<string> {
  const maxLength = Math.max(minLength, Math.min(limit, TEXT_CHARS_MAX));
  const units = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit));
  return fc.oneof(
    fc.string({ minLength, maxLength }),
    fc.array(units, { minLength, maxLength }).map((parts) => parts.join("")),
  );
}

function list(schema: Schema, depth: number): Json {
  const minLength = numberAt(schema, "minItems") ?? 0;
  if (depth > DEPTH_MAX && minLength === 0) return fc.constant([]);
  return fc.array(valueOf(itemsOf(schema), depth + 1), { minLength, maxLength: Math.max(minLength, ELEMENTS_MAX) });
}

function record(schema: Schema, depth: number): Json {
  const required = requiredOf(schema);
  const members = propertiesOf(schema)
    .filter(([name]) => depth <= DEPTH_MAX || required.includes(name))
    .map(([name, member]): [string, Json] => {
      const value = fc.constant(member).chain((inner) => valueOf(inner, depth + 1));
      return [name, required.includes(name) ? value : fc.option(value, { nil: undefined, freq: 1 })];
    });
  const closed = fc.record(Object.fromEntries(members));
  const further = schema["additionalProperties"];
  if (further === true)
    return fc.oneof(
      jsonSchemas(),
      fc.dictionary(fc.string({ maxLength: 10 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
    );
  if (!isRecord(further)) return closed;
  const entries = fc.dictionary(fc.string({ minLength: 1, maxLength: 10 }), valueOf(further, depth + 1), {
    maxKeys: 3,
  });
  return fc.tuple(closed, entries).map(([own, more]) => ({ ...more, ...own }));
}

/** Invalid attempts at JSON Schema: contradictions, cycles, types and bounds that do not exist. */
function jsonSchemas(): Json {
  const { schema } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
    schema: fc.record(
      {
        type: fc.constantFrom<unknown>(
          "object",
          "string",
          "integer",
          "number",
          "array",
          "boolean",
          "null",
          "zzz",
          7,
          ["string", "null"],
          [],
        ),
        properties: fc.dictionary(fc.constantFrom("a", "b", "__proto__", "constructor", ""), tie("schema"), {
          maxKeys: 3,
        }),
        items: tie("schema"),
        anyOf: fc.array(tie("schema"), { maxLength: 2 }),
        required: fc.constantFrom<unknown>(["a"], ["missing"], "a", 7),
        $ref: fc.constantFrom<unknown>("#", "#/properties/a", "#/nowhere", "http://127.0.0.1:1/schema", 7),
        enum: fc.constantFrom<unknown>([], [1, "x", null], "x"),
        pattern: fc.constantFrom<unknown>("^(a+)+$", "(", "^[a-z]{1,99999}$", "\\p{L}", 7),
        minimum: fc.constantFrom<unknown>(1e308, -1, "x"),
        maximum: fc.constantFrom<unknown>(-1e308, 0),
        minLength: fc.constantFrom<unknown>(1e9, -1, 3),
        minItems: fc.constantFrom<unknown>(1e9, 2, -1),
        additionalProperties: fc.constantFrom<unknown>(false, true, {}),
      },
      { requiredKeys: [] },
    ),
  }));
  return schema;
}
