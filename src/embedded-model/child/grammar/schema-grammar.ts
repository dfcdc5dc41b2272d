import { isRecord } from "@antiphon/base/json/records.ts";
import { CHARACTERS_MAX, COLON, COMMA, ENTRIES_MAX, GrammarRules, literal, spacedJson } from "./grammar-rules.ts";
import { integerWithin, type NumberBounds, numberWithin } from "./number-ranges.ts";
import { patternGrammar } from "./pattern-grammar.ts";

type Schema = Readonly<Record<string, unknown>>;

/** A schema that the grammar cannot say. The message names the keyword. */
export class SchemaUnsayable extends Error {
  override readonly name = "SchemaUnsayable";
  readonly keyword: string;

  constructor(keyword: string, why = "is not supported by the embedded model") {
    super(`'${keyword}' ${why}.`);
    this.keyword = keyword;
  }
}

/** The grammar of the JSON that fits a schema. Throws `SchemaUnsayable`. */
export function schemaGrammar(schema: unknown): string {
  const rules = new GrammarRules();
  return rules.text(new SchemaWriter(rules, schema).write(schema));
}

/** The grammar of any JSON object. */
export function objectGrammar(): string {
  const rules = new GrammarRules();
  return rules.text(rules.object());
}

/** Keywords that change what fits, and that no rule here says. */
const UNSAYABLE = [
  "not",
  "if",
  "patternProperties",
  "propertyNames",
  "dependentSchemas",
  "dependentRequired",
  "contains",
  "unevaluatedProperties",
  "unevaluatedItems",
];

const FORMATS: Readonly<Record<string, string>> = {
  date: '[12] [0-9]{3} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | "1" [0-9] | "2" [0-8])',
  time: '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] "Z"',
  uuid: '[0-9a-f]{8} "-" [0-9a-f]{4} "-4" [0-9a-f]{3} "-" [89ab] [0-9a-f]{3} "-" [0-9a-f]{12}',
  email: '[a-z0-9] [a-z0-9._]{0,30} [a-z0-9] "@" [a-z0-9] [a-z0-9-]{0,30} [a-z0-9] "." [a-z]{2,6}',
  ipv4: 'OCTET "." OCTET "." OCTET "." OCTET',
  hostname: '[a-z0-9] [a-z0-9-]{0,30} [a-z0-9] "." [a-z]{2,6}',
  uri: '"http" "s"? "://" [a-z0-9] [a-z0-9-]{0,30} [a-z0-9] "." [a-z]{2,6} ("/" [a-zA-Z0-9._-]{0,60}){0,1}',
  duration: '"P" ([1-9] [0-9]{0,2} [YMWD] | "T" [1-9] [0-9]{0,2} [HMS])',
};
const OCTET = '("25" [0-5] | "2" [0-4] [0-9] | "1" [0-9] [0-9] | [1-9] [0-9] | [0-9])';

class SchemaWriter {
  readonly #rules: GrammarRules;
  readonly #root: unknown;
  readonly #references = new Map<string, string>();

  constructor(rules: GrammarRules, root: unknown) {
    this.#rules = rules;
    this.#root = root;
  }

  write(schema: unknown): string {
    if (schema === true) return this.#rules.value();
    if (!isRecord(schema)) throw new SchemaUnsayable("schema", "must be an object");
    const unsayable = UNSAYABLE.find((keyword) => schema[keyword] !== undefined);
    if (unsayable !== undefined) throw new SchemaUnsayable(unsayable);
    if (typeof schema["$ref"] === "string") return this.#writeReference(schema["$ref"], schema);
    if (schema["const"] !== undefined) return literal(spacedJson(schema["const"]));
    if (Array.isArray(schema["enum"])) return this.#oneOf(schema["enum"].map((value) => literal(spacedJson(value))));
    if (Array.isArray(schema["allOf"])) return this.write(this.#merge(schema, schema["allOf"]));
    const choices = schema["anyOf"] ?? schema["oneOf"];
    if (Array.isArray(choices)) return this.#oneOf(choices.map((choice) => this.write(this.#branch(schema, choice))));
    return this.#writeTypes(schema);
  }

  #oneOf(alternatives: readonly string[]): string {
    if (alternatives.length === 0) throw new SchemaUnsayable("enum", "must not be empty");
    return this.#rules.add(alternatives.join(" | "));
  }

