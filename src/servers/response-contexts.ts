import type { Logger } from "@antiphon/base/logger.ts";
import type { HostedTools } from "@antiphon/domain/hosted-tools.ts";
import type { PriceTable } from "@antiphon/domain/inspection.ts";
import type { MediaReader } from "@antiphon/domain/media.ts";
import type { PassageFinder } from "@antiphon/domain/vector-stores.ts";
import { zippedSkills } from "@antiphon/media/skills/zipped-skills.ts";
import type { AudioParts } from "@antiphon/speech/audio-api/ports.ts";
import type { Config } from "../config/load-config.ts";
import type { McpServing } from "../mcp-server/mcp-serving.ts";
import type { CachedKeys } from "../responses-api/access/cached-keys.ts";
import type { KeyAccounts } from "../responses-api/access/key-accounts.ts";
import { type AskContext, askModel } from "../responses-api/create/ask-model.ts";
import type { CreateContext } from "../responses-api/create/begin-response.ts";
import { ApprovalsInUse } from "../responses-api/create/response-lock.ts";
import { RefusalLog } from "../responses-api/exchanges/refusal-log.ts";
import type { WebhookContext } from "../responses-api/operations/webhooks/create-webhook-endpoint.ts";
import type { ClaimContext } from "../responses-api/recovery/run-claimer.ts";
import { createSealer } from "../responses-api/seal.ts";
import type { WatchContext } from "../responses-api/show/watch-response.ts";
import { ModelGate } from "../responses-api/tool-loop/attempts/model-gate.ts";
import { readSealKeys } from "../secrets/seal-keys.ts";
import { newKey } from "../secrets/secrets-on-disk.ts";
import { programVersion } from "../version/program-version.ts";
import { chooseExchangeLog } from "./choices/choose-inspection.ts";
import type { ChosenModel } from "./choices/choose-model.ts";
import type { Telemetry } from "./choices/choose-telemetry.ts";
import { chooseVoice } from "./choices/choose-voice.ts";
import type { MonitoringContext } from "./handlers/monitoring-handlers.ts";
import type { HandlerContexts, OrganizationContext } from "./handlers/responses-api-handlers.ts";
import type { ConfiguredStore } from "./open-configured-store.ts";

/** What making responses is built from. */
export interface CreateParts {
  readonly store: ConfiguredStore;
  readonly model: ChosenModel;
  readonly tools: HostedTools;
  readonly media: MediaReader;
  readonly accounts: KeyAccounts;
  readonly watching: WatchContext;
  readonly telemetry: Pick<Telemetry, "runs" | "tools">;
}

/** Builds what responses are made with. */
export function createContext(
  config: Config,
  { store, model, tools: catalogue, media, accounts, watching, telemetry }: CreateParts,
  log: Logger,
): CreateContext {
  const sealKeys = config.sealKeys.map((key) => key.reveal());
  const sealer = createSealer(() => readSealKeys(sealKeys, config.dataDir));
  const tools = { catalogue, ledger: store.tools, observer: telemetry.tools };
  const spokenOutput = chooseVoice(config, log);
  const asking: AskContext = {
    engine: model.engine,
    retries: { budget: { failuresMax: config.modelRetries, withinMs: config.modelRetryMs }, gate: new ModelGate() },
    tools,
    store: store.responses,
    spokenOutput,
    sealer,
    exchangeLog: chooseExchangeLog(config, store, log),
  };
  return {
    preparing: {
      model,
      history: { store: store.responses, conversations: store.conversations },
      tools,
      approvalsInUse: new ApprovalsInUse(),
      sealer,
      media,
      spokenOutput,
      steers: store.steers,
    },
    ordering: {
      ask: (task, run) => askModel(asking, task, run),
      eventLog: store.events,
      observer: telemetry.runs,
      sealer,
      nodeName: config.nodeName,
      meter: accounts.meter,
      requests: watching.runs.requests,
    },
    watching,
    quota: store.quota,
    limiter: accounts.limiter,
    budgets: accounts.budgets,
    refusalLog: new RefusalLog(store.refusals, (fault) => log.warn({ err: fault }, "a refusal could not be kept")),
    streamStartWaitMs: config.streamStartWaitMs,
  };
}

/** What runs are claimed and resumed with. */
export function claimContext(
  { preparing, ordering, watching }: CreateContext,
  { ledger }: Pick<ConfiguredStore, "ledger">,
): ClaimContext {
  const { runs, neighbours } = watching;
  const { approvalsInUse, tools } = preparing;
  return { ordering, ledger, toolLedger: tools.ledger, runs, approvalsInUse, neighbours };
}

/** What operators see and change. `cache`: forgets keys that have changed. */
export function organizationContext(
  { usage, keys }: Pick<ConfiguredStore, "usage" | "keys">,
  { budgets }: KeyAccounts,
  cache: CachedKeys,
): OrganizationContext {
  return { usage, keys: { keys, newKey, budgets, onChange: () => cache.forget() } };
}

/** What operations stand on beside the making of responses. */
interface ServingParts {
  readonly store: ConfiguredStore;
  readonly passages: PassageFinder;
  readonly webhooks: WebhookContext;
  readonly prices: PriceTable;
  readonly organization: OrganizationContext;
  readonly audio: AudioParts;
}

/** What all operations work with. */
export function handlerContexts(
  config: Config,
  creating: CreateContext,
  monitoring: MonitoringContext,
  { store, passages, webhooks, prices, organization, audio }: ServingParts,
): HandlerContexts {
  const { quota, archive } = store;
  return {
    creating,
    createKeys: store.createKeys,
    ledger: store.ledger,
    steers: store.steers,
    files: store.files,
    vectorStores: { vectorStores: store.vectorStores, quota, passages },
    containers: {
      containers: store.containers,
      skills: { skills: store.skills, format: zippedSkills },
      quota,
      memoryMax: config.codeMemoryMax,
    },
    skills: { skills: store.skills, format: zippedSkills },
    batches: { batches: store.batches.batches, files: store.files },
    webhooks,
    statistics: { archive, refusals: store.refusals, prices },
    exchanges: { archive, exchanges: store.exchanges, keepsExchanges: config.keepExchanges !== "none" },
    effects: { archive, effects: store.effects },
    monitoring,
    faces: { archive, storesAll: config.facesStore === "all" },
    mcp: config.serveMcp ? mcpServing(creating, store) : null,
    organization,
    audio,
  };
}

function mcpServing(
  { preparing: { tools }, limiter, quota, watching }: CreateContext,
  { archive, vectorStores }: ConfiguredStore,
): McpServing {
  const { catalogue, observer } = tools;
  const version = programVersion();
  return { tools: catalogue, observer, limiter, quota, responses: watching.store, archive, vectorStores, version };
}
