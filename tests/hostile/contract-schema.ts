import { readFileSync } from "node:fs";
import { assert } from "@antiphon/base/assert.ts";
import { isRecord } from "@antiphon/base/json/records.ts";

/** A JSON Schema of the published contract. */
export type Schema = Readonly<Record<string, unknown>>;

const REFERENCE = "#/components/schemas/";

/** The published contracts, unchanged. */
export const contractDocument: Schema = documentOf("responses-api");
export const localSttDocument: Schema = documentOf("local-stt");

function documentOf(folder: string): Schema {
  return JSON.parse(readFileSync(new URL(`../../generated/${folder}/openapi.json`, import.meta.url), "utf8"));
}

const schemas: Schema = memberOf(memberOf(contractDocument, "components"), "schemas");

export function schemaNamed(name: string): Schema {
  return memberOf(schemas, name);
}

/** The name of the referenced schema, or null if the schema is written in place. */
export function nameOf(schema: Schema): string | null {
  const reference = schema["$ref"];
  return typeof reference === "string" ? reference.slice(REFERENCE.length) : null;
}

/** One way in which a value may fit a schema, free of references and unions. */
export interface Variant {
  readonly schema: Schema;
  readonly name: string | null;
}

/** Every way in which a value may fit, with nested unions flattened. */
export function variantsOf(schema: Schema, name: string | null = null): readonly Variant[] {
  const referenced = nameOf(schema);
  if (referenced !== null) return variantsOf(schemaNamed(referenced), referenced);
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(branches)) return [{ schema, name }];
  return branches.filter(isRecord).flatMap((branch) => variantsOf(branch));
}

/** The JSON types that one variant allows; null if it allows all. */
export function typesOf({ schema }: Variant): readonly string[] | null {
  const type = schema["type"];
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type.filter((name): name is string => typeof name === "string") : null;
}

export function propertiesOf(schema: Schema): readonly (readonly [string, Schema])[] {
  const properties = schema["properties"];
  if (!isRecord(properties)) return [];
  return Object.entries(properties).filter((entry): entry is [string, Record<string, unknown>] => isRecord(entry[1]));
}

export function requiredOf(schema: Schema): readonly string[] {
  const required = schema["required"];
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === "string") : [];
}

export function numberAt(schema: Schema, keyword: string): number | null {
  const value = schema[keyword];
  return typeof value === "number" ? value : null;
}

/** The values of an enumeration or constant; null if there is neither. */
export function choicesOf(schema: Schema): readonly unknown[] | null {
  if ("const" in schema) return [schema["const"]];
  return Array.isArray(schema["enum"]) ? schema["enum"].filter((value: unknown) => value !== null) : null;
}

function memberOf(value: unknown, name: string): Schema {
  const member = isRecord(value) ? value[name] : undefined;
  assert(isRecord(member), `the contract has ${name}`);
  return member;
}
