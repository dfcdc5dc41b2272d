export type RateBucket = "requests" | "tokens";

/** A key and its limits. A null limit means the limit of the server's settings. */
export interface RatedKey {
  readonly keyId: string;
  /** The maximum of each in a minute. */
  readonly limits: Readonly<Record<RateBucket, number | null>>;
}

/** How much of a limit is left in the current minute. */
export interface RateStanding {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the whole limit is available again; 0 if it is. */
  readonly resetMs: number;
}

export interface RateTaking {
  /** If false, less was left than requested and nothing was taken. */
  readonly taken: boolean;
  readonly standing: RateStanding;
  /**
   * Replaces the amount taken by the amount used: charges more or gives back the rest. It runs in the background. Call
   * it at most once.
   */
  correct(used: number): void;
}

/** Counts the requests and tokens of each key. */
export interface RateLimiter {
  take(key: RatedKey, bucket: RateBucket, amount: number): Promise<RateTaking>;
  standing(key: RatedKey, bucket: RateBucket): Promise<RateStanding>;
}
