import type { RateBucket, RatedKey, RateLimiter, RateStanding, RateTaking } from "@antiphon/domain/rates.ts";
import type { CountBatches } from "./count-batches.ts";
import { CurrentMinutes } from "./current-minutes.ts";
import { counterName, standingOf, type Used } from "./minute-counter.ts";
import { type MinuteLimits, MinuteRates } from "./minute-rates.ts";
import type { Count, CountChange } from "./ports.ts";

const MINUTE_MS = 60_000;
/** The clocks of servers and counters may run at slightly different speeds. */
const CLOCK_DRIFT_MS = 1000;
/** Tokens are taken without waiting if at most these shares of the limit are used and taken. */
const PLENTY_USED_MAX = 1 / 2;
const PLENTY_TAKEN_MAX = 1 / 8;
/** How long the last known state of a counter is used. */
const HEARD_MS_MAX = 1000;

interface Heard extends Used {
  readonly heardAt: number;
}

/**
 * Rate limits per minute that all servers count together. If the common counters do not respond, each server allows its
 * share of the limits.
 */
export class ClusterRates implements RateLimiter {
  readonly #defaults: MinuteLimits;
  readonly #counts: CountBatches;
  /** The number of live servers, as far as known. */
  readonly #servers: () => number;
  readonly #alone: MinuteRates;
  /** The last known token usage of a key. */
  readonly #lastCounts = new CurrentMinutes<Heard>();

  constructor(defaults: MinuteLimits, counts: CountBatches, servers: () => number) {
    this.#defaults = defaults;
    this.#counts = counts;
    this.#servers = servers;
    this.#alone = new MinuteRates(defaults);
  }

  async take(key: RatedKey, bucket: RateBucket, amount: number): Promise<RateTaking> {
    const change = this.#change(key, bucket, amount);
    const foreseen = bucket === "tokens" ? this.#foresee(change) : null;
    if (foreseen !== null) {
      this.#counts.send({ ...change, kind: "charge" });
      return this.#taking(change, true, foreseen);
    }
    const count = await this.#counts.change(change);
    if (count === null) return await this.#takeAlone(key, bucket, amount);
    return this.#taking(change, count.taken, this.#hear(change, count));
  }

  async standing(key: RatedKey, bucket: RateBucket): Promise<RateStanding> {
    const change = this.#change(key, bucket, 0);
    const count = await this.#counts.change(change);
    return count === null
      ? withLimit(await this.#alone.standing(this.#partOf(key, bucket), bucket), change.limit)
      : standingOf(change.limit, this.#hear(change, count));
  }

  /**
   * The usage after a take that cannot be refused: the rest is larger than what other servers can have taken since this
   * request. Null if it may be refused.
   */
  #foresee({ name, amount, limit }: CountChange): Used | null {
    const count = this.#lastCounts.get(name);
    if (count === undefined || performance.now() - count.heardAt > HEARD_MS_MAX) return null;
    const total = count.amount + amount;
    if (amount > limit * PLENTY_TAKEN_MAX || total > limit * PLENTY_USED_MAX) return null;
    this.#lastCounts.set(name, { ...count, amount: total });
    return { amount: total, endsAt: count.endsAt };
  }

  #hear({ name }: CountChange, { used, leftMs }: Count): Used {
    const endsAt = Date.now() + (leftMs === 0 ? MINUTE_MS : leftMs);
    this.#lastCounts.set(name, { amount: used, endsAt, heardAt: performance.now() });
    return { amount: used, endsAt };
  }

  #taking(change: CountChange, taken: boolean, usage: Used): RateTaking {
    return {
      taken,
      standing: standingOf(change.limit, usage),
      correct: (actual) => {
        const amount = actual - change.amount;
        const leftMsMax = usage.endsAt - Date.now() + CLOCK_DRIFT_MS;
        if (amount > 0 || (amount < 0 && leftMsMax > CLOCK_DRIFT_MS)) {
          this.#counts.send({ ...change, kind: "charge", amount, leftMsMax });
          this.#correctHeard(change.name, amount, usage.endsAt);
        }
      },
    };
  }

  /** The known state of the minute whose take is corrected. */
  #correctHeard(name: string, amount: number, endsAt: number): void {
    const count = this.#lastCounts.get(name);
    if (count === undefined || Math.abs(count.endsAt - endsAt) > CLOCK_DRIFT_MS) return;
    this.#lastCounts.set(name, { ...count, amount: Math.max(0, count.amount + amount) });
  }

  /** A single take larger than this server's share uses the whole share, because the common counters may allow it. */
  async #takeAlone(key: RatedKey, bucket: RateBucket, amount: number): Promise<RateTaking> {
    const part = this.#partOf(key, bucket);
    const limit = this.#limit(key, bucket);
    const taking = await this.#alone.take(part, bucket, Math.min(amount, part.limits[bucket] ?? amount));
    return { ...taking, standing: withLimit(taking.standing, limit) };
  }

  #partOf(key: RatedKey, bucket: RateBucket): RatedKey {
    const part = Math.max(1, Math.ceil(this.#limit(key, bucket) / Math.max(1, this.#servers())));
    return { ...key, limits: { ...key.limits, [bucket]: part } };
  }

  #change(key: RatedKey, bucket: RateBucket, amount: number): CountChange {
    const limit = this.#limit(key, bucket);
    const name = `${counterName(bucket, limit)} ${key.keyId}`;
    return { name, kind: "take", amount, limit, periodMs: MINUTE_MS, refusalMs: 0, leftMsMax: MINUTE_MS };
  }

  #limit({ limits }: RatedKey, bucket: RateBucket): number {
    return limits[bucket] ?? this.#defaults[bucket];
  }
}

/** The limit of the key, not this server's share. */
function withLimit(standing: RateStanding, limit: number): RateStanding {
  return { ...standing, limit };
}
