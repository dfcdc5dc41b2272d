const sizes = new WeakMap<object, number>();

/** Records the size in bytes of the message that `value` was parsed from, and returns `value`. */
export function rememberSize(value: unknown, bytes: number): unknown {
  if (typeof value === "object" && value !== null) sizes.set(value, bytes);
  return value;
}

/** The size in bytes of the message that a value was parsed from; 0 if it is unknown. */
export function messageSize(value: object): number {
  return sizes.get(value) ?? 0;
}
