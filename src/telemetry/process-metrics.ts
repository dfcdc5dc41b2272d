import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import type { Meters } from "./meters.ts";
import { METRICS } from "./metric-table.ts";

const NANOSECONDS_PER_SECOND = 1e9;
const MICROSECONDS_PER_SECOND = 1e6;
const SAMPLE_INTERVAL_MS = 20;
const QUANTILES = [0.5, 0.99, 1] as const;

/** Measures this process of the server `node`. Returns a function that stops measuring. */
export function measureProcess(meters: Meters, node: string): () => void {
  meters.watch(METRICS.node, () => [{ value: 1, labels: { node } }]);
  const delays = monitorEventLoopDelay({ resolution: SAMPLE_INTERVAL_MS });
  delays.enable();
  meters.watch(METRICS.eventLoopDelay, () => {
    const readings = QUANTILES.map((quantile) => {
      const late =
        delays.count === 0 ? 0 : delays.percentile(quantile * 100) - SAMPLE_INTERVAL_MS * MICROSECONDS_PER_SECOND;
      return { value: Math.max(0, late) / NANOSECONDS_PER_SECOND, labels: { quantile: String(quantile) } };
    });
    delays.reset();
    return readings;
  });
  meters.watch(METRICS.eventLoopUse, () => performance.eventLoopUtilization().utilization);
  meters.watch(METRICS.processCpu, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / MICROSECONDS_PER_SECOND;
  });
  meters.watch(METRICS.processMemory, () => process.memoryUsage.rss());
  meters.watch(METRICS.heapUsed, () => process.memoryUsage().heapUsed);
  meters.watch(METRICS.processStart, () => performance.timeOrigin / 1000);
  return () => delays.disable();
}
