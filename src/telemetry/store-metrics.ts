import type { Meters } from "./meters.ts";
import { METRICS } from "./metric-table.ts";

/** One commit of the store. */
export interface Commit {
  readonly jobs: number;
  readonly durationMs: number;
  readonly failed: boolean;
}

/** Measures commits. */
export function measureCommits(meters: Meters): (commit: Commit) => void {
  const duration = meters.histogram(METRICS.commitDuration);
  const commits = { stored: 0, failed: 0 };
  let jobsStored = 0;
  meters.watch(METRICS.commits, () =>
    Object.entries(commits).map(([outcome, value]) => ({ value, labels: { outcome } })),
  );
  meters.watch(METRICS.commitJobs, () => jobsStored);
  return ({ jobs, durationMs, failed }) => {
    commits[failed ? "failed" : "stored"] += 1;
    duration.record(durationMs / 1000);
    if (!failed) jobsStored += jobs;
  };
}
