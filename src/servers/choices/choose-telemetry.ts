import type { Logger } from "@antiphon/base/logger.ts";
import type { ToolObserver } from "@antiphon/domain/tool-watch.ts";
import type { RequestObserver } from "@antiphon/http-kit/request-observer.ts";
import type { BatchObserver } from "../../batches/ports.ts";
import type { BusObserver } from "../../bus/ports.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Config } from "../../config/load-config.ts";
import type { RunHost } from "../../runs/index.ts";
import type { RunObserver } from "../../runs/ports/run-watch.ts";
import type { Store } from "../../store/open-store.ts";
import type { ClaimObserver } from "../../store/stores/runs/run-ledger.ts";
import { measureBus, type WatchedBus, watchBus } from "../../telemetry/bus-metrics.ts";
import { type CodeObserver, measureCode } from "../../telemetry/code-metrics.ts";
import { Meters } from "../../telemetry/meters.ts";
import { METRICS } from "../../telemetry/metric-table.ts";
import { modelServerOf } from "../../telemetry/model-server.ts";
import { type ModelServerObserver, measureModelServers } from "../../telemetry/model-server-metrics.ts";
import { measureProcess } from "../../telemetry/process/process-metrics.ts";
import { measureBatches } from "../../telemetry/queues/batch-metrics.ts";
import { type IngestObserver, measureIngest } from "../../telemetry/queues/ingest-metrics.ts";
import { measureWebhooks } from "../../telemetry/queues/webhook-metrics.ts";
import { RequestFacts } from "../../telemetry/requests/request-facts.ts";
import { observeRequests } from "../../telemetry/requests/request-watch.ts";
import { RunMetrics } from "../../telemetry/run-metrics.ts";
import { observeRuns } from "../../telemetry/run-watch.ts";
import { type Commit, measureClaims, measureCommits, measureLanes } from "../../telemetry/store-metrics.ts";
import { observeTools } from "../../telemetry/tool-watch.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import { programVersion } from "../../version/program-version.ts";
import type { WebhookObserver } from "../../webhooks/webhook-sender.ts";
import { type ChosenModel, withEngine } from "./choose-model.ts";

/** The telemetry of one server. */
export interface Telemetry {
  readonly runs: RunObserver;
  readonly requests: RequestObserver;
  readonly tools: ToolObserver;
  readonly ingest: IngestObserver;
  readonly webhooks: WebhookObserver;
  readonly batches: BatchObserver;
  readonly code: CodeObserver;
  readonly bus: BusObserver;
  readonly onCommit: (commit: Commit) => void;
  readonly claims: ClaimObserver;
  readonly modelServers: ModelServerObserver;
  /** Adds tracing to the model if tracing is on. */
  watchModel(model: ChosenModel): ChosenModel;
  watchHost(host: RunHost): void;
  /** Measures resources shared with other servers. `bus`: null if there is none. */
  watchOthers(store: Pick<Store, "lanes">, bus: WatchedBus | null): void;
  metricsText(): Promise<string>;
  /** Sends the remaining traces. */
  close(): Promise<void>;
}

/** Sets up metrics and, if a collector is configured, tracing. Tracing libraries are loaded only then. */
export async function chooseTelemetry(config: Config, log: Logger): Promise<Telemetry> {
  const meters = new Meters();
  const tracing = await chooseTracing(config, log);
  const facts = new RequestFacts();
  const stopMeasuring = measureProcess(meters, config.nodeName);
  return {
    runs: observeRuns({ metrics: new RunMetrics(meters), tracing, log, facts }),
    requests: observeRequests(meters, tracing, facts),
    tools: observeTools(meters, tracing, log),
    ingest: measureIngest(meters),
    webhooks: measureWebhooks(meters),
    batches: measureBatches(meters),
    code: measureCode(meters),
    bus: measureBus(meters),
    onCommit: measureCommits(meters),
    claims: measureClaims(meters),
    modelServers: measureModelServers(meters, (fields) =>
      log.warn(fields, "a model server failed before its answer; another one is asked"),
    ),
    watchModel: (model) => {
      if (tracing === null) return model;
      return withEngine(model, tracing.watchEngine(model.engine, modelServerOf(model.baseUrl)));
    },
    watchHost: (host) => {
      meters.watch(METRICS.runsQueued, () => host.load.queueLength);
      meters.watch(METRICS.runsRunning, () => [
        { value: host.load.foreground, labels: { mode: "foreground" } },
        { value: host.load.background, labels: { mode: "background" } },
      ]);
    },
    watchOthers: (store, bus) => {
      measureLanes(meters, () => store.lanes());
      if (bus !== null) watchBus(meters, bus);
    },
    metricsText: () => meters.text(),
    close: async () => {
      stopMeasuring();
      await tracing?.close();
    },
  };
}

async function chooseTracing(config: Config, log: Logger): Promise<Tracing | null> {
  const url = tracesUrl(config);
  if (url === null) return null;
  const ratio = Number(config.tracesSamplerArg);
  if (!(ratio >= 0 && ratio <= 1)) throw new ConfigError(["OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1."]);
  const { openTracing } = await import("../../telemetry/open-tracing.ts");
  return openTracing({
    url,
    headers: config.otlpHeaders?.reveal() ?? "",
    serviceName: config.otelServiceName,
    serviceVersion: programVersion(),
    node: config.nodeName,
    resourceAttributes: config.otelResourceAttributes ?? "",
    sampler: config.tracesSampler,
    ratio,
    log,
  });
}

function tracesUrl({ otlpEndpoint, otlpTracesEndpoint }: Config): string | null {
  if (otlpTracesEndpoint !== null) return otlpTracesEndpoint;
  return otlpEndpoint === null ? null : `${otlpEndpoint.replace(/\/+$/, "")}/v1/traces`;
}
