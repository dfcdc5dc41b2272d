import { abortedBy } from "./call-watch.ts";
import { APIConnectionError, APIError } from "./errors.ts";

const BACKOFF_FIRST_MS = 500;
const BACKOFF_MS_MAX = 8_000;
const JITTER_SHARE = 0.25;

/** A server that asks for more patience than this gets no further try: its error says when to come back. */
const RETRY_AFTER_MS_MAX = 60_000;

const TRANSIENT_STATUSES: readonly number[] = [408, 409, 429];

export interface RetryLimits {
  readonly retriesMax: number;
  readonly signal: AbortSignal | undefined;
}

/** Tries again after failures that may pass, and rejects with the last of them. */
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
  /** How often it was tried again already. */
  readonly retries: number;
  readonly nowMs: number;
  /** From 0 to 1. */
  readonly chance: number;
}

/** How long to wait before the next try, or null if there shall be none. */
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

/** What the server asked for in Retry-After; null: nothing. */
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

/** Rejects at once when the signal aborts. */
export function waitFor(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      if (signal?.aborted === true) reject(abortedBy(signal.reason));
      else resolve();
    };
    const timer = setTimeout(finish, waitMs);
    signal?.addEventListener("abort", finish);
    if (signal?.aborted === true) finish();
  });
}
