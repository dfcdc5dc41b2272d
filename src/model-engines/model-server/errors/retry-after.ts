import { retryAfterSeconds } from "@antiphon/base/limits/retry-after.ts";

const RETRY_AFTER_SECONDS_MAX = 24 * 60 * 60;
const SECONDS_PER: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60 };

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Seconds that a refused caller should wait, from the headers or else from the message ("try again in 1.2s"). From 1 to
 * one day; null if neither contains it.
 */
export function readRetryAfter(headers: Headers, message: string, nowMs: number): number | null {
  const seconds = retryAfterSeconds(headers, nowMs) ?? fromMessage(message);
  return seconds === null ? null : Math.min(Math.max(Math.ceil(seconds), 1), RETRY_AFTER_SECONDS_MAX);
}

function fromMessage(message: string): number | null {
  const match = /(?:try again|retry) (?:in|after) (?:(\d+)m)?(\d+(?:\.\d+)?)\s?(ms|s|m)/i.exec(message);
  if (match === null) return null;
  return (
    Number.parseFloat(match[1] ?? "0") * 60 +
    Number.parseFloat(match[2] ?? "0") * (SECONDS_PER[match[3]?.toLowerCase() ?? "s"] ?? 1)
  );
}
