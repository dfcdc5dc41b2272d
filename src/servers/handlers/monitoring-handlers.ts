import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import { getHealth } from "../../responses-api/operations/get-health.ts";
import { getMetrics, type ShownMetrics } from "../../responses-api/operations/get-metrics.ts";
import { getReadiness, type Readiness } from "../../responses-api/operations/get-readiness.ts";

export interface MonitoringContext {
  readonly readiness: Readiness;
  readonly metrics: ShownMetrics;
}

/** The operations that monitors call. */
export function monitoringHandlers({
  readiness,
  metrics,
}: MonitoringContext): Pick<ResponsesApiHandlers<Caller>, "getHealth" | "getMetrics" | "getReadiness"> {
  return { getHealth: getHealth(), getMetrics: getMetrics(metrics), getReadiness: getReadiness(readiness) };
}
