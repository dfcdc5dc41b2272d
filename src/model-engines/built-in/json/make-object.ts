import { isRecord } from "../../../base/json/records.ts";
import { isSpoken } from "./hints.ts";
import { isGenerous, type Making, numberOr, type SchemaObject, takeLook, textList } from "./making.ts";

/** More members than this are never made, whatever the schema wants. */
const MEMBERS_MAX = 1000;
/** Of a longer enumeration only the first values are looked for in the message. */
const MENTIONED_MAX = 200;

export function makeObject(
  schema: SchemaObject,
  making: Making,
  make: (schema: unknown, making: Making) => unknown,
): unknown {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const other = schema["additionalProperties"];
  const names = memberNames(schema, properties, making).slice(0, Math.max(0, making.budget.valuesLeft));
  return Object.fromEntries(
    names.map((name) => [
      name,
      make(Object.hasOwn(properties, name) ? properties[name] : other, { ...making, name, depth: making.depth + 1 }),
    ]),
  );
}

/** All required members, the optional ones that the message speaks of, and as many more as the schema counts. */
function memberNames(schema: SchemaObject, properties: SchemaObject, making: Making): string[] {
  const needed = new Set(textList(schema["required"]));
  const required = [...needed];
  if (!takeLook(making, required.length + Object.keys(properties).length)) return [];
  const optional = Object.keys(properties).filter((name) => properties[name] !== false && !needed.has(name));
  const wanted = isGenerous(making)
    ? optional.filter((name) => required.length === 0 || isMentioned(properties[name], making))
    : [];
  const min = Math.min(numberOr(schema["minProperties"], 0), MEMBERS_MAX);
  const max = numberOr(schema["maxProperties"], Infinity);
  const names = [...required, ...wanted.slice(0, Math.max(0, max - required.length))];
  const taken = new Set(names);
  const spare = [...optional, ...Array.from({ length: min }, (_, index) => `key${index + 1}`)].filter(
    (name) => !taken.has(name),
  );
  return [...names, ...spare.slice(0, Math.max(0, min - names.length))];
}

function isMentioned(schema: unknown, making: Making): boolean {
  if (!isRecord(schema) || !Array.isArray(schema["enum"])) return false;
  return textList(schema["enum"].slice(0, MENTIONED_MAX)).some(
    (value) => takeLook(making) && isSpoken(value, making.hints),
  );
}
