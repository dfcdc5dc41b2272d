import { isRecord } from "@antiphon/base/json/records.ts";

/**
 * Whether two JSON values are equal, ignoring members that the reference generates anew each time: encrypted contents
 * and fingerprints of programs.
 */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((member, index) => isSameJson(member, other[index]));
  if (!isRecord(one) || !isRecord(other)) return Object.is(one, other);
  const names = lastingNames(one);
  return (
    names.length === lastingNames(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name], other[name]))
  );
}

/** The names of the members that do not change. */
function lastingNames(value: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(value).filter((name) => !isVolatile(name, value["type"]));
}

function isVolatile(member: string, type: unknown): boolean {
  return member === "encrypted_content" || (member === "fingerprint" && type === "program");
}
