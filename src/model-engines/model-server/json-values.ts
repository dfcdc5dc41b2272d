/** A JSON object from a model server, not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** The value if it is a non-empty string, otherwise null. */
export function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** The value rounded down if it is a positive safe number, otherwise 0. */
export function countOrZero(value: unknown): number {
  return typeof value === "number" && value > 0 && value <= Number.MAX_SAFE_INTEGER ? Math.trunc(value) : 0;
}
