import { isRecord } from "@antiphon/base/json/records.ts";
import {
  choicesOf,
  nameOf,
  numberAt,
  propertiesOf,
  requiredOf,
  type Schema,
  schemaNamed,
  typesOf,
  type Variant,
  variantsOf,
} from "./contract-schema.ts";
import { itemsOf, smallestOf, smallestValue } from "./smallest-value.ts";

/** A create body with one fault, and the expected error. */
export interface FaultyBody {
  readonly what: string;
  readonly param: string;
  readonly codes: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}

/** The current place of the walk: how an error names it, and how a value there becomes a body. */
interface Place {
  readonly param: string;
  readonly put: (value: unknown) => Readonly<Record<string, unknown>>;
}

/**
 * Every fault that the schema of a create body allows, each at one place. A schema that occurs twice is walked once.
 */
export function faultyBodies(model: string): readonly FaultyBody[] {
  const faults: FaultyBody[] = [];
  const least = { model, input: "Say hello" };
  const walk = new SchemaWalk(faults);
  for (const [name, schema] of propertiesOf(schemaNamed("CreateResponseRequest"))) {
    if (name === "model") continue; // Its own errors come first; the tests of the order of checks cover them.
    walk.visit(schema, { param: name, put: (value) => ({ ...least, [name]: value }) }, { isTop: true });
  }
  faults.push({ what: "unknown member", param: "zzz", codes: ["unknown_parameter"], body: { ...least, zzz: 1 } });
  return faults;
}

const WRONG_VALUES: Readonly<Record<string, unknown>> = {
  string: "wrong",
  integer: 7,
  number: 1.5,
  boolean: true,
  array: [],
  object: {},
  null: null,
};

const TYPE_CODES = ["invalid_type"];
const VALUE_CODES = ["invalid_value"];

/** Longer texts would only cost memory here; the tests of large bodies send them. */
const LENGTH_TRIED_MAX = 100_000;

class SchemaWalk {
  readonly #faults: FaultyBody[];
  readonly #seen = new Set<string>();

  constructor(faults: FaultyBody[]) {
    this.#faults = faults;
  }

  visit(schema: Schema, place: Place, options: { readonly isTop?: boolean; readonly isTag?: boolean } = {}): void {
    const name = nameOf(schema);
    const isKnown = name !== null && this.#seen.has(name);
    if (name !== null) this.#seen.add(name);
    const variants = variantsOf(schema);
    this.#wrongTypes(variants, place, options);
    if (isKnown) return;
    const tagged = variants.filter(hasTag);
    if (tagged.length > 1) this.#wrongTag(tagged, place);
    for (const variant of variants) this.#variant(variant, place, options.isTag === true, tagged.length > 1);
  }

