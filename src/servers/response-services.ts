import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/load-config.ts";
import type { CodeFinder } from "../domain/containers.ts";
import type { HostedTools } from "../domain/hosted-tools.ts";
import type { RateLimiter } from "../domain/rates.ts";
import type { PassageFinder } from "../domain/vector-stores.ts";
import type { JoinedProcess } from "../processes/joined-process.ts";
import { ApprovalsInUse } from "../responses-api/create/approval-hold.ts";
import { RefusalKeeper } from "../responses-api/exchanges/refusal-keeper.ts";
import { createSealer } from "../responses-api/seal.ts";
import type { ResponseServices, ShownMetrics } from "../responses-api/services.ts";
import { ModelGate } from "../responses-api/tool-loop/attempts/model-gate.ts";
import type { RunHost } from "../runs/index.ts";
import type { Neighbours } from "../runs/reading/neighbours.ts";
import { readSealKeys } from "../secrets/seal-keys.ts";
import type { FileTranscriber } from "../speech/speech-engine.ts";
import type { Guards } from "./choices/choose-egress.ts";
import { chooseExchangeKeeper, choosePrices } from "./choices/choose-inspection.ts";
import { chooseMedia } from "./choices/choose-media.ts";
import type { ChosenModel } from "./choices/choose-model.ts";
import { chooseReadiness } from "./choices/choose-readiness.ts";
import type { Telemetry } from "./choices/choose-telemetry.ts";
import { chooseVoice } from "./choices/choose-voice.ts";
import type { ConfiguredStore } from "./open-configured-store.ts";

/** Parts that are created before the services and closed after them. */
export interface ServiceFoundations {
  readonly store: ConfiguredStore;
  readonly limiter: RateLimiter;
  readonly runs: RunHost;
  readonly neighbours: (Neighbours & { readonly isConnected: boolean }) | null;
  readonly model: ChosenModel;
  readonly telemetry: Telemetry;
  /** Transcribes recordings if no transcription server is configured; null if there is no transcriber. */
  readonly speech: FileTranscriber | null;
  /** The guards of outgoing calls. */
  readonly guards: Guards;
  readonly tools: HostedTools;
  readonly passages: PassageFinder;
  readonly code: CodeFinder;
  /** Whether the server is shutting down. */
  readonly isLeaving: () => boolean;
  /** Null if this process serves alone. */
  readonly joined: JoinedProcess | null;
}

/** Builds the services of Interface A from the configuration. */
export function buildResponseServices(config: Config, foundations: ServiceFoundations, log: Logger): ResponseServices {
  const { store, limiter, model, telemetry, speech, guards, tools, passages, joined } = foundations;
  const { abilities } = model.engine;
  const sealKeys = config.sealKeys.map((key) => key.reveal());
  return {
    store: store.responses,
    archive: store.archive,
    exchanges: store.exchanges,
    exchangeKeeper: chooseExchangeKeeper(config, store, log),
    refusals: store.refusals,
    refusalKeeper: new RefusalKeeper(store.refusals, (fault) =>
      log.warn({ err: fault }, "a refused request could not be stored"),
    ),
    prices: choosePrices(config),
    conversations: store.conversations,
    approvalsInUse: new ApprovalsInUse(),
    files: store.files,
    vectorStores: store.vectorStores,
    passages,
    containers: store.containers,
    containerMemoryMax: config.codeMemoryMax,
    quota: store.quota,
    eventLog: store.events,
    ledger: store.ledger,
    engine: model.engine,
    get engineKind() {
      return model.kind;
    },
    retries: { budget: { failuresMax: config.modelRetries, withinMs: config.modelRetryMs }, gate: new ModelGate() },
    runs: foundations.runs,
    observer: telemetry.runs,
    sealer: createSealer(() => readSealKeys(sealKeys, config.dataDir)),
    limiter,
    spokenOutput: chooseVoice(config, log),
    tools,
    toolLedger: store.tools,
    toolObserver: telemetry.tools,
    media: chooseMedia(config, { abilities, files: store.files, egress: guards.egress, speech }),
    streamStartWaitMs: config.streamStartWaitMs,
    readiness: chooseReadiness(config, foundations),
    metrics: shownMetrics(config, metricsOfAll(telemetry, joined)),
    nodeName: config.nodeName,
    neighbours: foundations.neighbours,
  };
}

/** The metrics of all processes, or of this one if the primary does not respond. */
function metricsOfAll(telemetry: Telemetry, joined: JoinedProcess | null): ShownMetrics["text"] {
  return async () => {
    const own = await telemetry.metricsText();
    return (await joined?.scrape(own)) ?? own;
  };
}

/** The metrics, and the configured access to them. */
export function shownMetrics({ metrics, metricsKey }: Config, text: ShownMetrics["text"]): ShownMetrics {
  return { text, shownTo: metrics, key: metricsKey?.reveal() ?? null };
}
