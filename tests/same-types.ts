/** `true` if both types are the same, otherwise what differs. */
export type Same<A, B> = [A] extends [B]
  ? [B] extends [A]
    ? true
    : { missing: Exclude<B, A> }
  : { unexpected: Exclude<A, B> };

/** Compiles only if each type is `true`. */
export type AllHold<T extends readonly true[]> = T;
