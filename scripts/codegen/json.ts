/** A value of a YAML or JSON file. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: Json;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Returns the member as an object, or an empty object if it is missing, so that callers need no special case. */
export function objectAt(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isObject(value) ? value : {};
}

export function listAt(object: JsonObject, name: string): readonly Json[] {
  const value = object[name];
  return isList(value) ? value : [];
}

export function textAt(object: JsonObject, name: string): string | null {
  const value = object[name];
  return typeof value === "string" ? value : null;
}

export function textsAt(object: JsonObject, name: string): readonly string[] {
  return listAt(object, name).filter((value) => typeof value === "string");
}

/** Returns a copy in which `change` has replaced every object, innermost first. */
export function mapObjects(value: Json, change: (object: JsonObject) => JsonObject): Json {
  if (isList(value)) return value.map((element) => mapObjects(element, change));
  if (!isObject(value)) return value;
  return change(Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapObjects(member, change)])));
}
