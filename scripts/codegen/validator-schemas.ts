import type { Schemas } from "./bundle.ts";
import { isObject, type Json, type JsonObject, objectAt, textAt } from "./json.ts";
import { taggedUnion } from "./tags.ts";
import { mapSchema } from "./walk-schema.ts";

/** Annotations kept in validation errors, for the error messages. */
export const CARRIED_ANNOTATIONS = ["x-expected", "x-listed-values", "x-tags"];

/** Keywords that the generated code checks. */
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

/** Returns the schemas for validators of what we accept and send: objects are closed, and a tag decides each union. */
export function strictSchemas(schemas: Schemas): Schemas {
  return mapAll(schemas, (schema) => schema);
}

/**
 * Returns the schemas for readers of other servers' messages: unknown members are ignored, and `x-reader-required`
 * lists the required ones.
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
 * Removes descriptions and other annotations, which would only enlarge the code. Throws on a keyword of neither list,
 * because its rule would go unchecked.
 */
function onlyKeywords(schema: JsonObject): JsonObject {
  const checked = (keyword: string) => KEYWORDS.includes(keyword) || CARRIED_ANNOTATIONS.includes(keyword);
  const unknown = Object.keys(schema).find(
    (keyword) => !checked(keyword) && !SILENT_KEYWORDS.includes(keyword) && !keyword.startsWith("x-"),
  );
  if (unknown !== undefined)
    throw new Error(`the validators do not support the keyword ${unknown} in ${JSON.stringify(schema).slice(0, 200)}`);
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => checked(keyword)));
}

/**
 * Selects the branch of a tagged union by its tag, which is fast and gives errors about that branch. Any other `oneOf`
 * may have overlapping branches and becomes an `anyOf`.
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
  if (branch === undefined) throw new Error(`x-default-tag ${fallback} is not a tag of its union`);
  return withDefaultTag(decided, union.tag, `#/components/schemas/${branch.schema}`);
}

/** A value without a tag, or with a null tag, is checked against the default branch. */
function withDefaultTag(decided: JsonObject, tag: string, fallback: string): JsonObject {
  const isTagged = { type: "object", required: [tag], properties: { [tag]: { not: { type: "null" } } } };
  return { if: isTagged, then: decided, else: { $ref: fallback } };
}

/** Returns the tags that select each branch, by the branch's name. */
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

/** Removes null from the tag's type. A null tag never reaches a branch, and a discriminator may not allow null. */
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
