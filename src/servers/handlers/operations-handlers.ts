import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Config } from "../../config/load-config.ts";
import type { ApiContext } from "../../responses-api/access/context.ts";
import { ModelHealth } from "../../responses-api/keeping/model-health.ts";
import { getHealth } from "../../responses-api/operations/get-health.ts";
import { getMetrics } from "../../responses-api/operations/get-metrics.ts";
import { getReadiness } from "../../responses-api/operations/get-readiness.ts";
import type { Store } from "../../store/open-store.ts";
import type { ChosenModel } from "../choices/choose-model.ts";
import type { Telemetry } from "../choices/choose-telemetry.ts";

/** What only operators ask about. */
export interface Operating {
  readonly config: Pick<Config, "metrics" | "metricsKey">;
  /** Whether the server was told to stop. */
  readonly isLeaving: () => boolean;
}

type OperationsHandlers = Pick<ResponsesApiHandlers<ApiContext>, "getHealth" | "getMetrics" | "getReadiness">;

export interface OperationsParts {
  readonly store: Store;
  readonly model: ChosenModel;
  readonly telemetry: Telemetry;
  readonly operating: Operating;
}

export function operationsHandlers({ store, model, telemetry, operating }: OperationsParts): OperationsHandlers {
  const { config, isLeaving } = operating;
  return {
    getHealth: getHealth(),
    getReadiness: getReadiness({
      isStoreReady: () => store.isReady(),
      hasRoom: () => store.hasRoom(),
      isLeaving,
      model: new ModelHealth(model.engine),
    }),
    getMetrics: getMetrics({
      text: () => telemetry.metricsText(),
      shownTo: config.metrics,
      key: config.metricsKey?.reveal() ?? null,
    }),
  };
}
