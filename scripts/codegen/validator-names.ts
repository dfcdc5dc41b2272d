import type { Schemas } from "./bundle.ts";
import { type JsonObject, objectAt, textsAt } from "./json.ts";

/**
 * Returns the schemas that get a validator, `validate<Name>`, and a reader, `read<Name>`: all except forms, which are
 * not JSON.
 */
export function validatedNames(schemas: Schemas): readonly string[] {
  return Object.entries(schemas).flatMap(([name, schema]) => (isForm(schema) ? [] : [name]));
}

/** Returns the requests whose members are checked one by one, in the reference's order. */
export function orderedRequests(schemas: Schemas): readonly string[] {
  return Object.entries(schemas).flatMap(([name, schema]) =>
    schema["x-validation-order"] === undefined ? [] : [name],
  );
}

/** Returns the members of a request in the order of their checks. Members that the order does not list come last. */
export function fieldOrder(schema: JsonObject): readonly string[] {
  const properties = objectAt(schema, "properties");
  const ordered = textsAt(schema, "x-validation-order");
  const unknown = ordered.filter((name) => properties[name] === undefined);
  if (unknown.length > 0) throw new Error(`x-validation-order names ${unknown.join(", ")}, which are not members`);
  return [...ordered, ...Object.keys(properties).filter((name) => !ordered.includes(name))];
}

function isForm(schema: JsonObject): boolean {
  const properties = objectAt(schema, "properties");
  return Object.keys(properties).some((name) => {
    const member = objectAt(properties, name);
    return member["format"] === "binary" || objectAt(member, "items")["format"] === "binary";
  });
}
