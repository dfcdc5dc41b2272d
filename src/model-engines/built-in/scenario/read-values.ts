import { isRecord } from "../../../base/json/records.ts";
import type { Place } from "./scenario-error.ts";

export type Mapping = Readonly<Record<string, unknown>>;

/** Reads a mapping that has no other keys than these. */
export function readMapping(value: unknown, place: Place, keys: readonly string[]): Mapping {
  if (!isRecord(value)) throw place.expected("a mapping", value);
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown !== undefined) throw place.member(unknown).error(`is unknown; known keys are ${keys.join(", ")}`);
  return value;
}

export function readList(value: unknown, place: Place): readonly unknown[] {
  if (!Array.isArray(value)) throw place.expected("a list", value);
  return value;
}

export function readText(value: unknown, place: Place): string {
  if (typeof value !== "string") throw place.expected("a text", value);
  return value;
}

export function readName(value: unknown, place: Place): string {
  if (typeof value !== "string" || value === "") throw place.expected("a non-empty text", value);
  return value;
}

export function readTexts(value: unknown, place: Place): string[] {
  return readList(value, place).map((entry, index) => readText(entry, place.element(index)));
}

export function readFlag(value: unknown, place: Place): boolean {
  if (typeof value !== "boolean") throw place.expected("true or false", value);
  return value;
}

export function readNumber(value: unknown, place: Place): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw place.expected("a number", value);
  return value;
}

export function readInteger(value: unknown, place: Place, min: number, max: number = Number.MAX_SAFE_INTEGER): number {
  const inRange = typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
  if (!inRange)
    throw place.expected(
      max === Number.MAX_SAFE_INTEGER ? `a whole number of at least ${min}` : `a whole number from ${min} to ${max}`,
      value,
    );
  return value;
}

export function readChoice<T extends string>(value: unknown, place: Place, choices: readonly T[]): T {
  const chosen = choices.find((choice) => choice === value);
  if (chosen === undefined) throw place.expected(`one of ${choices.join(", ")}`, value);
  return chosen;
}

/** Reads the value if there is one; otherwise null. */
export function readOptional<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === undefined || value === null ? null : read(value);
}
