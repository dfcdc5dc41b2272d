import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/load-config.ts";
import type { Store } from "../store/open-store.ts";
import type { Erasure, ErasureCursor, ErasureStep } from "../store/upkeep/erasure.ts";
import type { Expiry, ExpiryCursor } from "../store/upkeep/expiry.ts";

/** The removal of what has expired, as it goes on. */
export interface Sweeping {
  /** Resolves once nothing is being removed any more. */
  stop(): Promise<void>;
}

/** Removes what has expired; gives up between two steps when the signal aborts. */
type Sweep = (signal: AbortSignal) => Promise<void>;

const SWEEP_INTERVAL_MAX_MS = 60_000;
const SWEEP_INTERVAL_MIN_MS = 1_000;
/** Between two steps of a sweep, so that requests are served meanwhile. */
const STEP_PAUSE_MS = 10;

/** Begins to remove responses and files when their time is over, and what was deleted and is referred to no more. */
export function sweepExpired(
  { expiry, erasure, files }: Pick<Store, "expiry" | "erasure" | "files">,
  { responsesTtlMs }: Pick<Config, "responsesTtlMs">,
  log: Logger,
): Sweeping {
  const sweepFiles: Sweep = async () => void (await files.deleteExpired(Math.floor(Date.now() / 1000)));
  const erase = erasureSweep(erasure, log);
  if (responsesTtlMs === 0) return startSweeping([erase, sweepFiles], SWEEP_INTERVAL_MAX_MS, log);
  // What is kept is kept a tenth too long at the most, and never by more than a minute.
  const intervalMs = Math.max(SWEEP_INTERVAL_MIN_MS, Math.min(SWEEP_INTERVAL_MAX_MS, responsesTtlMs / 10));
  return startSweeping([responseSweep(expiry, responsesTtlMs, log), erase, sweepFiles], intervalMs, log);
}

function responseSweep(expiry: Expiry, ttlMs: number, log: Logger): Sweep {
  return async (signal) => {
    const before = Math.floor((Date.now() - ttlMs) / 1000);
    let removed = 0;
    let cursor: ExpiryCursor | null = null;
    do {
      const step = await expiry.deleteExpired(before, cursor);
      removed += step.deleted;
      cursor = step.next;
      if (cursor !== null) await sleep(STEP_PAUSE_MS, null, { signal });
    } while (cursor !== null);
    if (removed > 0) log.info({ removed }, "old responses were removed");
  };
}

/** Erases what was deleted, as soon as nothing that is stored refers to it. */
function erasureSweep(erasure: Erasure, log: Logger): Sweep {
  return async (signal) => {
    let erased = 0;
    let cursor: ErasureCursor | null = "";
    do {
      const step: ErasureStep = await erasure.eraseUnused(cursor);
      erased += step.erased;
      cursor = step.next;
      if (cursor !== null) await sleep(STEP_PAUSE_MS, null, { signal });
    } while (cursor !== null);
    if (erased > 0) log.info({ erased }, "what was deleted before, and nothing refers to any more, was erased");
  };
}

/**
 * Sweeps now and at every interval, one sweep after the other. What fails is logged and tried again the next time.
 * Stopping waits for the step at work.
 */
function startSweeping(sweeps: readonly Sweep[], intervalMs: number, log: Logger): Sweeping {
  const controller = new AbortController();
  const { signal } = controller;
  const done = sweepRegularly(sweeps, intervalMs, signal, log);
  return {
    stop: async () => {
      controller.abort();
      await done;
    },
  };
}

async function sweepRegularly(
  sweeps: readonly Sweep[],
  intervalMs: number,
  signal: AbortSignal,
  log: Logger,
): Promise<void> {
  while (!signal.aborted) {
    for (const sweep of sweeps) {
      await sweep(signal).catch((error: unknown) => {
        if (!signal.aborted) log.error({ err: error }, "a sweep of what has expired failed");
      });
    }
    await sleep(intervalMs, null, { signal, ref: false }).catch(() => null); // Rejects when it shall stop.
  }
}
