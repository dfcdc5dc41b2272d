import { isGenerous, type Making, numberOr, type SchemaObject } from "./making.ts";

/** More elements than this are never made, whatever the schema wants. */
const ELEMENTS_MAX = 1000;

export function makeArray(
  schema: SchemaObject,
  making: Making,
  make: (schema: unknown, making: Making) => unknown,
): unknown[] {
  const { prefix, rest } = elementSchemas(schema);
  const size = chooseSize(schema, prefix.length, rest, making);
  const unique = schema["uniqueItems"] === true;
  const hints = unique ? { ...making.hints, numbers: [] } : making.hints; // A message may say one number twice.
  const elements = Array.from({ length: size }, (_, index) => {
    const position = making.position * size + index;
    return make(index < prefix.length ? prefix[index] : rest, { ...making, hints, position, depth: making.depth + 1 });
  });
  return unique ? withoutRepetitions(elements) : elements;
}

/**
 * Drafts up to 7 said `items: [first, second]` and `additionalItems` where later ones say `prefixItems` and `items`.
 */
function elementSchemas(schema: SchemaObject): { prefix: readonly unknown[]; rest: unknown } {
  const { items, prefixItems, additionalItems } = schema;
  if (Array.isArray(items)) return { prefix: items, rest: additionalItems };
  return { prefix: Array.isArray(prefixItems) ? prefixItems : [], rest: items };
}

/** One element, or as many as the message names values; none at all in great depth. */
function chooseSize(schema: SchemaObject, prefixSize: number, rest: unknown, making: Making): number {
  const min = numberOr(schema["minItems"], 0);
  const max = Math.min(
    numberOr(schema["maxItems"], ELEMENTS_MAX),
    rest === false ? prefixSize : ELEMENTS_MAX,
    ELEMENTS_MAX,
  );
  const named = making.position === 0 ? making.hints.series.length : 0;
  const wanted = isGenerous(making) ? Math.max(prefixSize, named, 1) : 0;
  return Math.min(Math.max(min, wanted), max, Math.max(0, making.budget.valuesLeft));
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
