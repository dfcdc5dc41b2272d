import { ApiError } from "@antiphon/base/api-error.ts";
import type { RateBucket, RateStanding } from "@antiphon/domain/rates.ts";

const RATE_LIMIT = "rate_limit_error";

export interface RateLimitRefusal {
  readonly bucket: RateBucket;
  readonly organization: string;
  readonly standing: RateStanding;
  readonly amount: number;
  /** The `x-ratelimit-*` headers of the reply. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The error when the rest of this minute's limit is too small. Clients parse the delay from the text, so it is given in
 * seconds or milliseconds, never in minutes.
 */
export function rateLimitReached(refusal: RateLimitRefusal): ApiError {
  const { resetMs } = refusal.standing;
  return rateLimitError(refusal, "reached", `Please try again in ${delayText(resetMs)}.`, {});
}

/**
 * The error when one request needs more than a whole minute's tokens. Retrying cannot help, so official clients are
 * told not to.
 */
export function rateLimitBelowRequest(refusal: RateLimitRefusal): ApiError {
  const advice = "The request alone exceeds the limit: send less input.";
  return rateLimitError(refusal, "too low", advice, { "x-should-retry": "false" });
}

function rateLimitError(
  { bucket, organization, standing, amount, headers }: RateLimitRefusal,
  what: string,
  advice: string,
  more: Readonly<Record<string, string>>,
): ApiError {
  const { limit, remaining, resetMs } = standing;
  return new ApiError({
    status: 429,
    type: RATE_LIMIT,
    code: RATE_LIMIT,
    message: `Rate limit ${what} for this key in organization '${organization}' on ${bucket} per minute: limit ${limit}, remaining ${remaining}, requested ${amount}. ${advice}`,
    headers: { ...headers, ...more, "Retry-After": String(Math.max(1, Math.ceil(resetMs / 1000))) },
  });
}

function delayText(ms: number): string {
  return ms < 1000 ? `${Math.max(1, Math.ceil(ms))}ms` : `${ms / 1000}s`;
}
