import type { Meters } from "./meters.ts";
import { METRICS } from "./metric-table.ts";

const OUTCOMES = ["answered", "refused", "limited", "failed"] as const;
const STATES = { closed: 0, half_open: 1, open: 2 } as const;

/** A model server as it is measured. */
export interface MeasuredServer {
  readonly name: string;
  readonly health: { readonly underWay: number; readonly queueLength: number; readonly state: keyof typeof STATES };
}

/** Observes several model servers. */
export interface ModelServerObserver {
  attempted(server: string, status: number | null): void;
  fellBack(model: string, from: string, to: string, message: string): void;
  /** Measures these servers. Read anew for each measurement. */
  watch(servers: () => readonly MeasuredServer[]): void;
}

/** Counts attempts and fallbacks by server; `onFallback` logs one. */
export function measureModelServers(
  meters: Meters,
  onFallback: (fields: Readonly<Record<string, string>>) => void,
): ModelServerObserver {
  const attempts = meters.counter(METRICS.modelAttempts);
  const fallbacks = meters.counter(METRICS.modelFallbacks);
  return {
    attempted: (server, status) => attempts.add(1, { server, outcome: outcomeOf(status) }),
    fellBack: (model, from, to, reason) => {
      fallbacks.add(1, { server: from });
      onFallback({ model, from, to, reason });
    },
    watch: (servers) => {
      const each = (read: (server: MeasuredServer) => number) => () =>
        servers().map((server) => ({ value: read(server), labels: { server: server.name } }));
      meters.watch(
        METRICS.modelServerState,
        each(({ health }) => STATES[health.state]),
      );
      meters.watch(
        METRICS.modelServerLoad,
        each(({ health }) => health.underWay),
      );
      meters.watch(
        METRICS.modelServerQueue,
        each(({ health }) => health.queueLength),
      );
    },
  };
}

function outcomeOf(status: number | null): (typeof OUTCOMES)[number] {
  if (status === null) return "answered";
  if (status === 429) return "limited";
  return status >= 500 || status === 408 || status === 409 ? "failed" : "refused";
}
