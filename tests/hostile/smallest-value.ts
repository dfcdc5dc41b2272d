import { assert } from "@antiphon/base/assert.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { choicesOf, numberAt, propertiesOf, requiredOf, type Schema, typesOf, variantsOf } from "./contract-schema.ts";

/** The smallest value that a schema allows: required members only, the shortest strings, the first choice. */
export function smallestValue(schema: Schema): unknown {
  const [first] = variantsOf(schema);
  assert(first !== undefined, "a union has branches");
  return smallestOf(first.schema);
}

/** The same for a schema without a union at its top. */
export function smallestOf(schema: Schema): unknown {
  const choices = choicesOf(schema);
  if (choices !== null) return choices[0];
  switch ((typesOf({ schema, name: null }) ?? ["string"]).find((type) => type !== "null")) {
    case "string":
      return smallestText(schema);
    case "integer":
    case "number":
      return numberAt(schema, "minimum") ?? 0;
    case "boolean":
      return true;
    case "array":
      return Array.from({ length: numberAt(schema, "minItems") ?? 0 }, () => smallestValue(itemsOf(schema)));
    case "object":
      return smallestObject(schema);
    default:
      return null;
  }
}

export function itemsOf(schema: Schema): Schema {
  return isRecord(schema["items"]) ? schema["items"] : {};
}

const TUNNEL = `tunnel_${"a".repeat(32)}`;

function smallestText(schema: Schema): string {
  const pattern = schema["pattern"];
  const text = "a".repeat(Math.max(1, numberAt(schema, "minLength") ?? 1));
  if (typeof pattern !== "string") return text;
  const fitting = [text, TUNNEL].find((candidate) => new RegExp(pattern, "u").test(candidate));
  assert(fitting !== undefined, `a text is known that matches ${pattern}`);
  return fitting;
}

function smallestObject(schema: Schema): Record<string, unknown> {
  const required = requiredOf(schema);
  const members = propertiesOf(schema).filter(([name]) => required.includes(name));
  return Object.fromEntries(members.map(([name, member]) => [name, smallestValue(member)]));
}
