import { isRecord } from "../records.fixture.ts";
import {
  followReference,
  listedValues,
  type Member,
  nameOfReference,
  type ObjectShape,
  type Schema,
  type Shape,
  shapesOf,
} from "./shapes.fixture.ts";

/** A place where the narrow schema allows a value that the wide one does not. */
export interface Finding {
  /** Path from the nearest named schema of the narrow document. */
  readonly path: string;
  readonly fault: string;
  /** True if the path already starts with a schema's name. */
  readonly isNamed?: boolean;
  /** True for an object whose `type` the wide schema lacks, while it has objects of other types in the same place. */
  readonly isNewType?: boolean;
}

/** `places` counts the schemas that were compared. */
export interface Outcome {
  readonly places: number;
  readonly findings: readonly Finding[];
}

type LimitReader = (
  inner: Readonly<Record<string, unknown>>,
  outer: Readonly<Record<string, unknown>>,
) => readonly Finding[];

const TAGS = ["type", "role"];
const LOWER_LIMITS = ["minLength", "minimum", "minItems"];
const UPPER_LIMITS = ["maxLength", "maximum", "maxItems", "maxProperties"];

/**
 * Finds everything that `narrow` allows and `wide` does not, except extensions of `narrow`. `limits` turns on the
 * comparison of lengths and ranges; whether numbers are integers is always compared.
 */
export function findUncovered(narrow: Schema, wide: Schema, limits: boolean): Outcome {
  const comparison = new Comparison(limits ? narrowerLimits : fractions);
  const findings = comparison.compare(narrow, wide);
  return { places: comparison.places, findings: distinct(findings) };
}

class Comparison {
  places = 0;
  readonly #limitsOf: LimitReader;
  /** Findings by narrow and wide schema. */
  readonly #known = new Map<unknown, Map<unknown, readonly Finding[]>>();

  constructor(limitsOf: LimitReader) {
    this.#limitsOf = limitsOf;
  }

  compare(inner: Schema, outer: Schema): readonly Finding[] {
    const name = nameOfReference(inner);
    const findings = this.#compareTargets(followReference(inner), followReference(outer));
    return name === null ? findings : named(name, findings);
  }

  #compareTargets(inner: Schema, outer: Schema): readonly Finding[] {
    const ofInner = this.#known.get(inner.json) ?? new Map<unknown, readonly Finding[]>();
    this.#known.set(inner.json, ofInner);
    const found = ofInner.get(outer.json);
    if (found !== undefined) return found;
    ofInner.set(outer.json, []); // A schema counts as covered while it is compared, so that it may contain itself.
    this.places += 1;
    const findings = this.#compareShapes(shapesOf(inner, false), shapesOf(outer, true));
    ofInner.set(outer.json, findings);
    return findings;
  }

  #compareShapes(inner: readonly Shape[], outer: readonly Shape[]): readonly Finding[] {
    if (outer.some(({ kind }) => kind === "any")) return [];
    return inner.flatMap((shape): readonly Finding[] => {
      if (shape.kind !== "object") return this.#comparePlain(shape, outer);
      const branches = splitByTags(shape);
      return branches.flatMap((branch) => {
        const findings = this.#compareObject(branch, outer);
        const tags = branches.length > 1 || (inner.length > 1 && branch.name === null) ? tagsOf(branch) : "";
        return shape.name === null ? inside(tags, findings) : named(`${shape.name}${tags}`, findings);
      });
    });
  }

  #comparePlain(inner: Exclude<Shape, ObjectShape>, outer: readonly Shape[]): readonly Finding[] {
    const alike = outer.filter(({ kind }) => kind === inner.kind);
    if (alike.length === 0) return [{ path: "", fault: `no ${inner.kind}` }];
    if (inner.kind === "string" || inner.kind === "number") return compareValues(inner, alike, this.#limitsOf);
    if (inner.kind !== "array") return [];
    const lists = alike.flatMap((shape) => (shape.kind === "array" ? [shape] : []));
    return fewest(
      lists.map(({ items, json }) => {
        const lengths = this.#limitsOf(inner.json, json);
        if (inner.items === null || items === null) return lengths;
        return [...lengths, ...inside("[]", this.compare(inner.items, items))];
      }),
    );
  }

  #compareObject(inner: ObjectShape, outer: readonly Shape[]): readonly Finding[] {
    const alike = outer.filter((shape) => shape.kind === "object").filter((shape) => canOverlap(inner, shape));
    if (alike.length === 0)
      return [{ path: "", fault: "no such object", isNewType: outer.some((shape) => differInType(inner, shape)) }];
    return fewest(
      alike.map((shape) => [...this.#compareMembers(inner, shape), ...this.#limitsOf(inner.json, shape.json)]),
    );
  }

  #compareMembers(inner: ObjectShape, outer: ObjectShape): readonly Finding[] {
    const missing = [...outer.members]
      .filter(([name, member]) => member.required && inner.members.get(name)?.required !== true)
      .map(([name]) => ({ path: `.${name}`, fault: "may be left out" }));
    const unlike = [...inner.members].flatMap(([name, member]) => {
      if (member.schema.json["x-extension"] === true) return [];
      const other = outer.members.get(name)?.schema ?? outer.others;
      if (other === false) return [{ path: `.${name}`, fault: "no such member" }];
      return other === true ? [] : inside(`.${name}`, this.compare(member.schema, other));
    });
    return [...missing, ...unlike, ...this.#compareOthers(inner, outer)];
  }

  #compareOthers(inner: ObjectShape, outer: ObjectShape): readonly Finding[] {
    if (inner.others === false || outer.others === true) return [];
    if (outer.others === false) return [{ path: ".*", fault: "no further members" }];
    return inside(
      ".*",
      inner.others === true
        ? this.#compareShapes([{ kind: "any" }], shapesOf(outer.others, true))
        : this.compare(inner.others, outer.others),
    );
  }
}

