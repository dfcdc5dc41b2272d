import { isObject, type Json, type JsonObject, listAt, objectAt, textAt, textsAt } from "./json.ts";

/** Returns the name at the end of a reference, or null if it is not a reference. */
export function refName(schema: Json | undefined): string | null {
  const ref = isObject(schema) ? textAt(schema, "$ref") : null;
  return ref === null ? null : (ref.split("/").at(-1) ?? null);
}

/** Prints a parameter's schema as a TypeScript type. Bodies are printed by name instead. */
export function typeOf(schema: JsonObject): string {
  const name = refName(schema);
  if (name !== null) return `Schema.${name}`;
  const values = schema["const"] === undefined ? listAt(schema, "enum") : [schema["const"]];
  if (values.length > 0) return values.map((value) => JSON.stringify(value)).join(" | ");
  const branches = [...listAt(schema, "oneOf"), ...listAt(schema, "anyOf")].filter(isObject);
  if (branches.length > 0) return branches.map(typeOf).join(" | ");
  const types = textAt(schema, "type") === null ? textsAt(schema, "type") : [textAt(schema, "type") ?? ""];
  return types.length === 0 ? "unknown" : types.map((type) => namedType(type, schema)).join(" | ");
}

function namedType(type: string, schema: JsonObject): string {
  switch (type) {
    case "integer":
    case "number":
      return "number";
    case "array":
      return `ReadonlyArray<${typeOf(objectAt(schema, "items"))}>`;
    case "object":
      return "Readonly<Record<string, unknown>>";
    default:
      return type;
  }
}

/** Prints an object type with one member per parameter. Names are quoted, because headers contain dashes. */
export function parametersType(parameters: readonly JsonObject[]): string {
  if (parameters.length === 0) return "NoParameters";
  const members = parameters.map((parameter) => {
    const optional = parameter["required"] === true ? "" : "?";
    return `readonly ${memberName(parameterName(parameter))}${optional}: ${typeOf(objectAt(parameter, "schema"))}`;
  });
  return `{ ${members.join("; ")} }`;
}

export function parameterName(parameter: JsonObject): string {
  return textAt(parameter, "name") ?? "";
}

export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
