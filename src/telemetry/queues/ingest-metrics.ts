import type { Meters } from "../meters.ts";
import { METRICS } from "../metric-table.ts";

const OUTCOMES = ["completed", "unsupported_file", "invalid_file", "server_error", "lost", "returned"] as const;

/** Observes the ingestion of files into vector stores. */
export interface IngestObserver {
  noteEnd(outcome: (typeof OUTCOMES)[number]): void;
  /** The number of files waiting or being ingested. */
  waiting(files: number): void;
}

/** Counts ingested files. */
export function measureIngest(meters: Meters): IngestObserver {
  const files = meters.counter(
    METRICS.ingestFiles,
    OUTCOMES.map((outcome) => ({ outcome })),
  );
  let queue = 0;
  meters.watch(METRICS.ingestQueue, () => queue);
  return {
    noteEnd: (outcome) => files.add(1, { outcome }),
    waiting: (count) => {
      queue = count;
    },
  };
}
