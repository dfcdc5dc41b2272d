/** What a model server sent, before anyone believed it. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** The value if it is a string with something in it. */
export function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** The value without its fraction if it is a count, else 0. */
export function countOrZero(value: unknown): number {
  return typeof value === "number" && value > 0 && value <= Number.MAX_SAFE_INTEGER ? Math.trunc(value) : 0;
}
