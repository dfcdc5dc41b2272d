const sizes = new WeakMap<object, number>();

/** Remembers how many bytes the message had that `value` was read from, and gives `value` back. */
export function rememberSize(value: unknown, bytes: number): unknown {
  if (typeof value === "object" && value !== null) sizes.set(value, bytes);
  return value;
}

/** The bytes of the message that a value was read from; 0 if nobody remembers them. */
export function sizeOf(value: object): number {
  return sizes.get(value) ?? 0;
}