function compareValues(
  inner: Shape & { kind: "string" | "number" },
  outer: readonly Shape[],
  limitsOf: LimitReader,
): readonly Finding[] {
  const alike = outer.flatMap((shape) => (shape.kind === "string" || shape.kind === "number" ? [shape] : []));
  const open = alike.filter(({ values }) => values === null);
  const listed = alike.flatMap(({ values }) => values ?? []);
  if (inner.values !== null) {
    const lacking = open.length > 0 ? [] : inner.values.filter((value) => !listed.includes(value));
    return lacking.map((value) => ({ path: "", fault: `no ${JSON.stringify(value)}` }));
  }
  if (open.length === 0) return [{ path: "", fault: `only ${listed.slice(0, 5).map(String).join(", ")}` }];
  return fewest(open.map(({ json }) => limitsOf(inner.json, json)));
}

function narrowerLimits(inner: Readonly<Record<string, unknown>>, outer: Readonly<Record<string, unknown>>): Finding[] {
  const faults: string[] = [];
  for (const name of [...LOWER_LIMITS, ...UPPER_LIMITS]) {
    const [ours, theirs] = [outer[name], inner[name]];
    if (typeof ours !== "number" || (ours === 0 && name !== "minimum" && LOWER_LIMITS.includes(name))) continue;
    const holds = typeof theirs === "number" && (LOWER_LIMITS.includes(name) ? theirs >= ours : theirs <= ours);
    if (!holds) faults.push(`${name} ${ours}`);
  }
  if (typeof outer["pattern"] === "string" && outer["pattern"] !== inner["pattern"])
    faults.push(`pattern ${outer["pattern"]}`);
  if (outer["uniqueItems"] === true && inner["uniqueItems"] !== true) faults.push("no element twice");
  const [names, innerNames] = [outer["propertyNames"], inner["propertyNames"]];
  const onNames = isRecord(names) ? narrowerLimits(isRecord(innerNames) ? innerNames : {}, names) : [];
  const found = [...faults, ...onNames.map(({ fault }) => `names of ${fault}`)].map((fault) => ({ path: "", fault }));
  return [...fractions(inner, outer), ...found];
}

function fractions(inner: Readonly<Record<string, unknown>>, outer: Readonly<Record<string, unknown>>): Finding[] {
  return typesOf(outer).includes("integer") && typesOf(inner).includes("number")
    ? [{ path: "", fault: "whole numbers only" }]
    : [];
}

function typesOf({ type }: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Array.isArray(type) ? type : [type];
}

/** Returns one object for each value of its tags, because the other document may split its branches differently. */
function splitByTags(shape: ObjectShape): ObjectShape[] {
  return TAGS.reduce((shapes, tag) => shapes.flatMap((each) => splitByTag(each, tag)), [shape]);
}

function splitByTag(shape: ObjectShape, tag: string): ObjectShape[] {
  const member = shape.members.get(tag);
  const values = member === undefined ? null : listedValues(member);
  if (member === undefined || values === null || values.length < 2) return [shape];
  return values.map((value) => {
    const one: Member = { ...member, schema: { ...member.schema, json: { type: "string", const: value } } };
    return { ...shape, members: new Map([...shape.members, [tag, one]]) };
  });
}

/** True if one value can match both. It cannot if a required member has listed values and none in common. */
function canOverlap(one: ObjectShape, other: ObjectShape): boolean {
  return [...one.members].every(([name, member]) => {
    const twin = other.members.get(name);
    if (twin === undefined || !(member.required || twin.required || TAGS.includes(name))) return true;
    const values = listedValues(member);
    const others = listedValues(twin);
    return values === null || others === null || values.some((value) => others.includes(value));
  });
}

function differInType(one: ObjectShape, other: Shape): boolean {
  if (other.kind !== "object") return false;
  const [values = null, others = null] = [one, other].map(({ members }) => {
    const type = members.get("type");
    return type === undefined ? null : listedValues(type);
  });
  return values !== null && others !== null && !values.some((value) => others.includes(value));
}

function tagsOf(shape: ObjectShape): string {
  const words = TAGS.flatMap((tag) => {
    const member = shape.members.get(tag);
    return member === undefined ? [] : (listedValues(member) ?? []);
  });
  return words.length === 0 ? "" : `<${words.join(" ")}>`;
}

function fewest(candidates: readonly (readonly Finding[])[]): readonly Finding[] {
  return candidates.reduce((best, findings) => (findings.length < best.length ? findings : best));
}

function inside(step: string, findings: readonly Finding[]): readonly Finding[] {
  return step === ""
    ? findings
    : findings.map((finding) => (finding.isNamed === true ? finding : { ...finding, path: `${step}${finding.path}` }));
}

function named(name: string, findings: readonly Finding[]): readonly Finding[] {
  return inside(name, findings).map((finding) => ({ ...finding, isNamed: true }));
}

function distinct(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [`${finding.path} ${finding.fault}`, finding])).values()];
}
