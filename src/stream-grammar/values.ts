/**
 * Reads what should be a text; '' if it is none. What a stream says is never turned into text by itself, since it may
 * be anything.
 */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Reads what should be a place; -1 if it is none. */
export function indexOf(value: unknown): number {
  return typeof value === "number" ? value : -1;
}
