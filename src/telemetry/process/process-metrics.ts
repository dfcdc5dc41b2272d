import { performance } from "node:perf_hooks";
import type { Meters } from "../meters.ts";
import { METRICS } from "../metric-table.ts";
import { LoopDelays } from "./loop-delays.ts";

const MICROSECONDS_PER_SECOND = 1e6;
const QUANTILES = [0.5, 0.99, 1] as const;

/** Measures this process of the server `node`. Returns a function that stops measuring. */
export function measureProcess(meters: Meters, node: string): () => void {
  meters.watch(METRICS.node, () => [{ value: 1, labels: { node } }]);
  const delays = new LoopDelays();
  meters.watch(METRICS.eventLoopDelay, () =>
    delays.take(QUANTILES).map((value, place) => ({ value, labels: { quantile: String(QUANTILES[place]) } })),
  );
  meters.watch(METRICS.eventLoopUse, () => performance.eventLoopUtilization().utilization);
  meters.watch(METRICS.processCpu, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / MICROSECONDS_PER_SECOND;
  });
  meters.watch(METRICS.processMemory, () => process.memoryUsage.rss());
  meters.watch(METRICS.heapUsed, () => process.memoryUsage().heapUsed);
  meters.watch(METRICS.processStart, () => performance.timeOrigin / 1000);
  return () => delays.stop();
}
