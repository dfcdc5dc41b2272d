import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../base/records.ts";

/** Whether two values of JSON say the same, ciphertexts apart: the reference encrypts anew each time it shows one. */
export function isSameJson(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(withoutCiphertexts(one), withoutCiphertexts(other));
}

function withoutCiphertexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutCiphertexts);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([name]) => name !== "encrypted_content");
  return Object.fromEntries(members.map(([name, member]) => [name, withoutCiphertexts(member)]));
}
