import { isShallow, numberOr, type SchemaObject, type ValueContext } from "./value-context.ts";

/** Upper bound of an array's length, even if the schema asks for more. */
const ELEMENTS_MAX = 1000;

export function makeArray(
  schema: SchemaObject,
  context: ValueContext,
  make: (schema: unknown, context: ValueContext) => unknown,
): unknown[] {
  const { prefix, rest } = elementSchemas(schema);
  const size = chooseSize(schema, prefix.length, rest, context);
  const unique = schema["uniqueItems"] === true;
  const hints = unique ? { ...context.hints, numbers: [] } : context.hints; // The message may repeat a number.
  const elements = Array.from({ length: size }, (_, index) => {
    const position = context.position * size + index;
    return make(index < prefix.length ? prefix[index] : rest, {
      ...context,
      hints,
      position,
      depth: context.depth + 1,
    });
  });
  return unique ? withoutRepetitions(elements) : elements;
}

/**
 * JSON Schema up to draft 2019-09 calls `items: […]` and `additionalItems` what later drafts call `prefixItems` and
 * `items`.
 */
function elementSchemas(schema: SchemaObject): { prefix: readonly unknown[]; rest: unknown } {
  const { items, prefixItems, additionalItems } = schema;
  if (Array.isArray(items)) return { prefix: items, rest: additionalItems };
  return { prefix: Array.isArray(prefixItems) ? prefixItems : [], rest: items };
}

/** One element, or one for each value in the message; none when nested deeply, unless the schema requires some. */
function chooseSize(schema: SchemaObject, prefixSize: number, rest: unknown, context: ValueContext): number {
  const min = numberOr(schema["minItems"], 0);
  const max = Math.min(
    numberOr(schema["maxItems"], ELEMENTS_MAX),
    rest === false ? prefixSize : ELEMENTS_MAX,
    ELEMENTS_MAX,
  );
  const named = context.position === 0 ? context.hints.series.length : 0;
  const wanted = isShallow(context) ? Math.max(prefixSize, named, 1) : 0;
  return Math.min(Math.max(min, wanted), max, Math.max(0, context.budget.valuesLeft));
}

function withoutRepetitions(elements: readonly unknown[]): unknown[] {
  const seen = new Set<string>();
  return elements.filter((element) => {
    const json = JSON.stringify(element);
    const isNew = !seen.has(json);
    seen.add(json);
    return isNew;
  });
}
