import { assert } from "../../base/assert.ts";
import { type RateLimitRefusal, rateLimitBelowRequest, rateLimitReached } from "../errors/rate-limit-errors.ts";
import type { RateBucket, RateLimiter, RateStanding, RateTaking } from "../ports.ts";
import type { ResponseServices } from "../services.ts";
import type { Principal } from "./authenticate.ts";

/** What a request may cost before it is known what it does. */
export interface TokenNeed {
  readonly input: number;
  /** The most it may answer; null where it sets no bound. */
  readonly outputMax: number | null;
}

/** What is set aside for an answer whose length nobody bounds. It is corrected when the answer is there. */
const OUTPUT_TOKENS_RESERVED = 1024;

/**
 * One request's way through the limits of its key: counted first, its tokens set aside before the model is asked,
 * settled when it has answered.
 */
export class Admission {
  readonly #limiter: RateLimiter;
  readonly #principal: Principal;
  readonly #standing: Record<RateBucket, RateStanding>;
  #reserved: RateTaking | null = null;

  private constructor(limiter: RateLimiter, principal: Principal, standing: Record<RateBucket, RateStanding>) {
    this.#limiter = limiter;
    this.#principal = principal;
    this.#standing = standing;
  }

  /** Counts the request; throws the 429 where the key has none left. */
  static async open({ limiter }: Pick<ResponseServices, "limiter">, principal: Principal): Promise<Admission> {
    const [request, tokens] = await Promise.all([
      limiter.take(principal, "requests", 1),
      limiter.standing(principal, "tokens"),
    ]);
    const admission = new Admission(limiter, principal, { requests: request.standing, tokens });
    if (!request.taken) throw rateLimitReached(admission.#refused("requests", 1));
    return admission;
  }

  /**
   * Sets the tokens aside that the request may need: its input, and its output as far as the minute's limit has room
   * beside it. Throws the 429 where the key has fewer left. Call it once at most.
   */
  async reserve({ input, outputMax }: TokenNeed): Promise<void> {
    assert(this.#reserved === null, "tokens are set aside once for each request");
    const { limit } = this.#standing.tokens;
    const needed = Math.min(input + (outputMax ?? OUTPUT_TOKENS_RESERVED), Math.max(limit, input));
    const taking = await this.#limiter.take(this.#principal, "tokens", needed);
    this.#standing.tokens = taking.standing;
    if (taking.taken) this.#reserved = taking;
    else throw (input > limit ? rateLimitBelowRequest : rateLimitReached)(this.#refused("tokens", needed));
  }

  /** The six headers: where the key stands after this request. */
  get headers(): Readonly<Record<string, string>> {
    return rateLimitHeaders(this.#standing);
  }

  /**
   * Says what the request used: 0 if its model was never asked, null if nobody counted, which leaves what was set
   * aside.
   */
  settle(usedTokens: number | null): void {
    const taking = this.#reserved;
    this.#reserved = null;
    if (taking !== null && usedTokens !== null) taking.correct(usedTokens);
  }

  #refused(bucket: RateBucket, requested: number): RateLimitRefusal {
    const { organization } = this.#principal.owner;
    return { bucket, organization, standing: this.#standing[bucket], requested, headers: this.headers };
  }
}

/** The reference's six headers: counts as integers, resets as durations. */
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

/** `0s`, `20ms`, `1.2s`, `6m0s`: as the reference writes durations. */
export function rateLimitResetText(ms: number): string {
  const whole = Math.ceil(ms);
  if (whole > 0 && whole < SECOND_MS) return `${whole}ms`;
  const seconds = `${(whole % MINUTE_MS) / SECOND_MS}s`;
  return whole < MINUTE_MS ? seconds : `${Math.floor(whole / MINUTE_MS)}m${seconds}`;
}
