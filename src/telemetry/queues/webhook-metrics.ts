import type { Meters } from "../meters.ts";
import { METRICS } from "../metric-table.ts";

const OUTCOMES = ["accepted", "failed", "lost"] as const;

/** Counts attempts to deliver events to webhooks. */
export function measureWebhooks(meters: Meters) {
  const attempts = meters.counter(
    METRICS.webhookAttempts,
    OUTCOMES.map((outcome) => ({ outcome })),
  );
  let load = { waiting: 0, oldestDueMs: 0 };
  meters.watch(METRICS.webhooksWaiting, () => load.waiting);
  meters.watch(METRICS.webhookDelay, () => load.oldestDueMs / 1000);
  return {
    noteAttempt: (outcome: (typeof OUTCOMES)[number]) => attempts.add(1, { outcome }),
    noteLoad: (latest: { readonly waiting: number; readonly oldestDueMs: number }) => void (load = latest),
  };
}
