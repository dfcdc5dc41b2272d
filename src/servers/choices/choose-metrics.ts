import type { Config } from "../../config/load-config.ts";
import type { JoinedProcess } from "../../processes/joined-process.ts";
import type { ShownMetrics } from "../../responses-api/operations/get-metrics.ts";
import type { Telemetry } from "./choose-telemetry.ts";

/** The metrics of all processes, or those of this one alone if the primary does not answer. */
export function metricsOfAll(
  telemetry: Pick<Telemetry, "metricsText">,
  joinedProcess: JoinedProcess | null,
): ShownMetrics["text"] {
  return async () => {
    const own = await telemetry.metricsText();
    return (await joinedProcess?.scrape(own)) ?? own;
  };
}

/** The metrics, and who may read them by the configuration. */
export function shownMetrics({ metrics, metricsKey }: Config, text: ShownMetrics["text"]): ShownMetrics {
  return { text, shownTo: metrics, key: metricsKey?.reveal() ?? null };
}
