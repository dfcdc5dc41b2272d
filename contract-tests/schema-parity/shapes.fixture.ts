import { isRecord } from "../records.fixture.ts";

type Json = Readonly<Record<string, unknown>>;

/** A schema and the document that resolves its references. */
export interface Schema {
  readonly json: Json;
  readonly document: Json;
}

export interface Member {
  readonly schema: Schema;
  readonly required: boolean;
}

/** One alternative of a schema, without references and unions. */
export type Shape =
  | { readonly kind: "any" | "null" | "boolean" }
  | { readonly kind: "string" | "number"; readonly values: readonly unknown[] | null; readonly json: Json }
  | { readonly kind: "array"; readonly items: Schema | null; readonly json: Json }
  | ObjectShape;

export interface ObjectShape {
  readonly kind: "object";
  /** The schema's name in the document, or null. */
  readonly name: string | null;
  readonly members: ReadonlyMap<string, Member>;
  /** Required members. Another part of an `allOf` may describe them. */
  readonly required: ReadonlySet<string>;
  /** The schema of other members; false if none are allowed. */
  readonly others: Schema | boolean;
  readonly json: Json;
}

/** Returns all alternatives of a schema, without those marked `x-extension` if `withExtensions` is false. */
export function shapesOf(schema: Schema, withExtensions: boolean): Shape[] {
  const { json, document } = schema;
  if (json["x-extension"] === true && !withExtensions) return [];
  const target = targetOf(schema);
  if (target !== null) {
    const name = nameOfReference(schema);
    return shapesOf(resolve(document, target), withExtensions).map((shape) =>
      shape.kind === "object" ? { ...shape, name: shape.name ?? name } : shape,
    );
  }
  const parts = listOf(json["allOf"]).map((part) => shapesOf({ json: part, document }, withExtensions));
  const own = ownShapes(json, document, withExtensions);
  const shapes = parts.reduceRight((merged, part) => intersect(part, merged), own);
  return json["nullable"] === true ? [...shapes, { kind: "null" }] : shapes;
}

export function resolve(document: Json, target: string): Schema {
  if (target === "#") return { json: findRecursive(document), document };
  let json: unknown = document;
  for (const step of target.split("/").slice(1)) json = isRecord(json) ? json[step] : undefined;
  if (!isRecord(json)) throw new Error(`${target} points to nothing`);
  return { json, document };
}

/** Follows references until the schema is not a reference. */
export function followReference(schema: Schema): Schema {
  const target = targetOf(schema);
  return target === null ? schema : followReference(resolve(schema.document, target));
}

/** Returns the name of the schema that a reference points to, or null if it is not a reference. */
export function nameOfReference(schema: Schema): string | null {
  return targetOf(schema)?.split("/").at(-1) ?? null;
}

/** Returns the listed values of a member, or null if it lists none. They distinguish the branches of a union. */
export function listedValues({ schema }: Member): readonly unknown[] | null {
  const shapes = shapesOf(schema, true);
  const lists = shapes
    .filter(({ kind }) => kind !== "null")
    .map((shape) => (shape.kind === "string" ? shape.values : null));
  return lists.includes(null) ? null : lists.flatMap((list) => list ?? []);
}

function targetOf({ json }: Schema): string | null {
  const target = json["$ref"] ?? json["$recursiveRef"];
  return typeof target === "string" ? target : null;
}

function ownShapes(json: Json, document: Json, withExtensions: boolean): Shape[] {
  const union = [...listOf(json["oneOf"]), ...listOf(json["anyOf"])];
  if (union.length === 0) return typesOf(json).map((type) => shapeOfType(type, json, document));
  const branches = union.flatMap((branch) => shapesOf({ json: branch, document }, withExtensions));
  return isRecord(json["properties"]) ? intersect([objectShape(json, document)], branches) : branches;
}

function typesOf(json: Json): string[] {
  const { type } = json;
  if (Array.isArray(type)) return type.map(String);
  if (typeof type === "string") return [type];
  const values = valuesOf(json);
  if (values !== null) return [...new Set(values.map((value) => (value === null ? "null" : typeof value)))];
  return [isRecord(json["properties"]) ? "object" : json["items"] === undefined ? "any" : "array"];
}

function shapeOfType(type: string, json: Json, document: Json): Shape {
  switch (type) {
    case "null":
    case "boolean":
      return { kind: type };
    case "string":
      return { kind: type, values: valuesOf(json)?.filter((value) => typeof value === type) ?? null, json };
    case "integer":
    case "number":
      return { kind: "number", values: valuesOf(json)?.filter((value) => typeof value === "number") ?? null, json };
    case "array":
      return { kind: type, items: isRecord(json["items"]) ? { json: json["items"], document } : null, json };
    case "object":
      return objectShape(json, document);
    default:
      return { kind: "any" };
  }
}

/**
 * An object that lists members allows no others, because the reference refuses them. An object without a list is a map
 * with any members.
 */
function objectShape(json: Json, document: Json): ObjectShape {
  const properties = isRecord(json["properties"]) ? json["properties"] : {};
  const required = new Set(Array.isArray(json["required"]) ? json["required"].map(String) : []);
  const members = Object.entries(properties).flatMap(([name, member]): [string, Member][] =>
    isRecord(member) ? [[name, { schema: { json: member, document }, required: required.has(name) }]] : [],
  );
  const { additionalProperties: others = members.length === 0 } = json;
  return {
    kind: "object",
    name: null,
    members: new Map(members),
    required,
    others: isRecord(others) ? { json: others, document } : others === true,
    json,
  };
}

function valuesOf(json: Json): readonly unknown[] | null {
  if (json["const"] !== undefined) return [json["const"]];
  return Array.isArray(json["enum"]) ? json["enum"] : null;
}

/** Intersects alternatives. Two objects give one with the members of both; the right one wins. */
function intersect(left: readonly Shape[], right: readonly Shape[]): Shape[] {
  return left.flatMap((one) =>
    right.flatMap((other): Shape[] => {
      if (one.kind === "any") return [other];
      if (other.kind === "any") return [one];
      if (one.kind !== other.kind) return [];
      return one.kind === "object" && other.kind === "object" ? [mergeObjects(one, other)] : [other];
    }),
  );
}

function mergeObjects(left: ObjectShape, right: ObjectShape): ObjectShape {
  const required = new Set([...left.required, ...right.required]);
  const members = [...left.members, ...right.members].map(([name, { schema }]): [string, Member] => [
    name,
    { schema, required: required.has(name) },
  ]);
  const isMap = members.length === 0;
  return {
    ...right,
    name: null,
    members: new Map(members),
    required,
    others: isMap ? right.others : right.others !== true && right.others,
  };
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Finds the reference's only schema with `$recursiveAnchor`. */
function findRecursive(document: Json): Json {
  const { components } = document;
  const schemas = isRecord(components) && isRecord(components["schemas"]) ? Object.values(components["schemas"]) : [];
  const found = schemas.filter(isRecord).find((schema) => schema["$recursiveAnchor"] === true);
  if (found === undefined) throw new Error("no schema has $recursiveAnchor");
  return found;
}
