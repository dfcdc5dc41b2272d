import type { Schemas } from "./bundle.ts";
import { isList, isObject, type Json, type JsonObject, listAt, objectAt, textAt } from "./json.ts";
import { refName } from "./ts-type.ts";

/** A union whose branches differ in the value of one member, the tag. */
export interface TaggedUnion {
  readonly tag: string;
  readonly branches: readonly TaggedBranch[];
}

export interface TaggedBranch {
  readonly schema: string;
  readonly values: readonly string[];
}

const TAGS = ["type", "role", "object"];

/** Returns the tag of a `oneOf`, or null if no member distinguishes its branches. */
export function taggedUnion(schema: JsonObject, schemas: Schemas): TaggedUnion | null {
  const names = listAt(schema, "oneOf").map(refName);
  if (names.length === 0) return null;
  for (const tag of TAGS) {
    const branches = names.map((name) => ({
      schema: name ?? "",
      values: name === null ? [] : tagValues(schemas[name] ?? {}, tag),
    }));
    const all = branches.flatMap(({ values }) => values);
    if (branches.every(({ values }) => values.length > 0) && new Set(all).size === all.length) return { tag, branches };
  }
  return null;
}

/** Returns the values of a branch's tag. Drops null, which only means that a client may omit the tag. */
function tagValues(schema: JsonObject, tag: string): readonly string[] {
  const member = objectAt(objectAt(schema, "properties"), tag);
  const values: readonly Json[] =
    member["const"] === undefined ? (isList(member["enum"]) ? member["enum"] : []) : [member["const"]];
  return values.filter((value) => typeof value === "string");
}

export function constantTag(schema: JsonObject, tag: string): string | null {
  const member = objectAt(schema, "properties")[tag];
  return isObject(member) ? textAt(member, "const") : null;
}
