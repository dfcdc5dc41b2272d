import { isRecord } from "@antiphon/base/json/records.ts";
import {
  choicesOf,
  nameOf,
  numberAt,
  propertiesOf,
  type Schema,
  schemaNamed,
  typesOf,
  type Variant,
  variantsOf,
} from "./contract-schema.ts";
import { itemsOf, smallestOf, smallestValue } from "./smallest-value.ts";

type Members = Readonly<Record<string, unknown>>;

/** A list, or an object with members of any name, that a request can hold. */
export interface LongList {
  /** Its place, and the kind of its elements. */
  readonly name: string;
  /** The members of a request that make the list this long. */
  readonly make: (length: number) => Members;
  /** The most elements: more are refused, or take too long for a test. */
  readonly longest: number;
}

const LONGEST = 6_000;
/** More tools are refused. */
const TOOLS_LONGEST = 2_000;

interface Place {
  readonly path: string;
  readonly put: (value: unknown) => Members;
}

/** Every list without a maximum in the schema of a create call, filled with every kind of element. */
export function longLists(): readonly LongList[] {
  const lists: LongList[] = [];
  const walk = new ListWalk(lists);
  for (const [name, schema] of propertiesOf(schemaNamed("CreateResponseRequest")))
    walk.visit(schema, { path: name, put: (value) => ({ [name]: value }) });
  return lists;
}

class ListWalk {
  readonly #lists: LongList[];
  readonly #seen = new Set<string>();

  constructor(lists: LongList[]) {
    this.#lists = lists;
  }

  visit(schema: Schema, place: Place): void {
    const name = nameOf(schema);
    if (name !== null && this.#seen.has(name)) return;
    if (name !== null) this.#seen.add(name);
    for (const variant of variantsOf(schema)) this.#variant(variant, place);
  }

  #variant(variant: Variant, place: Place): void {
    const { schema, name } = variant;
    if (name !== null && this.#seen.has(`variant ${name}`)) return;
    if (name !== null) this.#seen.add(`variant ${name}`);
    if (typesOf(variant)?.includes("array") === true) this.#list(schema, place);
    if (typesOf(variant)?.includes("object") === true) this.#object(schema, place);
  }

  #list(schema: Schema, place: Place): void {
    if (numberAt(schema, "maxItems") !== null) return;
    for (const { schema: element, name } of variantsOf(itemsOf(schema))) {
      const make = (length: number): Members =>
        place.put(Array.from({ length }, (_, index) => elementOf(element, index)));
      this.#lists.push({
        name: `${place.path} of ${name ?? String(element["type"])}`,
        make,
        longest: longestAt(place),
      });
    }
    this.visit(itemsOf(schema), { path: `${place.path}[]`, put: (value) => place.put([value]) });
  }

  #object(schema: Schema, place: Place): void {
    const least = leastOf(schema);
    if (!isRecord(least)) return;
    const others = schema["additionalProperties"];
    if (others !== false && numberAt(schema, "maxProperties") === null) {
      const value = isRecord(others) ? smallestValue(others) : { type: "string" };
      const named = (length: number): Members =>
        Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, value]));
      this.#lists.push({
        name: `${place.path} by name`,
        make: (length) => place.put({ ...least, ...named(length) }),
        longest: longestAt(place),
      });
    }
    for (const [name, member] of propertiesOf(schema))
      this.visit(member, { path: `${place.path}.${name}`, put: (value) => place.put({ ...least, [name]: value }) });
  }
}

function longestAt({ path }: Place): number {
  return path.startsWith("tool") ? TOOLS_LONGEST : LONGEST;
}

/** Some unions have a branch for values without a type. */
function leastOf(schema: Schema): unknown {
  const least = smallestOf(schema);
  const tag = propertiesOf(schema).find(([name]) => name === "type")?.[1];
  return isRecord(least) && tag !== undefined ? { type: choicesOf(tag)?.[0], ...least } : least;
}

/** Gives elements different names or call ids, so that a lookup among them cannot end at the first. */
function elementOf(schema: Schema, index: number): unknown {
  const least = leastOf(schema);
  if (!isRecord(least)) return least;
  const own = ["name", "call_id", "id"].filter((member) => typeof least[member] === "string");
  return { ...least, ...Object.fromEntries(own.map((member) => [member, `${String(least[member])}${index}`])) };
}
