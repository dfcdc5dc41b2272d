/** A promise of our own code was broken. Becomes a 500 with no detail for the caller and a log line with all of it. */
export class BrokenPromise extends Error {
  override readonly name = "BrokenPromise";
}

export function assert(condition: unknown, promise: string): asserts condition {
  if (!condition) throw new BrokenPromise(promise);
}

/** Ends every switch over a union: a new variant without a case does not compile. */
export function assertNever(value: never): never {
  throw new BrokenPromise(`unexpected variant: ${JSON.stringify(value)}`);
}
