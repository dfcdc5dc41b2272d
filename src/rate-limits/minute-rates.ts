import type { RateBucket, RatedKey, RateLimiter, RateStanding, RateTaking } from "@antiphon/domain/rates.ts";
import { type MinuteCounter, MinuteCounters, standingOf } from "./minute-counter.ts";

/** Default limits per minute, for keys without limits of their own. */
export type MinuteLimits = Readonly<Record<RateBucket, number>>;

/** Rate limits per minute, counted in this process. A key's minute starts with its first request. */
export class MinuteRates implements RateLimiter {
  readonly #defaults: MinuteLimits;
  readonly #counters = new MinuteCounters();

  constructor(defaults: MinuteLimits) {
    this.#defaults = defaults;
  }

  async take(key: RatedKey, bucket: RateBucket, amount: number): Promise<RateTaking> {
    const counter = this.#counter(key, bucket);
    const { taken, used } = await counter.take(key.keyId, amount);
    return {
      taken,
      standing: standingOf(counter.limit, used),
      correct: (actual) => {
        if (actual > amount) void counter.charge(key.keyId, actual - amount);
        else if (actual < amount && Date.now() < used.endsAt) void counter.giveBack(key.keyId, amount - actual);
      },
    };
  }

  async standing(key: RatedKey, bucket: RateBucket): Promise<RateStanding> {
    const counter = this.#counter(key, bucket);
    return standingOf(counter.limit, await counter.usage(key.keyId));
  }

  #counter(key: RatedKey, bucket: RateBucket): MinuteCounter {
    return this.#counters.of(bucket, key.limits[bucket] ?? this.#defaults[bucket]);
  }
}
