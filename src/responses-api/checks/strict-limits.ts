import { isRecord } from "@antiphon/base/json/records.ts";

/** The reference's published limits for strict schemas. */
const PROPERTIES_MAX = 5_000;
const ENUM_VALUES_MAX = 1_000;
/** Characters of property names and enum values together. */
const CHARACTERS_MAX = 120_000;

const INSTEAD = "Consider reducing them, or use 'strict: false' to opt out of structured outputs.";

/** A text on why a schema is too large for `strict`, or null if it is not. */
export function strictSizeFault(schema: unknown): string | null {
  const size = { properties: 0, enumValues: 0, characters: 0 };
  const open: unknown[] = [schema];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (Array.isArray(place)) for (const element of place) open.push(element);
    if (!isRecord(place)) continue;
    for (const [name, value] of Object.entries(place)) {
      if (name === "enum" && Array.isArray(value)) {
        size.enumValues += value.length;
        for (const each of value) size.characters += typeof each === "string" ? each.length : 0;
      } else if (name === "properties" && isRecord(value)) {
        const names = Object.keys(value);
        size.properties += names.length;
        // Their names and schemas are not checked: there may be hundreds of thousands.
        if (size.properties > PROPERTIES_MAX) return tooMany(PROPERTIES_MAX, "object properties", size.properties);
        for (const each of names) size.characters += each.length;
        for (const inner of Object.values(value)) open.push(inner);
      } else if (typeof value === "object" && value !== null) open.push(value);
    }
    if (size.enumValues > ENUM_VALUES_MAX) return tooMany(ENUM_VALUES_MAX, "enum values", size.enumValues);
    if (size.characters > CHARACTERS_MAX)
      return tooMany(CHARACTERS_MAX, "characters of names and enum values", size.characters);
  }
  return null;
}

function tooMany(max: number, what: string, got: number): string {
  return `Expected at most ${max} ${what} in total within a single schema when using structured outputs, but received ${got}. ${INSTEAD}`;
}
