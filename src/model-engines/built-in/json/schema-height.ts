import { isRecord } from "../../../base/json/records.ts";
import { numberOr, takeSchemaRead, textList, type ValueContext } from "./value-context.ts";

const NESTED_MAX = 64;

/** How deeply the smallest value of a schema is nested; Infinity if the schema has no finite value. */
export function schemaHeight(schema: unknown, context: ValueContext, within: readonly unknown[] = []): number {
  if (within.length > NESTED_MAX || within.includes(schema) || !takeSchemaRead(context)) return Infinity;
  if (!isRecord(schema) || "const" in schema || "enum" in schema || allowsNull(schema["type"])) return 0;
  const heightOf = (inner: unknown): number => schemaHeight(inner, context, [...within, schema]);
  const { $ref, allOf, anyOf, oneOf, properties, items } = schema;
  const parts = [
    typeof $ref === "string" ? heightOf(findReferenced($ref, context.root)) : 0,
    Array.isArray(allOf) ? Math.max(0, ...allOf.map(heightOf)) : 0,
    Array.isArray(anyOf) ? Math.min(...anyOf.map(heightOf)) : 0,
    Array.isArray(oneOf) ? Math.min(...oneOf.map(heightOf)) : 0,
    isRecord(properties)
      ? Math.max(0, ...textList(schema["required"]).map((name) => 1 + heightOf(properties[name])))
      : 0,
    numberOr(schema["minItems"], 0) > 0 ? 1 + heightOf(items) : 0,
  ];
  return Math.max(...parts);
}

/** A longer reference is not followed. */
const REFERENCE_CHARS_MAX = 1000;

/** The schema that a reference within the document names. A reference to another document allows anything. */
export function findReferenced(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#") || reference.length > REFERENCE_CHARS_MAX) return {};
  const steps = reference.slice(1).split("/").slice(1);
  return steps.reduce<unknown>((place, step) => childOf(place, decodeStep(step)), root);
}

function childOf(place: unknown, step: string): unknown {
  if (Array.isArray(place)) return place[Number(step)];
  return isRecord(place) && Object.hasOwn(place, step) ? place[step] : undefined;
}

function decodeStep(step: string): string {
  return step.replaceAll("%25", "%").replaceAll("~1", "/").replaceAll("~0", "~");
}

function allowsNull(type: unknown): boolean {
  return type === "null" || (Array.isArray(type) && type.includes("null"));
}
