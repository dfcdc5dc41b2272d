import { isRecord } from "./records.ts";

/** Freezes a JSON value and everything in it, and returns it. */
export function freezeDeep<Value>(value: Value): Value {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (!Array.isArray(next) && !isRecord(next)) continue;
    Object.freeze(next);
    for (const member of Object.values(next)) waiting.push(member);
  }
  return value;
}
