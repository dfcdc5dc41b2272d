/**
 * The value if it is a string, else ''. Values of a stream are never converted to strings, because they may be
 * anything.
 */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value if it is a number, else -1. */
export function indexOf(value: unknown): number {
  return typeof value === "number" ? value : -1;
}