  /** A rule for each place that is referred to, so that a schema may contain itself. */
  #writeReference(pointer: string, { $ref: _ref, ...beside }: Schema): string {
    const target = this.#resolve(pointer);
    if (["properties", "required", "anyOf", "allOf", "items"].some((keyword) => beside[keyword] !== undefined))
      return this.write(this.#merge(beside, [target]));
    const earlier = this.#references.get(pointer);
    if (earlier !== undefined) return earlier;
    const name = this.#rules.reserve();
    this.#references.set(pointer, name);
    this.#rules.define(name, this.write(target));
    return name;
  }

  #resolve(pointer: string): unknown {
    if (pointer !== "#" && !pointer.startsWith("#/"))
      throw new SchemaUnsayable("$ref", `leads to '${pointer}', outside of the schema`);
    const steps = pointer.split("/").slice(1);
    return steps.reduce<unknown>((place, step) => {
      const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
      const next = isRecord(place) ? place[name] : Array.isArray(place) ? place[Number(name)] : undefined;
      if (next === undefined) throw new SchemaUnsayable("$ref", `leads to '${pointer}', which is not there`);
      return next;
    }, this.#root);
  }

  /** One schema that says what all of these say. Members that two of them have in different forms are refused. */
  #merge({ allOf: _all, ...base }: Schema, others: readonly unknown[]): Schema {
    return others.reduce<Schema>((sum, other) => {
      const target = isRecord(other) && typeof other["$ref"] === "string" ? this.#resolve(other["$ref"]) : other;
      if (!isRecord(target)) throw new SchemaUnsayable("allOf");
      const { allOf: inner, ...addition } = target;
      const next: Record<string, unknown> = { ...sum };
      for (const [keyword, value] of Object.entries(addition))
        next[keyword] = mergedMember(keyword, sum[keyword], value);
      return Array.isArray(inner) ? this.#merge(next, inner) : next;
    }, base);
  }

  /** A branch of `anyOf` with what stands beside it. */
  #branch({ anyOf: _any, oneOf: _one, ...beside }: Schema, choice: unknown): unknown {
    const siblings = ["properties", "required", "type", "items"].filter((keyword) => beside[keyword] !== undefined);
    return siblings.length === 0 ? choice : this.#merge(beside, [choice]);
  }

  #writeTypes(schema: Schema): string {
    const { type } = schema;
    if (Array.isArray(type)) return this.#oneOf(type.map((one: unknown) => this.#writeType(one, schema)));
    return this.#writeType(type ?? impliedType(schema), schema);
  }

  #writeType(type: unknown, schema: Schema): string {
    switch (type) {
      case "object":
        return this.#writeObject(schema);
      case "array":
        return this.#writeList(schema);
      case "string":
        return this.#writeString(schema);
      case "integer":
      case "number":
        return this.#writeNumber(schema, type);
      case "boolean":
        return this.#rules.boolean();
      case "null":
        return '"null"';
      case undefined:
        return this.#rules.value();
      default:
        throw new SchemaUnsayable("type", `is '${String(type)}', which is no type`);
    }
  }

  /** Members in the order of the schema, the required ones first. */
  #writeObject(schema: Schema): string {
    const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
    const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
    const more = schema["additionalProperties"];
    const names = [...Object.keys(properties), ...required.filter((name) => typeof name === "string")];
    if (names.length === 0) {
      if (more === false) return literal("{}");
      const value = more === undefined || more === true ? this.#rules.value(2) : this.write(more);
      return this.#rules.map(value, countOr(schema["minProperties"], 0), countOr(schema["maxProperties"], ENTRIES_MAX));
    }
    const member = (name: string): string =>
      this.#rules.add(`${literal(JSON.stringify(name))} ${COLON} ${this.write(properties[name] ?? true)}`);
    const own = [...new Set(names)];
    const always = own.filter((name) => required.includes(name)).map(member);
    const optional = own.filter((name) => !required.includes(name)).map(member);
    const tail = optional.map((one) => ` (${COMMA} ${one})?`);
    if (always.length > 0) return this.#rules.add(`"{" ${always.join(` ${COMMA} `)}${tail.join("")} "}"`);
    const beginnings = optional.map((one, place) => `${one}${tail.slice(place + 1).join("")}`);
    return this.#rules.add(`"{" (${beginnings.join(" | ")})? "}"`);
  }

  #writeList(schema: Schema): string {
    const first: readonly unknown[] = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
    const min = countOr(schema["minItems"], 0);
    const max = countOr(schema["maxItems"], Math.max(ENTRIES_MAX, min));
    if (max < min) throw new SchemaUnsayable("maxItems", "is below minItems");
    if (first.length > 0) {
      const items = first.map((item) => this.write(item));
      return this.#rules.add(`"[" ${items.join(` ${COMMA} `)} "]"`);
    }
    return this.#rules.list(this.write(schema["items"] ?? true), min, max);
  }

  #writeString(schema: Schema): string {
    const { pattern, format } = schema;
    if (typeof pattern === "string") {
      const body = patternGrammar(this.#rules, pattern);
      if (body === null) throw new SchemaUnsayable("pattern", `'${pattern}' is not supported by the embedded model`);
      return this.#rules.add(`"\\"" ${body} "\\""`);
    }
    if (format === "date-time") return this.#rules.add(`"\\"" ${FORMATS["date"]} "T" ${FORMATS["time"]} "\\""`);
    const earlier = typeof format === "string" ? FORMATS[format] : undefined;
    if (earlier !== undefined) return this.#rules.add(`"\\"" ${earlier.replaceAll("OCTET", OCTET)} "\\""`);
    const min = countOr(schema["minLength"], 0);
    const max = countOr(schema["maxLength"], Math.max(CHARACTERS_MAX, min));
    if (max < min) throw new SchemaUnsayable("maxLength", "is below minLength");
    return this.#rules.string(min, max);
  }

  #writeNumber(schema: Schema, type: "integer" | "number"): string {
    const bounds = boundsOf(schema);
    const isBound = bounds.min !== null || bounds.max !== null;
    const step = schema["multipleOf"];
    const decimals = typeof step === "number" ? Math.max(0, -Math.log10(step)) : 0;
    const isPlainStep =
      step === undefined || step === 1 || (type === "number" && !isBound && Number.isInteger(decimals) && decimals > 0);
    if (!isPlainStep) throw new SchemaUnsayable("multipleOf");
    const isWhole = type === "integer" || step === 1;
    if (!isBound) return isWhole ? this.#rules.integer() : this.#rules.number(decimals === 0 ? undefined : decimals);
    const within = isWhole ? integerWithin(this.#rules, bounds) : numberWithin(this.#rules, bounds);
    if (within === null)
      throw new SchemaUnsayable(bounds.min === null ? "maximum" : "minimum", "leaves no number that can be written");
    return within;
  }
}

