import { isRecord } from "../../base/json/records.ts";

type Schema = Record<string, unknown>;

/** The published limits of the reference's strict mode. */
const OBJECT_LEVELS_MAX = 10;
const PROPERTIES_MAX = 5000;
const ENUM_VALUES_MAX = 1000;
const NAME_CHARACTERS_MAX = 120_000;
/** How deep any schemas may nest, objects or not. */
const LEVELS_MAX = 64;

/** Keywords that strict mode has and that need no change. */
const KEPT: ReadonlySet<string> = new Set(
  `$comment default deprecated description examples readOnly title writeOnly
   type pattern multipleOf minimum maximum exclusiveMinimum exclusiveMaximum
   minItems maxItems properties required additionalProperties`.split(/\s+/),
);
const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
const FORMATS: ReadonlySet<unknown> = new Set("date-time time date duration email hostname ipv4 ipv6 uuid".split(" "));
/** One of these says what a value is. */
const KINDS: readonly string[] = ["type", "anyOf", "$ref", "enum", "const"];

/** A schema, and whether it is enforced. Where the request leaves that open, it is enforced if it can be. */
export function settleStrictness(
  schema: Schema,
  strict: boolean | null | undefined,
): { schema: Schema; strict: boolean } {
  if (strict != null) return { schema, strict };
  const closed = strictForm(schema);
  return closed === null ? { schema, strict: false } : { schema: closed, strict: true };
}

/**
 * A schema as strict mode needs it: every object is closed and requires all its properties. Null where that would lose
 * what the schema says, or where it uses what strict mode does not have. Takes time in proportion to the schema's size.
 */
export function strictForm(schema: unknown): Schema | null {
  if (!isRecord(schema) || schema["type"] !== "object" || schema["anyOf"] !== undefined) return null;
  const form = new StrictForm(schema);
  const closed = form.of(schema, 0, 0);
  return form.exists ? closed : null;
}

class StrictForm {
  /** False as soon as something is found that has no strict form; then the rest is not looked at. */
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

  /** `level` counts all schemas around this one, `objects` those of them that are objects. */
  of(schema: Schema, level: number, objects: number): Schema {
    this.#need(level < LEVELS_MAX && KINDS.some((kind) => schema[kind] !== undefined));
    const isObject = hasType(schema, "object");
    const inside = isObject ? objects + 1 : objects;
    this.#need(inside <= OBJECT_LEVELS_MAX && isObject === "properties" in schema);
    this.#need(hasType(schema, "array") === "items" in schema);
    const entries: [string, unknown][] = [];
    for (const [keyword, value] of Object.entries(schema)) {
      if (!this.#exists) return schema;
      entries.push([keyword, this.#keyword(keyword, value, { schema, level: level + 1, objects: inside })]);
    }
    const changed = Object.fromEntries(entries);
    return isObject && this.#exists ? this.#closed(changed) : changed;
  }

  #keyword(keyword: string, value: unknown, place: Place): unknown {
    switch (keyword) {
      case "type":
        this.#need(
          Array.isArray(value) ? value.length > 0 && value.every((type) => TYPES.has(type)) : TYPES.has(value),
        );
        return value;
      case "items":
        return this.#inner(value, place);
      case "anyOf":
        return this.#alternatives(value, place);
      case "properties":
        return this.#named(value, place);
      case "$defs":
      case "definitions":
        this.#need(place.level === 1);
        return this.#named(value, place);
      case "enum":
        this.#need(Array.isArray(value));
        this.#countValues(Array.isArray(value) ? value : []);
        return value;
      case "const":
        this.#countValues([value]);
        return value;
      case "format":
        this.#need(FORMATS.has(value));
        return value;
      case "$ref":
        this.#need(Object.keys(place.schema).length === 1 && this.#isDefined(value));
        return value;
      case "$schema":
      case "$id":
        this.#need(place.level === 1);
        return value;
      default:
        this.#need(KEPT.has(keyword));
        return value;
    }
  }

  #inner(schema: unknown, { level, objects }: Place): unknown {
    if (isRecord(schema)) return this.of(schema, level, objects);
    this.#need(false);
    return schema;
  }

  #alternatives(value: unknown, place: Place): unknown {
    if (Array.isArray(value) && value.length > 0) return value.map((one: unknown) => this.#inner(one, place));
    this.#need(false);
    return value;
  }

  #named(value: unknown, place: Place): unknown {
    this.#need(isRecord(value));
    const named = Object.entries(isRecord(value) ? value : {});
    this.#properties += named.length;
    this.#need(this.#properties <= PROPERTIES_MAX);
    const inner: [string, unknown][] = [];
    for (const [name, schema] of named) {
      if (!this.#exists) break;
      this.#countCharacters(name);
      inner.push([name, this.#inner(schema, place)]);
    }
    return Object.fromEntries(inner);
  }

  /** What requires a property that is not there cannot be met. */
  #closed(schema: Schema): Schema {
    const { properties, required = [], additionalProperties = false } = schema;
    const names = Object.keys(isRecord(properties) ? properties : {});
    const known = new Set<unknown>(names);
    this.#need(additionalProperties === false && Array.isArray(required));
    const asked: ReadonlySet<unknown> = new Set(Array.isArray(required) ? required : []);
    this.#need([...asked].every((name) => known.has(name)));
    const isWhole = schema["required"] !== undefined && asked.size === names.length;
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
    this.#need(this.#enumValues <= ENUM_VALUES_MAX);
    for (const value of values) if (typeof value === "string") this.#countCharacters(value);
  }

  #countCharacters(text: string): void {
    this.#nameCharacters += text.length;
    this.#need(this.#nameCharacters <= NAME_CHARACTERS_MAX);
  }

  #need(holds: boolean): void {
    if (!holds) this.#exists = false;
  }
}

/** Where a keyword stands: in which schema, and how deep the schemas in it are. */
interface Place {
  readonly schema: Schema;
  readonly level: number;
  readonly objects: number;
}

function hasType({ type }: Schema, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}
