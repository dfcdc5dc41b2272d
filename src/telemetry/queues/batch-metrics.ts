import type { Meters } from "../meters.ts";
import { METRICS } from "../metric-table.ts";

const OUTCOMES = ["done", "failed", "lost", "put_off"] as const;
const ENDINGS = ["cancelled", "completed", "expired"] as const;

/** Counts lines of batches, and batches that end. */
export function measureBatches(meters: Meters) {
  const lines = meters.counter(
    METRICS.batchLines,
    OUTCOMES.map((outcome) => ({ outcome })),
  );
  const ends = meters.counter(
    METRICS.batchEnds,
    ENDINGS.map((status) => ({ status })),
  );
  let running = 0;
  meters.watch(METRICS.batchLinesRunning, () => running);
  return {
    noteLine: (outcome: (typeof OUTCOMES)[number]) => lines.add(1, { outcome }),
    noteEnd: (status: (typeof ENDINGS)[number]) => ends.add(1, { status }),
    noteLoad: (latest: number) => void (running = latest),
  };
}
