import type { RateBucket, RateStanding } from "@antiphon/domain/rates.ts";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

const WINDOW_SECONDS = 60;

/** A key's usage of one limit in its minute. */
export interface Used {
  readonly amount: number;
  /** The end of the minute in Unix milliseconds. */
  readonly endsAt: number;
}

/** Counters by bucket and limit, because a counter of the library has a fixed limit. The operator sets the limits. */
export class MinuteCounters {
  readonly #counters = new Map<string, MinuteCounter>();

  of(bucket: RateBucket, limit: number): MinuteCounter {
    const name = counterName(bucket, limit);
    const earlier = this.#counters.get(name);
    if (earlier !== undefined) return earlier;
    const counter = new MinuteCounter(name, limit);
    this.#counters.set(name, counter);
    return counter;
  }
}

/** The name of a counter, unique per bucket and limit. */
export function counterName(bucket: RateBucket, limit: number): string {
  return `${bucket} ${limit}`;
}

/** Counts the usage of one limit by keys. A key's minute starts with its first use. */
export class MinuteCounter {
  readonly name: string;
  readonly limit: number;
  readonly #memory: RateLimiterMemory;

  constructor(name: string, limit: number) {
    this.name = name;
    this.limit = limit;
    this.#memory = new RateLimiterMemory({ keyPrefix: name, points: limit, duration: WINDOW_SECONDS });
  }

  /** Takes all of `amount`, or nothing if less is left. */
  async take(keyId: string, amount: number): Promise<{ readonly taken: boolean; readonly used: Used }> {
    try {
      return { taken: true, used: usedOf(await this.#memory.consume(keyId, amount)) };
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return { taken: false, used: await this.giveBack(keyId, amount) }; // The library charges the key even then.
    }
  }

  async charge(keyId: string, amount: number): Promise<Used> {
    return usedOf(await this.#memory.penalty(keyId, amount));
  }

  /** Call it only within the minute of the take: a later refund would enlarge the next minute. */
  async giveBack(keyId: string, amount: number): Promise<Used> {
    return usedOf(await this.#memory.reward(keyId, amount));
  }

  async usage(keyId: string): Promise<Used> {
    const count = await this.#memory.get(keyId);
    return count === null ? nothingUsed() : usedOf(count);
  }
}

/** For a key whose minute has not begun. */
export function nothingUsed(): Used {
  return { amount: 0, endsAt: Date.now() };
}

function usedOf({ consumedPoints, msBeforeNext }: RateLimiterRes): Used {
  return { amount: consumedPoints, endsAt: Date.now() + msBeforeNext };
}

/** The rest of a limit after this use. */
export function standingOf(limit: number, { amount, endsAt }: Used): RateStanding {
  const remaining = Math.min(limit, Math.max(0, limit - amount));
  return { limit, remaining, resetMs: remaining === limit ? 0 : Math.max(0, endsAt - Date.now()) };
}
