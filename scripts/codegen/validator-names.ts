import type { Schemas } from "./bundle.ts";
import { type JsonObject, objectAt, textsAt } from "./json.ts";

/** The schemas that get a validator, `validate<Name>`, and a reader, `read<Name>`: all but forms, which are no JSON. */
export function validatedNames(schemas: Schemas): readonly string[] {
  return Object.entries(schemas).flatMap(([name, schema]) => (isForm(schema) ? [] : [name]));
}

/** The requests whose members are checked one by one, in the reference's order. */
export function orderedRequests(schemas: Schemas): readonly string[] {
  return Object.entries(schemas).flatMap(([name, schema]) =>
    schema["x-validation-order"] === undefined ? [] : [name],
  );
}

/** The members of a request in the order in which they are checked; those that the order forgets come last. */
export function fieldOrder(schema: JsonObject): readonly string[] {
  const properties = objectAt(schema, "properties");
  const ordered = textsAt(schema, "x-validation-order");
  const unknown = ordered.filter((name) => properties[name] === undefined);
  if (unknown.length > 0) throw new Error(`x-validation-order names ${unknown.join(", ")}, which are no members`);
  return [...ordered, ...Object.keys(properties).filter((name) => !ordered.includes(name))];
}

function isForm(schema: JsonObject): boolean {
  const properties = objectAt(schema, "properties");
  return Object.keys(properties).some((name) => objectAt(properties, name)["format"] === "binary");
}
