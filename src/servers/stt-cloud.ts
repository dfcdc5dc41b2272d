import type { Logger } from "@antiphon/base/logger.ts";
import { localSttRoutes } from "@antiphon/contracts/local-stt/operations.ts";
import * as validators from "@antiphon/contracts/local-stt/validators.js";
import type { Handler, HandlerTable } from "@antiphon/http-kit/handler.ts";
import { type Application, createApplication } from "@antiphon/http-kit/http/application.ts";
import { listen, type RunningServer } from "@antiphon/http-kit/http/server.ts";
import type { Upgrade } from "@antiphon/http-kit/websocket/websocket.ts";
import { type CloudCaller, createKeyCheck } from "@antiphon/speech/cloud-stt/authenticate-key.ts";
import {
  type CloudParts,
  countStream,
  openCloudStream,
  refuseAsUpgrade,
} from "@antiphon/speech/cloud-stt/cloud-stream.ts";
import { errorMessage } from "@antiphon/speech/cloud-stt/errors.ts";
import { cloudSttFaults } from "@antiphon/speech/cloud-stt/faults.ts";
import type { StreamRates } from "@antiphon/speech/cloud-stt/ports.ts";
import { inactiveTier } from "@antiphon/speech/formatting/formatting-tier.ts";
import { upgradeRequired } from "@antiphon/speech/local-stt/errors.ts";
import { getHealth } from "@antiphon/speech/local-stt/operations/get-health.ts";
import { StreamPlaces } from "@antiphon/speech/local-stt/stream-places.ts";
import type { SpeechEngine } from "@antiphon/speech/recognition/speech-engine.ts";
import type { Config } from "../config/load-config.ts";
import { getMetrics } from "../responses-api/operations/get-metrics.ts";
import { type ApiKeys, openApiKeys } from "../secrets/secrets-on-disk.ts";
import { Meters } from "../telemetry/meters.ts";
import { observeRequests } from "../telemetry/requests/request-watch.ts";
import { measureSpeech } from "../telemetry/speech-metrics.ts";
import { byteBudgetsOf } from "./byte-budgets.ts";
import { shownMetrics } from "./choices/choose-metrics.ts";
import { chooseStreamRates } from "./choices/choose-rates.ts";
import { contractOf, type GeneratedContract } from "./contract.ts";
import { openConfiguredStore } from "./open-configured-store.ts";

const PATH = "/stt/v1/stream";

export interface SttCloudServer extends RunningServer {
  readonly keys: ApiKeys;
}

/** Serves the cloud stream with the keys of Interface A. The caller closes `speech` afterwards. */
export async function startSttCloud(config: Config, log: Logger, speech: SpeechEngine): Promise<SttCloudServer> {
  const store = await openConfiguredStore(config);
  try {
    const keyTexts = config.apiKeys.map((key) => key.reveal());
    const keys = await openApiKeys(keyTexts, store.keys, config.dataDir);
    const { sttCloudHost: host, sttCloudPort: port, drainMs } = config;
    const choice = await chooseStreamRates(config, log);
    const server = await listen(application(config, log, { speech, keys, rates: choice.rates }), {
      host,
      port,
      drainMs,
      socket: config.sockets.sttCloud,
    });
    const closeAll = async (): Promise<void> => {
      await server.close();
      await choice.close();
      await store.close();
    };
    let closing: Promise<void> | null = null;
    const close = (): Promise<void> => (closing ??= closeAll());
    return { ...server, keys, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function application(
  config: Config,
  log: Logger,
  { speech, keys, rates }: { readonly speech: SpeechEngine; readonly keys: ApiKeys; readonly rates: StreamRates },
): Application {
  const meters = new Meters();
  const parts: CloudParts = {
    sessions: {
      speech,
      places: new StreamPlaces(config.sttCloudStreamsMax, speech, "STT_CLOUD_STREAMS_MAX"),
      observer: measureSpeech(meters, () => speech.restarts()),
      idleMs: config.sttCloudIdleTimeoutMs,
    },
    rates,
  };
  return createApplication<CloudCaller>({
    contract: contractOf({
      routes: [...OPERATORS_ROUTES, PLAIN_ROUTE],
      validators,
      validateReplies: config.validateReplies,
    }),
    handlers: { ...operatorsHandlers(config, speech, meters), [PLAIN_ROUTE.operationId]: answerPlainly(parts) },
    admission: {
      authenticate: createKeyCheck(keys.finder),
      logFieldsFor: ({ keyId }) => ({ keyId }),
      anonymous: { keyId: "" },
    },
    faults: cloudSttFaults(log),
    log,
    observer: observeRequests(meters, null),
    upgrades: [cloudStream(parts)],
    options: { ...byteBudgetsOf(config), quietOperations: new Set(["getHealth", "getMetrics"]) },
  });
}

function cloudStream(parts: CloudParts): Upgrade<CloudCaller> {
  return {
    path: PATH,
    secured: true,
    admitCaller: (caller) => countStream(parts.rates, caller),
    admit: () => parts.sessions.places.check(),
    endsByItself: true,
    errorMessage,
    handle: (messages, { principal, requestId, log, signal }) =>
      openCloudStream(parts, messages, principal, { requestId, log, signal }),
  };
}

type Route = GeneratedContract["routes"][number];

/** Routes for operators, the same as those of the local server. */
const OPERATORS_ROUTES: readonly Route[] = localSttRoutes.filter(({ operationId }) =>
  ["getHealth", "getMetrics"].includes(operationId),
);

function operatorsHandlers(config: Config, speech: SpeechEngine, meters: Meters): HandlerTable<CloudCaller> {
  return {
    getHealth: getHealth(speech, () => inactiveTier("off")),
    getMetrics: getMetrics(shownMetrics(config, () => meters.text())),
  };
}

/**
 * A plain request to the stream's path. Many WebSocket clients hide why an upgrade was refused, so the user can repeat
 * it as plain HTTP.
 */
const PLAIN_ROUTE: Route = {
  operationId: "stream",
  method: "get",
  path: PATH,
  secured: true,
  query: {},
  headers: [],
  request: [],
  bodyRequired: false,
  bodySchema: null,
  replySchema: null,
  eventSchema: null,
  lineSchema: null,
};

function answerPlainly(parts: CloudParts): Handler<CloudCaller> {
  return async (_request, { principal }) => {
    await refuseAsUpgrade(parts, principal);
    throw upgradeRequired(PATH);
  };
}
