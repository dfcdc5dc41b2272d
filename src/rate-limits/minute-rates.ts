import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { RateBucket, RatedKey, RateLimiter, RateStanding, RateTaking } from "../responses-api/ports.ts";

/** What every key may take a minute that has no limits of its own. */
export type MinuteLimits = Readonly<Record<RateBucket, number>>;

const WINDOW_SECONDS = 60;

/**
 * Limits by the minute, which begins with a key's first request and is counted in this process. The library keeps the
 * counts; its other stores, such as Redis, take the same calls where several processes are to share them.
 */
export class MinuteRates implements RateLimiter {
  readonly #defaults: MinuteLimits;
  /**
   * By bucket and limit: the library fixes the limit of a counter. There are as many as the operator gave different
   * limits.
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
        // What is given back belongs to the minute it was taken in; a later one would grow by it.
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

/** Null where the key has not as much left; it is charged all the same, as the library does it. */
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
