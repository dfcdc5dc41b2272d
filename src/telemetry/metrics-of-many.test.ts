import { expect, test } from "vitest";
import { Meters } from "./meters.ts";
import { METRICS } from "./metric-table.ts";
import { MetricsOfMany } from "./metrics-of-many.ts";

/** The metrics of a process that served requests. */
async function metricsOf({ requests, delay }: { requests: number; delay: number }): Promise<string> {
  const meters = new Meters();
  const served = meters.counter(METRICS.httpRequests);
  served.add(requests, { operation: "createResponse", status: "200" });
  const duration = meters.histogram(METRICS.commitDuration);
  for (let request = 0; request < requests; request++) duration.record(0.002);
  meters.watch(METRICS.streamsOpen, () => requests);
  meters.watch(METRICS.eventLoopDelay, () => [{ value: delay, labels: { quantile: "0.99" } }]);
  return await meters.text();
}

const SERVED = 'antiphon_http_requests_total{operation="createResponse",status="200"}';

test("counters, histograms and most gauges of processes are added up, and of delays the highest counts", async () => {
  const metrics = new MetricsOfMany();
  metrics.update(1, await metricsOf({ requests: 3, delay: 0.5 }));
  metrics.update(2, await metricsOf({ requests: 4, delay: 0.25 }));
  const lines = metrics.text().split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      "# TYPE antiphon_http_requests_total counter",
      `${SERVED} 7`,
      'antiphon_store_commit_duration_seconds_bucket{le="0.0025"} 7',
      'antiphon_store_commit_duration_seconds_bucket{le="+Inf"} 7',
      "antiphon_store_commit_duration_seconds_count 7",
      "antiphon_streams_open 7",
      'antiphon_event_loop_delay_seconds{quantile="0.99"} 0.5',
    ]),
  );
});

test("the metrics of one process stay as they are", async () => {
  const metrics = new MetricsOfMany();
  const text = await metricsOf({ requests: 3, delay: 0.5 });
  metrics.update(1, text);
  expect(metrics.text()).toBe(text);
});

test("a process that has ended leaves its counters behind, and no gauges", async () => {
  const metrics = new MetricsOfMany();
  for (const process of [1, 2, 3]) {
    metrics.update(process, await metricsOf({ requests: 1, delay: 0.5 }));
    metrics.update(process, await metricsOf({ requests: 2, delay: 0.5 }));
    metrics.end(process);
  }
  expect(metrics.text()).toContain(`${SERVED} 6\n`);
  expect(metrics.text()).toContain("antiphon_store_commit_duration_seconds_count 6\n");
  expect(metrics.text()).not.toContain("antiphon_streams_open");
});
