import { isRecord } from "../../../base/json/records.ts";

/** Whether a function takes one free text and nothing else that it needs, so that several texts mean several calls. */
export function oneTextParameter(parameters: unknown): boolean {
  if (!isRecord(parameters) || !isRecord(parameters["properties"])) return false;
  const properties = Object.entries(parameters["properties"]);
  const required = new Set<unknown>(Array.isArray(parameters["required"]) ? parameters["required"] : []);
  const needed = required.size > 0 ? properties.filter(([name]) => required.has(name)) : properties;
  const texts = needed.filter(([, schema]) => isFreeText(schema));
  const others = needed.filter(([, schema]) => !isFreeText(schema) && !mayBeAbsent(schema));
  return texts.length === 1 && others.length === 0;
}

function isFreeText(schema: unknown): boolean {
  return (
    isRecord(schema) && schema["type"] === "string" && schema["enum"] === undefined && schema["const"] === undefined
  );
}

/**
 * Strict schemas list every member as required and let the optional ones be null; an enumeration has a first value to
 * fall back on.
 */
function mayBeAbsent(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  const { type } = schema;
  return schema["enum"] !== undefined || (Array.isArray(type) && type.includes("null"));
}
