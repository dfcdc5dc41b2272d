import type { Schemas } from "./bundle.ts";
import { isObject, type Json, type JsonObject, objectAt, textAt } from "./json.ts";
import { taggedUnion } from "./tags.ts";
import { mapSchema } from "./walk-schema.ts";

/** Annotations that a refusal carries to whoever words the error. */
export const CARRIED_ANNOTATIONS = ["x-expected", "x-listed-values", "x-tags"];

/** Each of them has a line in the code that is made. */
const KEYWORDS = [
  "$ref",
  "type",
  "const",
  "enum",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "discriminator",
  "properties",
  "patternProperties",
  "additionalProperties",
  "propertyNames",
  "required",
  "minProperties",
  "maxProperties",
  "items",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minLength",
  "maxLength",
  "pattern",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
];

const SILENT_KEYWORDS = [
  "description",
  "title",
  "default",
  "examples",
  "deprecated",
  "format",
  "contentEncoding",
  "contentMediaType",
];

/** The schemas as a validator of what we accept and send needs them: closed, unions decided by their tag. */
export function strictSchemas(schemas: Schemas): Schemas {
  return mapAll(schemas, (schema) => schema);
}

/**
 * The schemas as a reader of other servers' words needs them: unknown members are ignored, and `x-reader-required` says
 * what is needed.
 */
export function readerSchemas(schemas: Schemas): Schemas {
  return mapAll(schemas, (schema) => {
    const { "x-reader-required": needed, ...rest } = schema;
    const required = needed === undefined ? rest : { ...rest, required: needed };
    if (required["additionalProperties"] !== false) return required;
    const { additionalProperties: _closed, ...open } = required;
    return open;
  });
}

function mapAll(schemas: Schemas, change: (schema: JsonObject) => JsonObject): Schemas {
  const tags = branchTags(schemas);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const mapped = mapSchema(schema, (inner) => withTag(onlyKeywords(change(inner)), inner, schemas));
      return [name, (tags.get(name) ?? []).reduce(withoutNullTag, mapped)];
    }),
  );
}

/**
 * Descriptions and the like would only swell the code. A keyword of neither list could be a rule that goes unchecked,
 * so it is an error.
 */
function onlyKeywords(schema: JsonObject): JsonObject {
  const checked = (keyword: string) => KEYWORDS.includes(keyword) || CARRIED_ANNOTATIONS.includes(keyword);
  const unknown = Object.keys(schema).find(
    (keyword) => !checked(keyword) && !SILENT_KEYWORDS.includes(keyword) && !keyword.startsWith("x-"),
  );
  if (unknown !== undefined)
    throw new Error(
      `the validators do not know the keyword ${unknown}, used in ${JSON.stringify(schema).slice(0, 200)}`,
    );
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => checked(keyword)));
}

/**
 * A tagged union is decided by its tag: one comparison, and errors about the branch that was meant. Any other `oneOf`
 * may overlap, so it is an `anyOf`.
 */
function withTag(schema: JsonObject, written: JsonObject, schemas: Schemas): JsonObject {
  const { oneOf, ...rest } = schema;
  if (oneOf === undefined) return schema;
  const union = taggedUnion(written, schemas);
  if (union === null) return { ...rest, anyOf: oneOf };
  const tags = union.branches.flatMap(({ values }) => values);
  const decided = {
    ...rest,
    type: "object",
    required: [union.tag],
    discriminator: { propertyName: union.tag },
    oneOf,
    "x-tags": tags,
  };
  const fallback = textAt(written, "x-default-tag");
  if (fallback === null) return decided;
  const branch = union.branches.find(({ values }) => values.includes(fallback));
  if (branch === undefined) throw new Error(`x-default-tag ${fallback} is no tag of its union`);
  return withDefaultTag(decided, union.tag, `#/components/schemas/${branch.schema}`);
}

/** Without a tag, or with null for one, the value is held to the branch of the default. */
function withDefaultTag(decided: JsonObject, tag: string, fallback: string): JsonObject {
  const isTagged = { type: "object", required: [tag], properties: { [tag]: { not: { type: "null" } } } };
  return { if: isTagged, then: decided, else: { $ref: fallback } };
}

/** The branches of each union by name, with the tag that picks them. */
function branchTags(schemas: Schemas): ReadonlyMap<string, readonly string[]> {
  const tags = new Map<string, string[]>();
  for (const schema of Object.values(schemas)) {
    mapSchema(schema, (inner) => {
      const union = taggedUnion(inner, schemas);
      for (const branch of union?.branches ?? [])
        tags.set(branch.schema, [...(tags.get(branch.schema) ?? []), union?.tag ?? ""]);
      return inner;
    });
  }
  return tags;
}

/** A null tag never reaches a branch, and a tag that allows null cannot decide. */
function withoutNullTag(schema: JsonObject, tag: string): JsonObject {
  const properties = objectAt(schema, "properties");
  const member = properties[tag];
  const values: Json = isObject(member) ? (member["enum"] ?? null) : null;
  if (!isObject(member) || !Array.isArray(values) || !values.includes(null)) return schema;
  return {
    ...schema,
    properties: { ...properties, [tag]: { ...member, enum: values.filter((value) => value !== null) } },
  };
}