function boundsOf({ minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below }: Schema): NumberBounds {
  const numeric = (value: unknown): number | null =>
    typeof value === "number" && Number.isFinite(value) ? value : null;
  const min = numeric(minimum);
  const max = numeric(maximum);
  const exMin = numeric(above);
  const exMax = numeric(below);
  const isMinExclusive = exMin !== null && (min === null || exMin >= min);
  const isMaxExclusive = exMax !== null && (max === null || exMax <= max);
  return { min: isMinExclusive ? exMin : min, max: isMaxExclusive ? exMax : max, isMinExclusive, isMaxExclusive };
}

function impliedType(schema: Schema): string | undefined {
  if (schema["properties"] !== undefined || schema["additionalProperties"] !== undefined) return "object";
  if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) return "array";
  if (schema["pattern"] !== undefined || schema["minLength"] !== undefined || schema["maxLength"] !== undefined)
    return "string";
  return schema["minimum"] !== undefined || schema["maximum"] !== undefined ? "number" : undefined;
}

function mergedMember(keyword: string, one: unknown, other: unknown): unknown {
  if (one === undefined || JSON.stringify(one) === JSON.stringify(other)) return other;
  if (keyword === "required" && Array.isArray(one) && Array.isArray(other)) return [...new Set([...one, ...other])];
  if (["properties", "$defs", "definitions"].includes(keyword) && isRecord(one) && isRecord(other))
    return { ...one, ...other };
  if (["description", "title", "examples", "default"].includes(keyword)) return other;
  throw new SchemaUnsayable("allOf", `says two things of ${keyword}`);
}

function countOr(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : otherwise;
}
