import type { Meters } from "./meters.ts";
import { METRICS } from "./metric-table.ts";

const REASONS = [
  "timed_out",
  "out_of_memory",
  "too_many_processes",
  "too_much_output",
  "crashed",
  "cancelled",
  "displaced",
  "outdated",
  "gone",
  "closed",
] as const;

/** Observes sessions that run code. */
export interface CodeObserver {
  /** The number of sessions in this engine. */
  countSessions(sessions: number, engine: string): void;
  noteEnd(reason: (typeof REASONS)[number]): void;
}

/** Counts sessions that run code. */
export function measureCode(meters: Meters): CodeObserver {
  const kills = meters.counter(
    METRICS.codeKills,
    REASONS.map((reason) => ({ reason })),
  );
  const sessions = new Map<string, number>();
  meters.watch(METRICS.codeSessions, () => [...sessions].map(([engine, value]) => ({ value, labels: { engine } })));
  return {
    countSessions: (count, engine) => void sessions.set(engine, count),
    noteEnd: (reason) => kills.add(1, { reason }),
  };
}
