import { join, resolve } from "node:path";
import type { Logger } from "@antiphon/base/logger.ts";
import { isLoopbackOrigin, originsAmong } from "@antiphon/base/web-origins.ts";
import type { HostedTool } from "@antiphon/domain/hosted-tool.ts";
import type { KeyFinder } from "@antiphon/domain/keys.ts";
import { type Application, createApplication } from "@antiphon/http-kit/http/application.ts";
import { listen, type RunningServer } from "@antiphon/http-kit/http/server.ts";
import type { FileTranscriber } from "@antiphon/speech/recognition/speech-engine.ts";
import type { RunBus } from "../bus/run-bus.ts";
import { ConfigError } from "../config/config-error.ts";
import type { Config } from "../config/load-config.ts";
import { type RealtimeDoor, realtimeUpgrade } from "../faces/audio/realtime-door.ts";
import type { JoinedProcess } from "../processes/joined-process.ts";
import {
  ANYONE,
  callerFields,
  createAuthenticator,
  ownerHeaders,
  type Principal,
} from "../responses-api/access/authenticate.ts";
import { createHostGuard } from "../responses-api/access/host-guard.ts";
import type { ClaimContext } from "../responses-api/recovery/run-claimer.ts";
import { type RecoveryPace, RunRecovery } from "../responses-api/recovery/run-recovery.ts";
import { SteerApplier } from "../responses-api/steering/steer-applier.ts";
import { RunHost } from "../runs/index.ts";
import { type ApiKeys, openApiKeys } from "../secrets/secrets-on-disk.ts";
import { type ServedOperations, startBatches } from "./batch-answering.ts";
import { byteBudgetsOf } from "./byte-budgets.ts";
import { cacheKeys, openAccounts } from "./choices/choose-accounts.ts";
import { chooseBus } from "./choices/choose-bus.ts";
import { chooseEgress } from "./choices/choose-egress.ts";
import { tryFiles } from "./choices/choose-files.ts";
import { chooseMedia } from "./choices/choose-media.ts";
import { metricsOfAll, shownMetrics } from "./choices/choose-metrics.ts";
import { type ChosenModel, chooseModel } from "./choices/choose-model.ts";
import { chooseRates } from "./choices/choose-rates.ts";
import { chooseReadiness } from "./choices/choose-readiness.ts";
import { type AudioHearing, audioParts, NOBODY_HEARS } from "./choices/choose-speech.ts";
import { chooseTelemetry, type Telemetry } from "./choices/choose-telemetry.ts";
import { chooseTools, codeTools } from "./choices/choose-tools.ts";
import { chooseVectorStores, FilesWaiting } from "./choices/choose-vector-stores.ts";
import { type CodeParts, chooseCode } from "./choices/code/choose-code.ts";
import type { HandlerContexts } from "./handlers/responses-api-handlers.ts";
import { announceLeaving, closeAll, closingOnce, drain, type Leaving } from "./leaving.ts";
import { filesFolder, openConfiguredStore } from "./open-configured-store.ts";
import { docsAssets, frontDoor } from "./pages/docs-assets.ts";
import { inspectorPage } from "./pages/pages.ts";
import { realtimeDoor, realtimeLimits } from "./realtime.ts";
import { claimContext, createContext, handlerContexts, organizationContext } from "./response-contexts.ts";
import { servedOperations } from "./served-operations.ts";
import { type Sweeping, sweepExpired } from "./sweeping.ts";
import { startWebhooks } from "./webhook-sending.ts";
import { websocketMode } from "./websocket-mode.ts";

export interface ResponsesApiServer extends Omit<RunningServer, "close" | "handOver"> {
  readonly model: ChosenModel;
  readonly keys: ApiKeys;
  readonly code: Pick<CodeParts, "place">;
  /**
   * Stops serving and resolves once everything is closed, by default as on `SIGTERM`. If another process already serves
   * the addresses, this one stops listening at once.
   */
  readonly close: (leaving?: Leaving) => Promise<void>;
}

/** Optional parts of a server beside its configuration. */
export interface ServedWith {
  /** Transcribes recordings if no transcription server is configured. */
  readonly speech?: FileTranscriber | null;
  /** Hears recordings for the audio routes. */
  readonly heardBy?: AudioHearing;
  /** Present in one of several processes. */
  readonly joinedProcess?: JoinedProcess | null;
  /** Served beside the configured tools. */
  readonly moreTools?: readonly HostedTool[];
}

