import { setTimeout as sleep } from "node:timers/promises";
import { responsesApiRoutes } from "../../generated/responses-api/operations.ts";
import * as validators from "../../generated/responses-api/validators.js";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/load-config.ts";
import type { MediaOptions } from "../media/media-options.ts";
import { MinuteRates } from "../rate-limits/minute-rates.ts";
import {
  callerFields,
  createAuthenticator,
  ownerHeaders,
  type Principal,
} from "../responses-api/access/authenticate.ts";
import { checkCreateBody } from "../responses-api/checks/check-body.ts";
import { checkFileUpload } from "../responses-api/checks/check-file-upload.ts";
import { responsesApiFaults } from "../responses-api/errors/faults.ts";
import { notImplemented } from "../responses-api/errors/server-errors.ts";
import { RunKeeper } from "../responses-api/keeping/run-keeper.ts";
import { createSealer } from "../responses-api/keeping/seal.ts";
import { RunHost } from "../runs/index.ts";
import { openSealKeys } from "../secrets/seal-keys.ts";
import { type ApiKeys, openApiKeys } from "../secrets/secrets-on-disk.ts";
import type { FileTranscriber } from "../speech/speech-engine.ts";
import { createApplication } from "../transport/http/application.ts";
import { listen, type RunningServer } from "../transport/http/server.ts";
import { byteBudgetsOf } from "./byte-budgets.ts";
import { chooseMedia } from "./choices/choose-media.ts";
import { type ChosenModel, chooseModel } from "./choices/choose-model.ts";
import { chooseTelemetry } from "./choices/choose-telemetry.ts";
import { chooseVoice } from "./choices/choose-voice.ts";
import { contractOf, refusals } from "./contract.ts";
import { contextBodyChecks } from "./handlers/context-handlers.ts";
import { conversationBodyChecks } from "./handlers/conversation-handlers.ts";
import { beginParts, type InterfaceParts, NOT_YET, responsesApiHandlers } from "./handlers/responses-api-handlers.ts";
import { filesFolder, openConfiguredStore } from "./open-configured-store.ts";
import { docsAssets } from "./pages/docs-assets.ts";
import { webPages } from "./pages/web-pages.ts";
import { sweepExpired } from "./sweeping.ts";
import { websocketMode } from "./websocket-mode.ts";

export interface ResponsesApiServer extends RunningServer {
  readonly model: ChosenModel;
  readonly keys: ApiKeys;
}

/**
 * Builds Interface A from its configuration and serves it. `speech`: who transcribes recordings where no transcription
 * server is configured.
 */
export async function startResponsesApi(
  config: Config,
  log: Logger,
  speech: FileTranscriber | null = null,
): Promise<ResponsesApiServer> {
  const telemetry = await chooseTelemetry(config, log);
  const openedAt = performance.now();
  const store = await openConfiguredStore(config, telemetry.onCommit);
  log.debug({ ms: Math.round(performance.now() - openedAt) }, "the database is open");
  const stopping = new AbortController();
  try {
    const keys = await openApiKeys(
      config.apiKeys.map((key) => key.reveal()),
      store.keys,
      config.dataDir,
    );
    const parts = await chooseParts(
      config,
      { store, telemetry, operating: { config, isLeaving: () => stopping.signal.aborted }, speech },
      log,
    );
    const { host, port, drainMs } = config;
    const keeper = keeperOf(parts, log);
    await keeper.start();
    const server = await listen(application(parts, keys, config, log), { host, port, drainMs }).catch(
      async (error: unknown) => {
        await keeper.stop();
        await keeper.leave(0);
        throw error;
      },
    );
    const sweeping = sweepExpired(store, config, log);
    const closeOnce = async (): Promise<void> => {
      stopping.abort();
      server.announceLeaving();
      await sleep(config.drainDelayMs);
      const deadline = performance.now() + drainMs;
      await keeper.stop();
      await server.close();
      await keeper.leave(Math.max(0, Math.ceil(deadline - performance.now())));
      await sweeping.stop();
      await store.close();
      await telemetry.close();
    };
    let closing: Promise<void> | null = null;
    const close = (): Promise<void> => (closing ??= closeOnce());
    return { ...server, model: parts.model, keys, close };
  } catch (error) {
    await store.close();
    await telemetry.close();
    throw error;
  }
}

type GivenParts = Pick<InterfaceParts, "operating" | "store" | "telemetry"> & Pick<MediaOptions, "speech">;

async function chooseParts(config: Config, { speech, ...given }: GivenParts, log: Logger): Promise<InterfaceParts> {
  const { store, telemetry } = given;
  const model = telemetry.watchModel(await chooseModel(config, log));
  const runs = new RunHost({
    runsMax: config.runsMax,
    backgroundRunsMax: config.backgroundRunsMax,
    queueMax: config.runQueueMax,
    runMs: config.runTimeoutMs,
  });
  telemetry.watchHost(runs);
  return {
    ...given,
    model,
    spokenOutput: chooseVoice(config, log),
    media: chooseMedia(config, { abilities: model.engine.abilities, files: store.files, speech }, log),
    runs,
    sealer: createSealer(() => openSealKeys(config.dataDir)),
    streamStartWaitMs: config.streamStartWaitMs,
    limiter: new MinuteRates({ requests: config.rateLimitRequestsPerMinute, tokens: config.rateLimitTokensPerMinute }),
  };
}

function keeperOf({ store, model, spokenOutput, telemetry, sealer, runs }: InterfaceParts, logger: Logger): RunKeeper {
  const { events: log, ledger } = store;
  const { engine } = model;
  return new RunKeeper({ engine, spokenOutput, observer: telemetry.runs, log, sealer, runs, ledger, logger });
}

function application(parts: InterfaceParts, keys: ApiKeys, config: Config, log: Logger) {
  const authenticate = createAuthenticator(keys.finder);
  return createApplication<Principal>({
    contract: contractOf({
      routes: responsesApiRoutes,
      validators,
      bodyChecks: {
        createFile: checkFileUpload,
        createResponse: checkCreateBody,
        ...conversationBodyChecks,
        ...contextBodyChecks,
      },
      validateReplies: config.validateReplies,
    }),
    handlers: { ...responsesApiHandlers(parts), ...refusals(NOT_YET, notImplemented) },
    admission: { authenticate, headersFor: ownerHeaders, logFieldsFor: callerFields, anonymous: ANYONE },
    faults: responsesApiFaults,
    log,
    observer: parts.telemetry.requests,
    assets: docsAssets("responses-api"),
    upgrades: [websocketMode(beginParts(parts), config)],
    options: {
      ...byteBudgetsOf(config),
      bodyBytesMax: config.bodyBytesMax,
      fileBytesMax: config.uploadBytesMax,
      uploadFolder: filesFolder(config),
      keepAliveMs: config.sseKeepAliveMs,
      prettyJson: true,
      quietOperations: new Set(["getHealth", "getMetrics", "getReadiness"]),
      allowsOrigin: webPages(config.corsOrigins),
      standingHeaders: (elapsedMs) => ({ "openai-version": "2020-10-01", "openai-processing-ms": String(elapsedMs) }),
    },
  });
}

/** Who asks where no key is needed. */
const ANYONE: Principal = {
  keyId: "",
  owner: { organization: "", project: "" },
  limits: { requests: null, tokens: null },
};
