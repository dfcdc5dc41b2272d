import type { RateBucket, RateStanding } from "../ports.ts";

/** The reference's six headers: counts as integers, resets as durations. */
export function rateLimitHeaders({
  requests,
  tokens,
}: Readonly<Record<RateBucket, RateStanding>>): Readonly<Record<string, string>> {
  return {
    "x-ratelimit-limit-requests": String(requests.limit),
    "x-ratelimit-limit-tokens": String(tokens.limit),
    "x-ratelimit-remaining-requests": String(requests.remaining),
    "x-ratelimit-remaining-tokens": String(tokens.remaining),
    "x-ratelimit-reset-requests": durationText(requests.resetMs),
    "x-ratelimit-reset-tokens": durationText(tokens.resetMs),
  };
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** `0s`, `20ms`, `1.2s`, `6m0s`: as the reference writes durations. */
export function durationText(ms: number): string {
  const whole = Math.ceil(ms);
  if (whole > 0 && whole < SECOND_MS) return `${whole}ms`;
  const seconds = `${(whole % MINUTE_MS) / SECOND_MS}s`;
  return whole < MINUTE_MS ? seconds : `${Math.floor(whole / MINUTE_MS)}m${seconds}`;
}
