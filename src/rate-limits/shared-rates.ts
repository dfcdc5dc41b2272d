import type { RateBucket, RatedKey, RateLimiter, RateStanding, RateTaking } from "@antiphon/domain/rates.ts";
import { CurrentMinutes } from "./current-minutes.ts";
import { nothingUsed, standingOf, type Used } from "./minute-counter.ts";
import type { MinuteLimits } from "./minute-rates.ts";
import { placeName, type RateAsk, type RateCorrection, type RateGrant, type RatePlace } from "./shared-counts.ts";

/** The process that counts for all. */
export interface RateCounter {
  /** Null if it does not respond in time. */
  take(ask: RateAsk): Promise<RateGrant | null>;
  correct(correction: RateCorrection): void;
}

/** What this process may use of a limit without a request. */
interface Block {
  readonly usage: Used;
  readonly endsAt: number;
  amountLeft: number;
}

/** Rate limits per minute, counted by one process for several. If it does not respond, requests are allowed. */
export class SharedRates implements RateLimiter {
  readonly #defaults: MinuteLimits;
  readonly #counter: RateCounter;
  readonly #blocks = new CurrentMinutes<Block>();

  constructor(defaults: MinuteLimits, counter: RateCounter) {
    this.#defaults = defaults;
    this.#counter = counter;
  }

  async take(key: RatedKey, bucket: RateBucket, amount: number): Promise<RateTaking> {
    const place = this.#place(key, bucket);
    const block = this.#blocks.get(placeName(place));
    if (block !== undefined && block.amountLeft >= amount) {
      block.amountLeft -= amount;
      return this.#taking(place, amount, { taken: true, used: withoutRest(block) });
    }
    const grant = await this.#ask(place, amount, block);
    return this.#taking(place, amount, grant ?? { taken: true, used: nothingUsed() });
  }

  async standing(key: RatedKey, bucket: RateBucket): Promise<RateStanding> {
    const place = this.#place(key, bucket);
    const block = this.#blocks.get(placeName(place));
    if (block !== undefined && block.amountLeft > 0) return standingOf(place.limit, withoutRest(block));
    const grant = await this.#counter.take({ ...place, amount: 0, unused: 0 });
    return standingOf(place.limit, grant?.used ?? nothingUsed());
  }

  /** Returns the rest of the block. */
  recall(place: RatePlace): number {
    const block = this.#blocks.get(placeName(place));
    const rest = block?.amountLeft ?? 0;
    if (block !== undefined) block.amountLeft = 0;
    return rest;
  }

  async #ask(place: RatePlace, amount: number, block: Block | undefined): Promise<RateGrant | null> {
    const rest = block?.amountLeft ?? 0;
    if (block !== undefined) block.amountLeft = 0; // Returned with the request, so that nobody uses it twice.
    const grant = await this.#counter.take({ ...place, amount, unused: rest });
    if (grant === null || grant.block === 0) return grant;
    const { endsAt } = grant.used;
    // From a concurrent request.
    const amountLeft = grant.block + (this.#blocks.get(placeName(place))?.amountLeft ?? 0);
    this.#blocks.set(placeName(place), { usage: grant.used, endsAt, amountLeft });
    return { ...grant, used: { amount: grant.used.amount - grant.block, endsAt } };
  }

  #taking(place: RatePlace, amount: number, { taken, used }: Pick<RateGrant, "taken" | "used">): RateTaking {
    const { endsAt } = used;
    return {
      taken,
      standing: standingOf(place.limit, used),
      correct: (actual) => this.#correct({ ...place, amount: actual - amount, endsAt }),
    };
  }

  /** Charges the block if there is one. */
  #correct(correction: RateCorrection): void {
    const { amount, endsAt } = correction;
    if (amount === 0 || (amount < 0 && Date.now() >= endsAt)) return;
    const block = this.#blocks.get(placeName(correction));
    if (block === undefined || block.amountLeft === 0) return this.#counter.correct(correction);
    const share = Math.min(amount, block.amountLeft); // The whole refund, below 0.
    block.amountLeft -= share;
    if (amount > share) this.#counter.correct({ ...correction, amount: amount - share });
  }

  #place({ keyId, limits }: RatedKey, bucket: RateBucket): RatePlace {
    return { bucket, limit: limits[bucket] ?? this.#defaults[bucket], keyId };
  }
}

/** The usage without the rest of its own block. */
function withoutRest({ usage, amountLeft }: Block): Used {
  return { amount: usage.amount - amountLeft, endsAt: usage.endsAt };
}
