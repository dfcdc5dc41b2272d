import { isObject, type Json, type JsonObject } from "./json.ts";

const SCHEMA_MAPS = ["properties", "patternProperties", "$defs"];
const SCHEMA_LISTS = ["oneOf", "anyOf", "allOf", "prefixItems"];
const SCHEMAS = ["items", "additionalProperties", "propertyNames", "not", "if", "then", "else"];

/**
 * Returns a copy in which `change` has replaced the schema and every schema inside it, innermost first. Values such as
 * `const` are not schemas.
 */
export function mapSchema(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const members = Object.entries(schema).map(([keyword, value]): [string, Json] => [
    keyword,
    mapMember(keyword, value, change),
  ]);
  return change(Object.fromEntries(members));
}

function mapMember(keyword: string, value: Json, change: (schema: JsonObject) => JsonObject): Json {
  const mapped = (inner: Json): Json => (isObject(inner) ? mapSchema(inner, change) : inner);
  if (SCHEMAS.includes(keyword)) return mapped(value);
  if (SCHEMA_LISTS.includes(keyword) && Array.isArray(value)) return value.map(mapped);
  if (!SCHEMA_MAPS.includes(keyword) || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapped(inner)]));
}
