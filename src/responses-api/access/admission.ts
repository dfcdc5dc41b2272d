import { assert } from "@antiphon/base/assert.ts";
import type { RateBucket, RateLimiter, RateStanding, RateTaking } from "@antiphon/domain/rates.ts";
import { type RateLimitRefusal, rateLimitBelowRequest, rateLimitReached } from "../errors/rate-limit-errors.ts";
import type { Principal } from "./authenticate.ts";

/** The estimated token cost of a request, before its model is called. */
export interface TokenEstimate {
  readonly input: number;
  /** The request's limit of output tokens; null if it sets none. */
  readonly outputMax: number | null;
}

/** Output tokens reserved for a request without a limit. The reservation is corrected when the answer has ended. */
const OUTPUT_TOKENS_RESERVED = 1024;

/**
 * Applies the limits of a key to one request. The request is counted first, its tokens are reserved before the model is
 * called, and the reservation is corrected after the answer.
 */
export class Admission {
  readonly #limiter: RateLimiter;
  readonly #principal: Principal;
  readonly #standing: Record<RateBucket, RateStanding>;
  #reservation: RateTaking | null = null;

  private constructor(limiter: RateLimiter, principal: Principal, standing: Record<RateBucket, RateStanding>) {
    this.#limiter = limiter;
    this.#principal = principal;
    this.#standing = standing;
  }

  /** Counts the request. Throws the 429 error if the key has no requests left. */
  static async open(limiter: RateLimiter, principal: Principal): Promise<Admission> {
    const [request, tokens] = await Promise.all([
      limiter.take(principal, "requests", 1),
      limiter.standing(principal, "tokens"),
    ]);
    const admission = new Admission(limiter, principal, { requests: request.standing, tokens });
    if (!request.taken) throw rateLimitReached(admission.#refusal("requests", 1));
    return admission;
  }

  /**
   * Reserves the tokens that the request may need: its input, and as much output as fits into the limit per minute.
   * Throws the 429 error if the key has fewer left. Call it at most once.
   */
  async reserve({ input, outputMax }: TokenEstimate): Promise<void> {
    assert(this.#reservation === null, "tokens are reserved once for each request");
    const { limit } = this.#standing.tokens;
    const tokens = Math.min(input + (outputMax ?? OUTPUT_TOKENS_RESERVED), Math.max(limit, input));
    const taking = await this.#limiter.take(this.#principal, "tokens", tokens);
    this.#standing.tokens = taking.standing;
    if (taking.taken) this.#reservation = taking;
    else throw (input > limit ? rateLimitBelowRequest : rateLimitReached)(this.#refusal("tokens", tokens));
  }

  /** The six `x-ratelimit-*` headers, with this request counted. */
  get headers(): Readonly<Record<string, string>> {
    return rateLimitHeaders(this.#standing);
  }

  /**
   * Replaces the reservation by the used tokens: 0 if no model was called. Null keeps the reservation, because nothing
   * was counted.
   */
  settle(usedTokens: number | null): void {
    const taking = this.#reservation;
    this.#reservation = null;
    if (taking !== null && usedTokens !== null) taking.correct(usedTokens);
  }

  #refusal(bucket: RateBucket, amount: number): RateLimitRefusal {
    const { organization } = this.#principal.owner;
    return { bucket, organization, standing: this.#standing[bucket], amount, headers: this.headers };
  }
}

/** The reference's six headers. Counts are integers, resets are durations. */
function rateLimitHeaders({
  requests,
  tokens,
}: Readonly<Record<RateBucket, RateStanding>>): Readonly<Record<string, string>> {
  return {
    "x-ratelimit-limit-requests": String(requests.limit),
    "x-ratelimit-limit-tokens": String(tokens.limit),
    "x-ratelimit-remaining-requests": String(requests.remaining),
    "x-ratelimit-remaining-tokens": String(tokens.remaining),
    "x-ratelimit-reset-requests": rateLimitResetText(requests.resetMs),
    "x-ratelimit-reset-tokens": rateLimitResetText(tokens.resetMs),
  };
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** A duration in the reference's format, such as `0s`, `20ms`, `1.2s` or `6m0s`. */
export function rateLimitResetText(ms: number): string {
  const whole = Math.ceil(ms);
  if (whole > 0 && whole < SECOND_MS) return `${whole}ms`;
  const seconds = `${(whole % MINUTE_MS) / SECOND_MS}s`;
  return whole < MINUTE_MS ? seconds : `${Math.floor(whole / MINUTE_MS)}m${seconds}`;
}
