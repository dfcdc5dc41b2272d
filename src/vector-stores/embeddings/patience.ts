import { setTimeout as sleep } from "node:timers/promises";

const FIRST_PAUSE_MS = 500;
const PAUSE_MS_MAX = 15_000;

/**
 * Waits before a request is made again, longer each time. `repeats`: the repeats before this one. `askedMs`: the delay
 * that the server asked for, or null. Rejects with the signal's reason if the signal aborts.
 */
export async function pauseBeforeRepeat(repeats: number, askedMs: number | null, signal: AbortSignal): Promise<void> {
  const pauseMs = Math.min(PAUSE_MS_MAX, askedMs ?? FIRST_PAUSE_MS * 2 ** repeats);
  await sleep(pauseMs, null, { signal }).catch(() => signal.throwIfAborted());
}
