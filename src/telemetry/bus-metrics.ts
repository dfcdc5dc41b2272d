import type { BusObserver } from "../bus/ports.ts";
import type { Meters } from "./meters.ts";
import { METRICS } from "./metric-table.ts";

const MS_PER_S = 1000;

/** Measures messages between servers. */
export function measureBus(meters: Meters): BusObserver {
  const messages = { sent: 0, heard: 0 };
  const drops = meters.counter(
    METRICS.busDropped,
    (["full", "away", "unread"] as const).map((reason) => ({ reason })),
  );
  const caughtUp = meters.counter(
    METRICS.busCatchUps,
    (["missed", "silent"] as const).map((reason) => ({ reason })),
  );
  const answers = meters.histogram(METRICS.busAnswer);
  let reconnects = 0;
  meters.watch(METRICS.busMessages, () =>
    Object.entries(messages).map(([direction, value]) => ({ value, labels: { direction } })),
  );
  meters.watch(METRICS.busReconnects, () => reconnects);
  return {
    countSent: () => void (messages.sent += 1),
    countReceived: () => void (messages.heard += 1),
    countDrop: (reason) => drops.add(1, { reason }),
    countReconnect: () => void (reconnects += 1),
    noteAnswer: (ms) => answers.record(ms / MS_PER_S),
    caughtUp: (reason) => caughtUp.add(1, { reason }),
  };
}

/** The bus's values for metrics. */
export interface WatchedBus {
  readonly isConnected: boolean;
  readonly load: { readonly watchedRuns: number; readonly publishedRuns: number; readonly silentWorkers: number };
}

/** Measures whether a bus is connected, and how many runs it publishes and follows. */
export function watchBus(meters: Meters, bus: WatchedBus): void {
  meters.watch(METRICS.busConnected, () => (bus.isConnected ? 1 : 0));
  meters.watch(METRICS.busSilent, () => bus.load.silentWorkers);
  meters.watch(METRICS.runsWatched, () => [
    { value: bus.load.watchedRuns, labels: { where: "elsewhere" } },
    { value: bus.load.publishedRuns, labels: { where: "here" } },
  ]);
}