/** Builds Interface A from its configuration and serves it. */
export async function startResponsesApi(
  config: Config,
  log: Logger,
  { speech = null, heardBy = NOBODY_HEARS, joinedProcess = null, moreTools = [] }: ServedWith = {},
): Promise<ResponsesApiServer> {
  const telemetry = await chooseTelemetry(config, log);
  const filesWaiting = new FilesWaiting();
  const observers = { onCommit: telemetry.onCommit, claims: telemetry.claims, onFilesWaiting: filesWaiting.tell };
  const store = await openTriedStore(config, observers, log);
  const stopping = new AbortController();
  const runs = openRunHost(config, telemetry);
  const bus = await chooseBus(config, { places: store.places, runs, observer: telemetry.bus, joinedProcess }, log);
  telemetry.watchOthers(store, bus);
  const rates = await chooseRates(config, { store, joinedProcess }, log);
  try {
    const keys = await openApiKeys(revealAll(config.apiKeys), store.keys, config.dataDir);
    const model = telemetry.watchModel(await chooseModel(config, log, telemetry.modelServers));
    model.servers?.follow(telemetry.modelServers, stopping.signal);
    const cachedKeys = cacheKeys(keys.finder, bus);
    const guards = chooseEgress(config, log);
    const search = await chooseVectorStores(config, { store, model, telemetry, filesWaiting, joinedProcess }, log);
    const children = [model.embedded, search.embedderChild];
    const code = chooseCode(config, { containers: store.sessionContainers, telemetry }, log);
    const own = [search.fileSearch, ...codeTools(config, code, store)];
    const tools = await chooseTools(config, guards, log, [...own, ...moreTools]);
    const watching = { store: store.responses, eventLog: store.events, runs, neighbours: bus };
    const media = chooseMedia(config, { files: store.files, egress: guards.egress, speech });
    const { accounts, prices, ledger } = openAccounts(config, { store, model, limiter: rates.rates }, log);
    const creating = createContext(config, { store, model, tools, media, accounts, watching, telemetry }, log);
    const readiness = chooseReadiness(config, { store, model, neighbours: bus, stopping: stopping.signal, code });
    const monitoring = { readiness, metrics: shownMetrics(config, metricsOfAll(telemetry, joinedProcess)) };
    const organization = organizationContext(store, accounts, cachedKeys);
    const webhooks = startWebhooks({ store, sealer: creating.ordering.sealer, egress: guards.egress, telemetry }, log);
    const audio = audioParts(config, heardBy);
    const serving = { ...search, store, webhooks: webhooks.context, prices, organization, audio };
    const served = servedBy(handlerContexts(config, creating, monitoring, serving), config);
    const recovery = await startRecovery(config, claimContext(creating, store), bus, log);
    const steering = new SteerApplier({ steers: store.steers, creating, keys, log });
    const ingest = search.startIngest();
    const batches = startBatches(config, { ...served, watching, store, keys, telemetry }, log);
    const stopClaiming = () => Promise.all([batches.stop(), steering.stop(), recovery.stopClaiming(), ingest.stop()]);
    joinedProcess?.accept({ measure: () => telemetry.metricsText() });
    const app = application(served, { keys: cachedKeys, requests: telemetry.requests }, config, log);
    const endRuns = (over: AbortSignal) => recovery.close(over).then(() => webhooks.stop(over));
    const endAll = () => endRuns(AbortSignal.abort()).then(() => closeAll(code, ...children));
    const server = await openServer(app, config, [stopClaiming, endAll]);
    code.start();
    const sweeping = sweepOnce(joinedProcess, store, config, log);
    const closeOnce = async ({ isReplaced, until }: Leaving): Promise<void> => {
      await (isReplaced ? server.handOver() : announceLeaving(server, stopping, config.drainDelayMs));
      await drain([stopClaiming, (over) => server.close(over), endRuns], config.drainMs, until);
      await Promise.all([tools.close(), code.close(), sweeping?.stop(), ledger.close()]);
      await closeAll(...children, bus, rates, store, telemetry);
    };
    return { ...server, model, keys, code, close: closingOnce(closeOnce) };
  } catch (error) {
    await closeAll(bus, rates, store, telemetry);
    throw error;
  }
}

/** One of several processes sweeps for all. */
function sweepOnce(
  joinedProcess: JoinedProcess | null,
  store: Parameters<typeof sweepExpired>[0],
  config: Config,
  log: Logger,
): Sweeping | null {
  return joinedProcess === null || joinedProcess.seat.number === 1 ? sweepExpired(store, config, log) : null;
}

/** Listens. If that fails, takes these steps one after the other. */
async function openServer(
  served: Application,
  { host, port, drainMs, sockets }: Config,
  stops: readonly (() => Promise<unknown>)[],
): Promise<RunningServer> {
  try {
    return await listen(served, { host, port, drainMs, socket: sockets.responsesApi });
  } catch (error) {
    for (const stop of stops) await stop();
    throw error;
  }
}

/** First checks what servers that share a database need, so that a misconfigured server does not start. */
async function openTriedStore(
  config: Config,
  observers: Parameters<typeof openConfiguredStore>[1],
  log: Logger,
): ReturnType<typeof openConfiguredStore> {
  requireSealKeys(config);
  if (config.databaseUrl !== null && config.filesUrl === null)
    log.warn({}, "DATABASE_URL is set without FILES_URL: other servers find files only if they share DATA_DIR");
  await tryFiles(config, log);
  const openedAt = performance.now();
  const store = await openConfiguredStore(config, observers);
  log.debug({ ms: Math.round(performance.now() - openedAt) }, "the database is open");
  return store;
}

