export type RateBucket = "requests" | "tokens";

/** A key and its limits. A null limit stands for the server's default. */
export interface RatedKey {
  readonly keyId: string;
  /** The maximum of each bucket per minute. */
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
  /** False if less than requested was left; then nothing was taken. */
  readonly taken: boolean;
  readonly standing: RateStanding;
  /**
   * Replaces the taken amount by the used amount: charges the rest or refunds it. Runs in the background. Call it at
   * most once.
   */
  correct(usage: number): void;
}

/** Counts requests and tokens per key. */
export interface RateLimiter {
  take(key: RatedKey, bucket: RateBucket, amount: number): Promise<RateTaking>;
  standing(key: RatedKey, bucket: RateBucket): Promise<RateStanding>;
}
