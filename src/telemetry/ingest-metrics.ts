import type { Meters } from "./meters.ts";
import { METRICS } from "./metric-table.ts";

const OUTCOMES = ["completed", "unsupported_file", "invalid_file", "server_error", "lost", "returned"] as const;

/** Told of files that are taken into vector stores. */
export interface IngestObserver {
  ended(outcome: (typeof OUTCOMES)[number]): void;
  /** How many files wait or are being taken in. */
  waiting(files: number): void;
}

/** Counts files that are taken in. */
export function measureIngest(meters: Meters): IngestObserver {
  const files = meters.counter(
    METRICS.ingestFiles,
    OUTCOMES.map((outcome) => ({ outcome })),
  );
  let queue = 0;
  meters.watch(METRICS.ingestQueue, () => queue);
  return {
    ended: (outcome) => files.add(1, { outcome }),
    waiting: (count) => {
      queue = count;
    },
  };
}
