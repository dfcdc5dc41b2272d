import { abortError } from "./call-watch.ts";
import { APIConnectionError, APIError } from "./errors.ts";

const BACKOFF_FIRST_MS = 500;
const BACKOFF_MS_MAX = 8_000;
const JITTER_SHARE = 0.25;

/** If the server asks for a longer wait, the call is not retried; the error's headers contain the wait. */
const RETRY_AFTER_MS_MAX = 60_000;

const TRANSIENT_STATUSES: readonly number[] = [408, 409, 429];

export interface RetryLimits {
  readonly retriesMax: number;
  readonly signal: AbortSignal | undefined;
}

/** Retries after transient failures, and rejects with the last one. */
export async function withRetries<Reply>(tryOnce: () => Promise<Reply>, limits: RetryLimits): Promise<Reply> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await tryOnce();
    } catch (error) {
      const waitMs =
        retries < limits.retriesMax ? retryWaitMs(error, { retries, nowMs: Date.now(), chance: Math.random() }) : null;
      if (waitMs === null) throw error;
      await waitFor(waitMs, limits.signal);
    }
  }
}

export interface RetryMoment {
  /** Retries so far. */
  readonly retries: number;
  readonly nowMs: number;
  /** A random number from 0 to 1, for the jitter. */
  readonly chance: number;
}

/** Milliseconds to wait before the next try; null if the call should not be retried. */
export function retryWaitMs(error: unknown, { retries, nowMs, chance }: RetryMoment): number | null {
  const headers = error instanceof APIError ? error.headers : new Headers();
  if (!isTransient(error, headers.get("x-should-retry"))) return null;
  const askedMs = askedWaitMs(headers, nowMs);
  if (askedMs !== null) return askedMs <= RETRY_AFTER_MS_MAX ? Math.max(0, askedMs) : null;
  return Math.min(BACKOFF_FIRST_MS * 2 ** retries, BACKOFF_MS_MAX) * (1 - chance * JITTER_SHARE);
}

function isTransient(error: unknown, serverSays: string | null): boolean {
  if (error instanceof APIConnectionError) return true;
  if (!(error instanceof APIError) || error.status === null) return false;
  if (serverSays === "true") return true;
  if (serverSays === "false") return false;
  return TRANSIENT_STATUSES.includes(error.status) || error.status >= 500;
}

/** The wait that `retry-after-ms` or `retry-after` asks for, in milliseconds; null if there is none. */
export function askedWaitMs(headers: Headers, nowMs: number): number | null {
  const inMs = numberIn(headers.get("retry-after-ms"));
  if (inMs !== null) return inMs;
  const after = headers.get("retry-after");
  const inSeconds = numberIn(after);
  if (inSeconds !== null) return inSeconds * 1000;
  const date = Date.parse(after ?? "");
  return Number.isNaN(date) ? null : date - nowMs;
}

function numberIn(text: string | null): number | null {
  return text !== null && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null;
}

/** Resolves after `waitMs` milliseconds. Rejects at once when the signal aborts. */
export function waitFor(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      if (signal?.aborted === true) reject(abortError(signal.reason));
      else resolve();
    };
    const timer = setTimeout(finish, waitMs);
    signal?.addEventListener("abort", finish);
    if (signal?.aborted === true) finish();
  });
}
