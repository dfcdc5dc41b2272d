/**
 * The value if it is a string, otherwise ''. Values of a stream are never converted to strings, because they may be
 * anything.
 */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value if it is a number, otherwise -1. */
export function indexOf(value: unknown): number {
  return typeof value === "number" ? value : -1;
}
