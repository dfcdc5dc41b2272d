import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../base/json/records.ts";

/**
 * Whether two JSON values are equal, ignoring members that the reference makes anew each time: encrypted contents and
 * fingerprints of programs.
 */
export function isSameJson(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(withoutVolatile(one), withoutVolatile(other));
}

/** The value without the members that change. */
function withoutVolatile(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutVolatile);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([name]) => !isVolatile(name, value["type"]));
  return Object.fromEntries(members.map(([name, member]) => [name, withoutVolatile(member)]));
}

function isVolatile(member: string, type: unknown): boolean {
  return member === "encrypted_content" || (member === "fingerprint" && type === "program");
}
