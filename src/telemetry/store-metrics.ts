import type { Meters } from "./meters.ts";
import { METRICS } from "./metric-table.ts";

/** What one commit of the store did. */
export interface Commit {
  readonly jobs: number;
  readonly durationMs: number;
  readonly failed: boolean;
}

/** Measures the commits it is told of. */
export function measureCommits(meters: Meters): (commit: Commit) => void {
  const commits = meters.counter(METRICS.commits, [{ outcome: "stored" }, { outcome: "failed" }]);
  const duration = meters.histogram(METRICS.commitDuration);
  let stored = 0;
  meters.watch(METRICS.commitJobs, () => stored);
  return ({ jobs, durationMs, failed }) => {
    commits.add(1, { outcome: failed ? "failed" : "stored" });
    duration.record(durationMs / 1000);
    if (!failed) stored += jobs;
  };
}