/** With a generated key per server, servers could not open each other's sealed data. */
function requireSealKeys({ databaseUrl, sealKeys, dataDir }: Config): void {
  if (databaseUrl === null || sealKeys.length > 0) return;
  throw new ConfigError([
    "DATABASE_URL is set, but SEAL_KEYS is not. All servers of a database need the same keys to open what they seal for clients: 64 hexadecimal digits, such as openssl rand -hex 32 prints, or the path of a file that holds them.",
    `To go on with the keys of a server on SQLite, copy its file: SEAL_KEYS=${join(resolve(dataDir), "seal-key")}.`,
  ]);
}

function openRunHost(config: Config, telemetry: Telemetry): RunHost {
  const runs = new RunHost({
    runsMax: config.runsMax,
    backgroundRunsMax: config.backgroundRunsMax,
    queueMax: config.runQueueMax,
    runMs: config.runTimeoutMs,
  });
  telemetry.watchHost(runs);
  return runs;
}

/** Hears what other processes tell, and looks after the runs. */
async function startRecovery(
  config: Config,
  context: ClaimContext,
  bus: RunBus | null,
  log: Logger,
): Promise<RunRecovery> {
  const recovery = new RunRecovery(context, log, recoveryPace(config));
  if (config.databaseUrl !== null) recovery.shareQueue();
  bus?.accept({
    lookForStops: (responseIds) => recovery.lookForStops(responseIds),
    lookForWork: () => {
      if (context.runs.placesForWaiting > 0) recovery.lookForWork();
    },
    lookForStopped: () => recovery.lookForWork(),
  });
  await bus?.start();
  await recovery.start();
  return recovery;
}

/** Only the lease shows other machines that a server is dead, so they check every second. */
function recoveryPace({ databaseUrl, leaseMs }: Config): RecoveryPace | undefined {
  if (databaseUrl === null) return undefined;
  return { looksPerRenewal: Math.floor(leaseMs / LEASE_MS_PER_LOOK), looksPerClaim: 1 };
}

interface Served {
  readonly contexts: HandlerContexts;
  readonly operations: ServedOperations;
  readonly realtime: RealtimeDoor;
  readonly allowsOrigin: (origin: string) => boolean;
}

function servedBy(contexts: HandlerContexts, { corsOrigins, validateReplies }: Config): Served {
  const realtime = realtimeDoor(contexts);
  const allowsOrigin = webPages(corsOrigins);
  return {
    contexts,
    realtime,
    allowsOrigin,
    operations: servedOperations(contexts, realtime, validateReplies, allowsOrigin),
  };
}

/** `keys`: who may call; `requests`: notified of every caller. */
function application(
  { contexts, operations, realtime, allowsOrigin }: Served,
  { keys, requests }: { readonly keys: KeyFinder; readonly requests: Telemetry["requests"] },
  config: Config,
  log: Logger,
): Application {
  const authenticate = createAuthenticator(keys);
  return createApplication<Principal>({
    contract: operations.contract,
    handlers: operations.handlers,
    admission: {
      authenticate,
      headersFor: ownerHeaders,
      logFieldsFor: callerFields,
      anonymous: ANYONE,
      admit: createHostGuard(allowsOrigin),
    },
    faults: operations.faults,
    log,
    observer: requests,
    onRefused: ({ operationId, principal, sentBody, error }) => {
      if (operationId === "createResponse") contexts.creating.refusalLog.note(principal, sentBody, error);
    },
    assets: { ...frontDoor(), ...docsAssets("responses-api"), ...inspectorPage(log) },
    upgrades: [websocketMode(contexts.creating, config), realtimeUpgrade(realtime, keys, realtimeLimits(config))],
    options: {
      ...byteBudgetsOf(config),
      bodyBytesMax: config.bodyBytesMax,
      fileBytesMax: config.uploadBytesMax,
      uploadFolder: filesFolder(config),
      keepAliveMs: config.sseKeepAliveMs,
      prettyJson: true,
      quietOperations: QUIET_OPERATIONS,
      allowsOrigin,
      standingHeaders: (elapsedMs) => ({ "openai-version": "2020-10-01", "openai-processing-ms": String(elapsedMs) }),
    },
  });
}

/** Operations that monitors and the open inspector poll. They are not logged. */
const QUIET_OPERATIONS: ReadonlySet<string> = new Set([
  "getHealth",
  "getMetrics",
  "getReadiness",
  "getResponseStatistics",
  "listResponseEffects",
  "listResponseExchanges",
  "listResponseTimeline",
  "listResponses",
]);

function revealAll(secrets: readonly { reveal(): string }[]): readonly string[] {
  return secrets.map((secret) => secret.reveal());
}

/** A lease is renewed three times before it ends; checks are a second apart. */
const LEASE_MS_PER_LOOK = 3_000;

/** Checks a page's origin against CORS_ORIGINS: origins, and the words `loopback`, `*` and `none`. */
function webPages(origins: readonly string[]): (origin: string) => boolean {
  const isListed = originsAmong(origins);
  const everyone = origins.includes("*");
  const neighbours = origins.includes("loopback");
  return (origin) => everyone || (neighbours && isLoopbackOrigin(origin)) || isListed(origin);
}
