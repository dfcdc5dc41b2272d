import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../base/json/records.ts";

/**
 * Whether two values of JSON say the same, apart from what the reference makes anew each time: ciphertexts, and
 * fingerprints of programs.
 */
export function isSameJson(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(settled(one), settled(other));
}

/** The value without the members that change. */
function settled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(settled);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([name]) => !changes(name, value["type"]));
  return Object.fromEntries(members.map(([name, member]) => [name, settled(member)]));
}

function changes(member: string, type: unknown): boolean {
  return member === "encrypted_content" || (member === "fingerprint" && type === "program");
}
