import type { Meters } from "./meters.ts";
import { METRICS } from "./metric-table.ts";

/** One commit of the store. */
export interface Commit {
  readonly jobs: number;
  readonly durationMs: number;
  readonly hasFailed: boolean;
}

/** The connections of one kind to the database, and the number of waiting statements. */
interface Lane {
  readonly lane: string;
  readonly busy: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Measures the connections in `lanes`, which is empty for SQLite. */
export function measureLanes(meters: Meters, lanes: () => readonly Lane[]): void {
  meters.watch(METRICS.databaseConnections, () =>
    lanes().flatMap(({ lane, busy, idle }) => [
      { value: busy, labels: { lane, state: "busy" } },
      { value: idle, labels: { lane, state: "idle" } },
    ]),
  );
  meters.watch(METRICS.databaseWaiting, () => lanes().map(({ lane, waiting: value }) => ({ value, labels: { lane } })));
}

const ORIGINS = ["queue", "dead", "own"] as const;

/** Counts runs that no server makes, and how they are handled. */
export function measureClaims(meters: Meters) {
  const claims = meters.counter(
    METRICS.runsClaimed,
    ORIGINS.map((from) => ({ from })),
  );
  let unmade = 0;
  let losses = 0;
  meters.watch(METRICS.runsUnmade, () => unmade);
  meters.watch(METRICS.leasesLost, () => losses);
  return {
    countUnmade: (runs: number) => void (unmade = runs),
    countClaims: (from: (typeof ORIGINS)[number], runs: number) => claims.add(runs, { from }),
    lostLease: () => void (losses += 1),
  };
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
  return ({ jobs, durationMs, hasFailed }) => {
    commits[hasFailed ? "failed" : "stored"] += 1;
    duration.record(durationMs / 1000);
    if (!hasFailed) jobsStored += jobs;
  };
}
