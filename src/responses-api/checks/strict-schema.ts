import { isRecord } from "@antiphon/base/json/records.ts";
import { strictSizeFault } from "./strict-limits.ts";

/** Levels of nesting in a strict schema. */
const DEPTH_MAX = 64;

/**
 * A text on where and how a JSON Schema breaks the rules of `strict`, or null if it does not: every object must list
 * all its properties as required and allow no others.
 */
export function strictnessFault(schema: unknown): string | null {
  return strictSizeFault(schema) ?? faultAt(schema, [], 0);
}

function faultAt(schema: unknown, path: readonly string[], depth: number): string | null {
  if (!isRecord(schema)) return null;
  if (depth > DEPTH_MAX) return `${context(path)}the schema nests more than ${DEPTH_MAX} levels.`;
  return objectFault(schema, path) ?? innerFault(schema, path, depth + 1);
}

function objectFault(schema: Record<string, unknown>, path: readonly string[]): string | null {
  const isObject = schema["type"] === "object" || (Array.isArray(schema["type"]) && schema["type"].includes("object"));
  if (!isObject) return null;
  if (schema["additionalProperties"] !== false) {
    return `${context(path)}'additionalProperties' is required to be supplied and to be false.`;
  }
  const properties = Object.keys(isRecord(schema["properties"]) ? schema["properties"] : {});
  const requiredNames = new Set<unknown>(Array.isArray(schema["required"]) ? schema["required"] : []);
  const missing = properties.find((name) => !requiredNames.has(name));
  if (missing === undefined) return null;
  return `${context(path)}'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
}

function innerFault(schema: Record<string, unknown>, path: readonly string[], depth: number): string | null {
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "properties" || keyword === "$defs" || keyword === "definitions") {
      for (const [name, inner] of Object.entries(isRecord(value) ? value : {})) {
        const fault = faultAt(inner, [...path, keyword, name], depth);
        if (fault !== null) return fault;
      }
    } else if (keyword === "items" || keyword === "anyOf" || keyword === "oneOf" || keyword === "allOf") {
      for (const [index, inner] of (Array.isArray(value) ? value : [value]).entries()) {
        const fault = faultAt(inner, [...path, keyword, ...(Array.isArray(value) ? [String(index)] : [])], depth);
        if (fault !== null) return fault;
      }
    }
  }
  return null;
}

function context(path: readonly string[]): string {
  return `In context=(${path.map((step) => `'${step}'`).join(", ")}), `;
}
