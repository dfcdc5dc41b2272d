import { isRecord } from "../../../base/json/records.ts";
import { isSpoken } from "./hints.ts";
import {
  isShallow,
  numberOr,
  type SchemaObject,
  takeSchemaRead,
  textList,
  type ValueContext,
} from "./value-context.ts";

/** Upper bound of `minProperties`, even if the schema asks for more. */
const MEMBERS_MAX = 1000;
/** Only this many values of an enumeration are searched for in the message. */
const MENTIONED_MAX = 200;

export function makeObject(
  schema: SchemaObject,
  context: ValueContext,
  make: (schema: unknown, context: ValueContext) => unknown,
): unknown {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const other = schema["additionalProperties"];
  const names = memberNames(schema, properties, context).slice(0, Math.max(0, context.budget.valuesLeft));
  return Object.fromEntries(
    names.map((name) => [
      name,
      make(Object.hasOwn(properties, name) ? properties[name] : other, { ...context, name, depth: context.depth + 1 }),
    ]),
  );
}

/** All required members, the optional ones that the message mentions, and more up to `minProperties`. */
function memberNames(schema: SchemaObject, properties: SchemaObject, context: ValueContext): string[] {
  const needed = new Set(textList(schema["required"]));
  const required = [...needed];
  if (!takeSchemaRead(context, required.length + Object.keys(properties).length)) return [];
  const optional = Object.keys(properties).filter((name) => properties[name] !== false && !needed.has(name));
  const wanted = isShallow(context)
    ? optional.filter((name) => required.length === 0 || isMentioned(properties[name], context))
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

function isMentioned(schema: unknown, context: ValueContext): boolean {
  if (!isRecord(schema) || !Array.isArray(schema["enum"])) return false;
  return textList(schema["enum"].slice(0, MENTIONED_MAX)).some(
    (value) => takeSchemaRead(context) && isSpoken(value, context.hints),
  );
}
