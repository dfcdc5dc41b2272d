import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { RateBucket, RatedKey, RateLimiter, RateStanding, RateTaking } from "../responses-api/ports.ts";

/** Default limits per minute, for keys without limits of their own. */
export type MinuteLimits = Readonly<Record<RateBucket, number>>;

const WINDOW_SECONDS = 60;

/**
 * Rate limits per minute, counted in this process. A key's minute starts with its first request. The library keeps the
 * counts; its other stores, such as Redis, have the same interface.
 */
export class MinuteRates implements RateLimiter {
  readonly #defaults: MinuteLimits;
  /**
   * One counter per bucket and limit, because a counter of the library has a fixed limit. Their number is the number of
   * different limits that the operator configured.
   */
  readonly #counters = new Map<string, RateLimiterMemory>();

  constructor(defaults: MinuteLimits) {
    this.#defaults = defaults;
  }

  async take(key: RatedKey, bucket: RateBucket, amount: number): Promise<RateTaking> {
    const counter = this.#counter(key, bucket);
    const taken = await consume(counter, key.keyId, amount);
    const after = taken ?? (await counter.reward(key.keyId, amount));
    const windowEndsAt = Date.now() + after.msBeforeNext;
    return {
      taken: taken !== null,
      standing: standingOf(counter, after),
      correct: (used) => {
        if (used > amount) void counter.penalty(key.keyId, used - amount);
        // Only within the same minute: tokens given back later would enlarge the next minute.
        else if (used < amount && Date.now() < windowEndsAt) void counter.reward(key.keyId, amount - used);
      },
    };
  }

  async standing(key: RatedKey, bucket: RateBucket): Promise<RateStanding> {
    const counter = this.#counter(key, bucket);
    return standingOf(counter, await counter.get(key.keyId));
  }

  #counter(key: RatedKey, bucket: RateBucket): RateLimiterMemory {
    const limit = key.limits[bucket] ?? this.#defaults[bucket];
    const name = `${bucket} ${limit}`;
    const known = this.#counters.get(name);
    if (known !== undefined) return known;
    const made = new RateLimiterMemory({ keyPrefix: name, points: limit, duration: WINDOW_SECONDS });
    this.#counters.set(name, made);
    return made;
  }
}

/** Null if the key has not enough left. The library charges the key even then. */
async function consume(counter: RateLimiterMemory, keyId: string, amount: number): Promise<RateLimiterRes | null> {
  try {
    return await counter.consume(keyId, amount);
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return null;
    throw refusal;
  }
}

function standingOf(counter: RateLimiterMemory, counted: RateLimiterRes | null): RateStanding {
  const limit = counter.points;
  const remaining = counted === null ? limit : Math.min(limit, Math.max(0, limit - counted.consumedPoints));
  return { limit, remaining, resetMs: counted === null || remaining === limit ? 0 : Math.max(0, counted.msBeforeNext) };
}