  #add(what: string, param: string, codes: readonly string[], body: FaultyBody["body"]): void {
    this.#faults.push({ what, param, codes, body });
  }

  #wrongTypes(
    variants: readonly Variant[],
    place: Place,
    { isTop, isTag }: { isTop?: boolean; isTag?: boolean },
  ): void {
    const allowed = variants.map(typesOf);
    if (allowed.includes(null)) return; // Any value is valid.
    const types = new Set(allowed.flatMap((names) => names ?? []));
    if (types.has("number")) types.add("integer");
    for (const [type, value] of Object.entries(WRONG_VALUES)) {
      if (types.has(type) || (type === "null" && isTop === true)) continue;
      if (isTag !== true)
        this.#add(`${type} in place of ${[...types].join("|")}`, place.param, TYPE_CODES, place.put(value));
    }
  }

  /** A tag outside the union. In `input` the reference names the element itself, elsewhere its tag. */
  #wrongTag([first]: readonly Variant[], place: Place): void {
    if (first === undefined) return;
    const param = isInputElement(place.param) ? place.param : `${place.param}.type`;
    const least = smallestOf(first.schema);
    if (!isRecord(least)) return;
    for (const tag of ["zzz", 7, {}])
      this.#add("unknown tag", param, [...VALUE_CODES, ...TYPE_CODES], place.put({ ...least, type: tag }));
  }

  #variant(variant: Variant, place: Place, isTag: boolean, isTagged: boolean): void {
    const { schema, name } = variant;
    if (name !== null && name !== "" && isTagged) {
      if (this.#seen.has(name)) return;
      this.#seen.add(name);
    }
    if (!isTag) this.#limits(variant, place);
    if (typesOf(variant)?.includes("object") === true) this.#object(schema, place, isTagged);
    if (
      typesOf(variant)?.includes("array") === true &&
      isRecord(schema["items"]) &&
      Object.keys(schema["items"]).length > 0
    ) {
      this.visit(itemsOf(schema), { param: `${place.param}[0]`, put: (value) => place.put([value]) });
    }
  }

  #object(schema: Schema, place: Place, isTagged: boolean): void {
    const smallest = smallestOf(schema);
    if (!isRecord(smallest)) return;
    const tag = propertiesOf(schema).find(([name]) => name === "type")?.[1];
    // Some unions have a default.
    const least = isTagged && tag !== undefined ? { type: choicesOf(tag)?.[0], ...smallest } : smallest;
    const closed = schema["additionalProperties"] === false;
    if (closed)
      this.#add("unknown member", `${place.param}.zzz`, ["unknown_parameter"], place.put({ ...least, zzz: 1 }));
    if (isRecord(schema["additionalProperties"])) {
      this.visit(schema["additionalProperties"], {
        param: `${place.param}.zzz`,
        put: (value) => place.put({ ...least, zzz: value }),
      });
    }
    for (const name of requiredOf(schema)) this.#missing(name, least, place);
    for (const [name, member] of propertiesOf(schema)) {
      const isTag = name === "type" && (isTagged || choicesOf(member)?.length === 1);
      this.visit(
        member,
        { param: `${place.param}.${name}`, put: (value) => place.put({ ...least, [name]: value }) },
        { isTag },
      );
    }
  }

  #missing(name: string, least: Readonly<Record<string, unknown>>, place: Place): void {
    const { [name]: _left, ...rest } = least;
    const body = place.put(rest);
    const isElement = isInputElement(place.param);
    if (isElement && name === "type") return; // Without its tag an element is a message or a reference.
    if (isElement && name === "role") return this.#add("no role", place.param, VALUE_CODES, body);
    this.#add("missing member", `${place.param}.${name}`, ["missing_required_parameter"], body);
  }

  #limits({ schema }: Variant, place: Place): void {
    const { param, put } = place;
    const integer =
      schema["type"] === "integer" || (Array.isArray(schema["type"]) && schema["type"].includes("integer"));
    const kind = integer ? "integer" : "decimal";
    const [minimum, maximum] = [numberAt(schema, "minimum"), numberAt(schema, "maximum")];
    if (choicesOf(schema) !== null && typeof choicesOf(schema)?.[0] === "string")
      this.#add("not a choice", param, VALUE_CODES, put("zzz"));
    if (minimum !== null) this.#add("too low", param, [`${kind}_below_min_value`], put(minimum - 1));
    if (maximum !== null) this.#add("too high", param, [`${kind}_above_max_value`], put(maximum + 1));
    this.#textLimits(schema, place);
    this.#sizeLimits(schema, place);
  }

  #textLimits(schema: Schema, { param, put }: Place): void {
    const [least, most] = [numberAt(schema, "minLength"), numberAt(schema, "maxLength")];
    if (least !== null && least > 0)
      this.#add("too short", param, ["string_below_min_length", "invalid_value"], put("a".repeat(least - 1)));
    if (most !== null && most < LENGTH_TRIED_MAX)
      this.#add("too long", param, ["string_above_max_length"], put("a".repeat(most + 1)));
    if (schema["pattern"] !== undefined) this.#add("not the pattern", param, VALUE_CODES, put("no: spaces and colons"));
  }

  #sizeLimits(schema: Schema, { param, put }: Place): void {
    const [least, most, members] = ["minItems", "maxItems", "maxProperties"].map((keyword) =>
      numberAt(schema, keyword),
    );
    if (least != null && least > 0) this.#add("too few", param, ["array_below_min_length"], put([]));
    if (most != null) {
      const element = smallestValue(itemsOf(schema));
      this.#add("too many", param, ["array_above_max_length"], put(Array.from({ length: most + 1 }, () => element)));
    }
    if (members != null) {
      const many = Object.fromEntries(Array.from({ length: members + 1 }, (_, index) => [`k${index}`, "v"]));
      this.#add("too many members", param, ["object_above_max_properties"], put(many));
    }
    const longest = isRecord(schema["propertyNames"]) ? numberAt(schema["propertyNames"], "maxLength") : null;
    if (longest !== null)
      this.#add("a name too long", param, ["string_above_max_length"], put({ ["k".repeat(longest + 1)]: "v" }));
  }
}

function hasTag({ schema }: Variant): boolean {
  return propertiesOf(schema).some(([name, member]) => name === "type" && choicesOf(member) !== null);
}

function isInputElement(param: string): boolean {
  return /^(input|conversation)\[\d+\]$/.test(param);
}
