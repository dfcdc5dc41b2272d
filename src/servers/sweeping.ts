import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@antiphon/base/logger.ts";
import { KEY_LIFE_SECONDS } from "@antiphon/domain/create-keys.ts";
import type { Config } from "../config/load-config.ts";
import type { Store } from "../store/open-store.ts";
import type { Erasure, ErasureCursor, ErasureStep } from "../store/owner/upkeep/erasure.ts";
import type { Expiry, ExpiryCursor } from "../store/owner/upkeep/expiry.ts";

/** A running sweep of expired data. */
export interface Sweeping {
  /** Resolves once the sweep has stopped. */
  stop(): Promise<void>;
}

/** Removes expired data. Stops between two steps when the signal aborts. */
type Sweep = (signal: AbortSignal) => Promise<void>;

const SWEEP_INTERVAL_MAX_MS = 60_000;
const SWEEP_INTERVAL_MIN_MS = 1_000;
/** How long usage is counted by the minute: 35 days, in seconds. */
const USAGE_MINUTES_SECONDS = 35 * 86_400;
/** How long a response may be paused, in seconds: 30 days. It is then cancelled. */
const PAUSE_SECONDS_MAX = 30 * 86_400;
/** Pause between two steps of a sweep, in milliseconds, so that requests are served in between. */
const STEP_PAUSE_MS = 10;

/**
 * Starts the sweeps: expired responses, files and containers are removed, and deleted data is erased once nothing
 * refers to it.
 */
export function sweepExpired(
  {
    expiry,
    erasure,
    files,
    containers,
    exchanges,
    usage,
    createKeys,
    ledger,
  }: Pick<Store, "expiry" | "erasure" | "files" | "containers" | "exchanges" | "usage" | "createKeys" | "ledger">,
  { responsesTtlMs, exchangesTtlMs }: Pick<Config, "responsesTtlMs" | "exchangesTtlMs">,
  log: Logger,
): Sweeping {
  const sweepFiles: Sweep = async () => void (await files.deleteExpired(Math.floor(Date.now() / 1000)));
  const sweepExchanges = exchangeSweep(exchanges, exchangesTtlMs);
  const always = [
    erasureSweep(erasure, log),
    sweepFiles,
    containerSweep(containers),
    sweepExchanges,
    usageSweep(usage),
    createKeySweep(createKeys),
    pauseSweep(ledger, log),
  ];
  if (responsesTtlMs === 0) return startSweeping(always, SWEEP_INTERVAL_MAX_MS, log);
  // Data outlives its expiry by at most a tenth of its lifetime, and by at most a minute.
  const intervalMs = Math.max(SWEEP_INTERVAL_MIN_MS, Math.min(SWEEP_INTERVAL_MAX_MS, responsesTtlMs / 10));
  return startSweeping([responseSweep(expiry, responsesTtlMs, log), ...always], intervalMs, log);
}

function responseSweep(expiry: Expiry, ttlMs: number, log: Logger): Sweep {
  return async (signal) => {
    const before = Math.floor((Date.now() - ttlMs) / 1000);
    let count = 0;
    let cursor: ExpiryCursor | null = null;
    do {
      const step = await expiry.deleteExpired(before, cursor);
      count += step.deleted;
      cursor = step.next;
      if (cursor !== null) await sleep(STEP_PAUSE_MS, null, { signal });
    } while (cursor !== null);
    if (count > 0) log.info({ removed: count }, "old responses were removed");
  };
}

function containerSweep(containers: Pick<Store["containers"], "expireUnused">): Sweep {
  return async (signal) => {
    while (await containers.expireUnused(Math.floor(Date.now() / 1000))) await sleep(STEP_PAUSE_MS, null, { signal });
  };
}

function exchangeSweep(exchanges: Store["exchanges"], ttlMs: number): Sweep {
  return async (signal) => {
    const before = Math.floor((Date.now() - ttlMs) / 1000);
    while ((await exchanges.deleteExpired(before)) > 0) await sleep(STEP_PAUSE_MS, null, { signal });
  };
}

/** Counts of days stay. */
function usageSweep(usage: Store["usage"]): Sweep {
  return async (signal) => {
    const before = Math.floor(Date.now() / 1000) - USAGE_MINUTES_SECONDS;
    while ((await usage.deleteMinutes(before)) > 0) await sleep(STEP_PAUSE_MS, null, { signal });
  };
}

function createKeySweep(createKeys: Store["createKeys"]): Sweep {
  return async (signal) => {
    const before = Math.floor(Date.now() / 1000) - KEY_LIFE_SECONDS;
    while ((await createKeys.deleteOld(before)) > 0) await sleep(STEP_PAUSE_MS, null, { signal });
  };
}

/** Cancels runs that were paused too long. Whoever claims them ends them. */
function pauseSweep(ledger: Pick<Store["ledger"], "stopPaused">, log: Logger): Sweep {
  return async () => {
    const stoppedIds = await ledger.stopPaused(Math.floor(Date.now() / 1000) - PAUSE_SECONDS_MAX);
    if (stoppedIds.length > 0)
      log.info({ responseIds: stoppedIds }, "responses that were paused too long are cancelled");
  };
}

/** Erases deleted data once nothing stored refers to it. */
function erasureSweep(erasure: Erasure, log: Logger): Sweep {
  return async (signal) => {
    let count = 0;
    let cursor: ErasureCursor | null = "";
    do {
      const step: ErasureStep = await erasure.eraseUnused(cursor);
      count += step.erased;
      cursor = step.next;
      if (cursor !== null) await sleep(STEP_PAUSE_MS, null, { signal });
    } while (cursor !== null);
    if (count > 0) log.info({ erased: count }, "deleted data was erased");
  };
}

/**
 * Runs all sweeps now and at every interval, one after the other. Failures are logged and retried at the next interval.
 * Stopping waits for the current step.
 */
function startSweeping(sweeps: readonly Sweep[], intervalMs: number, log: Logger): Sweeping {
  const controller = new AbortController();
  const { signal } = controller;
  const sweeping = sweepRegularly(sweeps, intervalMs, signal, log);
  return {
    stop: async () => {
      controller.abort();
      await sweeping;
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
        if (!signal.aborted) log.error({ err: error }, "sweeping expired data failed");
      });
    }
    await sleep(intervalMs, null, { signal, ref: false }).catch(() => null); // Rejects when the signal aborts.
  }
}
