import { isRecord } from "@antiphon/base/json/records.ts";

type Schema = Record<string, unknown>;

/** The published limits of the reference's strict mode. The last one counts the characters of names and enum values. */
const OBJECT_LEVELS_MAX = 10;
const PROPERTIES_MAX = 5000;
const ENUM_VALUES_MAX = 1000;
const NAME_CHARACTERS_MAX = 120_000;
/** The maximum nesting of schemas of any type. */
const LEVELS_MAX = 64;

/** Keywords that strict mode allows and that stay unchanged. `strict` means nothing there; some clients repeat it. */
const UNCHANGED_KEYWORDS: ReadonlySet<string> = new Set(
  `$comment default deprecated description examples readOnly strict title writeOnly
   type pattern multipleOf minimum maximum exclusiveMinimum exclusiveMaximum
   minItems maxItems properties required additionalProperties`.split(/\s+/),
);
const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
const FORMATS: ReadonlySet<unknown> = new Set("date-time time date duration email hostname ipv4 ipv6 uuid".split(" "));
/** Every schema needs one of these keywords. */
const VALUE_KEYWORDS: readonly string[] = ["type", "anyOf", "$ref", "enum", "const"];

/** The schema and whether it is enforced. If `strict` is absent, the schema is enforced if it has a strict form. */
export function settleStrictness(
  schema: Schema,
  strict: boolean | null | undefined,
): { schema: Schema; strict: boolean } {
  if (strict != null) return { schema, strict };
  const strictSchema = strictForm(schema);
  return strictSchema === null ? { schema, strict: false } : { schema: strictSchema, strict: true };
}

/**
 * The strict form of a schema: every object is closed and requires all its properties. Null if that would change its
 * meaning, or if it uses a keyword that strict mode lacks. Takes time linear in the schema's size.
 */
export function strictForm(schema: unknown): Schema | null {
  if (!isRecord(schema) || schema["type"] !== "object" || schema["anyOf"] !== undefined) return null;
  const form = new StrictForm(schema);
  const strictSchema = form.of(schema, 0, 0);
  return form.exists ? strictSchema : null;
}

class StrictForm {
  /** False once a part without a strict form is found; the rest is then skipped. */
  #exists = true;
  #properties = 0;
  #enumValues = 0;
  #nameCharacters = 0;
  readonly #root: Schema;

  constructor(root: Schema) {
    this.#root = root;
  }

  get exists(): boolean {
    return this.#exists;
  }

  /** The strict form of one schema. `level` counts the enclosing schemas, `objects` the objects among them. */
  of(schema: Schema, level: number, objects: number): Schema {
    this.#require(
      level < LEVELS_MAX && (schema["type"] !== undefined || VALUE_KEYWORDS.some((kind) => schema[kind] !== undefined)),
    );
    const isObject = hasType(schema, "object");
    const inside = isObject ? objects + 1 : objects;
    this.#require(inside <= OBJECT_LEVELS_MAX && isObject === "properties" in schema);
    this.#require(hasType(schema, "array") === "items" in schema);
    const place = { schema, level: level + 1, objects: inside };
    const result = this.#mapMembers(schema, (value, keyword) => this.#keyword(keyword, value, place));
    return isObject && this.#exists ? this.#close(result) : result;
  }

  #keyword(keyword: string, value: unknown, place: Place): unknown {
    switch (keyword) {
      case "type":
        this.#require(
          Array.isArray(value) ? value.length > 0 && value.every((type) => TYPES.has(type)) : TYPES.has(value),
        );
        return value;
      case "items":
        return this.#inner(value, place);
      case "anyOf":
        return this.#alternatives(value, place);
      case "properties":
        return this.#mapNamed(value, place);
      case "$defs":
      case "definitions":
        this.#require(place.level === 1);
        return this.#mapNamed(value, place);
      case "enum":
        this.#require(Array.isArray(value));
        this.#countValues(Array.isArray(value) ? value : []);
        return value;
      case "const":
        this.#countValues([value]);
        return value;
      case "format":
        this.#require(FORMATS.has(value));
        return value;
      case "$ref":
        this.#require(Object.keys(place.schema).length === 1 && this.#isDefined(value));
        return value;
      case "$schema":
      case "$id":
        this.#require(place.level === 1);
        return value;
      default:
        this.#require(UNCHANGED_KEYWORDS.has(keyword));
        return value;
    }
  }

  #inner(schema: unknown, { level, objects }: Place): unknown {
    if (isRecord(schema)) return this.of(schema, level, objects);
    this.#require(false);
    return schema;
  }

  #alternatives(value: unknown, place: Place): unknown {
    if (Array.isArray(value) && value.length > 0) return value.map((one: unknown) => this.#inner(one, place));
    this.#require(false);
    return value;
  }

  #mapNamed(value: unknown, place: Place): unknown {
    this.#require(isRecord(value));
    const members = isRecord(value) ? value : {};
    this.#properties += Object.keys(members).length;
    this.#require(this.#properties <= PROPERTIES_MAX);
    if (!this.#exists) return value; // There may be hundreds of thousands.
    return this.#mapMembers(members, (schema, name) => {
      this.#countCharacters(name);
      return this.#inner(schema, place);
    });
  }

  /** The members, each mapped by `map`; the members themselves if nothing changes. */
  #mapMembers(members: Schema, map: (value: unknown, name: string) => unknown): Schema {
    let changes: Map<string, unknown> | null = null;
    for (const name of Object.keys(members)) {
      if (!this.#exists) return members;
      const value = members[name];
      const result = map(value, name);
      if (result === value) continue;
      changes ??= new Map(Object.entries(members));
      changes.set(name, result);
    }
    return changes === null ? members : Object.fromEntries(changes);
  }

  /**
   * Closes an object schema and requires all its properties. A schema that requires an undefined property has no strict
   * form.
   */
  #close(schema: Schema): Schema {
    const { properties, required = [], additionalProperties = false } = schema;
    const names = Object.keys(isRecord(properties) ? properties : {});
    const nameSet = new Set<unknown>(names);
    this.#require(additionalProperties === false && Array.isArray(required));
    const requiredSet: ReadonlySet<unknown> = new Set(Array.isArray(required) ? required : []);
    this.#require([...requiredSet].every((name) => nameSet.has(name)));
    const isWhole = schema["required"] !== undefined && requiredSet.size === names.length;
    return { ...schema, ...(isWhole ? {} : { required: names }), additionalProperties: false };
  }

  #isDefined(ref: unknown): boolean {
    if (typeof ref !== "string") return false;
    if (ref === "#") return true;
    const [start, keyword = "", name = "", ...more] = ref.split("/");
    const definitions = this.#root[keyword];
    if (start !== "#" || more.length > 0 || !["$defs", "definitions"].includes(keyword)) return false;
    return isRecord(definitions) && Object.hasOwn(definitions, name.replaceAll("~1", "/").replaceAll("~0", "~"));
  }

  #countValues(values: readonly unknown[]): void {
    this.#enumValues += values.length;
    this.#require(this.#enumValues <= ENUM_VALUES_MAX);
    for (const value of values) if (typeof value === "string") this.#countCharacters(value);
  }

  #countCharacters(text: string): void {
    this.#nameCharacters += text.length;
    this.#require(this.#nameCharacters <= NAME_CHARACTERS_MAX);
  }

  #require(holds: boolean): void {
    if (!holds) this.#exists = false;
  }
}

/** The schema that contains a keyword, and the depths of the schemas below the keyword. */
interface Place {
  readonly schema: Schema;
  readonly level: number;
  readonly objects: number;
}

function hasType({ type }: Schema, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}
