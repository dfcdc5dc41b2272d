/** An invariant of our own code does not hold. The caller gets a 500 without detail; the log gets all of it. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

export function assert(condition: unknown, invariant: string): asserts condition {
  if (!condition) throw new InvariantError(invariant);
}

/** Ends every switch over a union: a new variant without a case does not compile. */
export function assertNever(value: never): never {
  throw new InvariantError(`unexpected variant: ${JSON.stringify(value)}`);
}
