import { assert } from "@antiphon/base/assert.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import { originsAmong } from "@antiphon/base/web-origins.ts";
import { audioRoutes } from "@antiphon/contracts/audio/operations.ts";
import * as audioValidators from "@antiphon/contracts/audio/validators.js";
import { localSttRoutes, type OperationId } from "@antiphon/contracts/local-stt/operations.ts";
import * as validators from "@antiphon/contracts/local-stt/validators.js";
import { type Application, createApplication } from "@antiphon/http-kit/http/application.ts";
import {
  type ListeningSocket,
  type ListenOptions,
  listen,
  type RunningServer,
} from "@antiphon/http-kit/http/server.ts";
import type { Upgrade } from "@antiphon/http-kit/websocket/websocket.ts";
import { audioErrorForm } from "@antiphon/speech/audio-api/audio-error-form.ts";
import { audioHandlers } from "@antiphon/speech/audio-api/audio-handlers.ts";
import { checkSttAndFormatForm, checkTranscribeForm } from "@antiphon/speech/local-stt/check-form.ts";
import { notImplemented } from "@antiphon/speech/local-stt/errors.ts";
import { localSttFaults } from "@antiphon/speech/local-stt/faults.ts";
import { createOriginGuard } from "@antiphon/speech/local-stt/origin-guard.ts";
import { runSession } from "@antiphon/speech/local-stt/run-session.ts";
import { realtimeHandlers } from "@antiphon/speech/realtime/realtime-handlers.ts";
import { ConfigError } from "../config/config-error.ts";
import type { Config } from "../config/load-config.ts";
import { byteBudgetsOf } from "./byte-budgets.ts";
import type { Hearing } from "./choices/choose-speech.ts";
import { contractOf, joinContracts, refusals } from "./contract.ts";
import { audioBodyChecks } from "./handlers/body-checks.ts";
import { type LocalSttParts, localSttHandlers, localSttParts } from "./handlers/local-stt-handlers.ts";
import { docsAssets } from "./pages/docs-assets.ts";
import { demoPage } from "./pages/pages.ts";
import { choosePieces, localRealtime, passingSecrets } from "./realtime.ts";

const MEBIBYTE = 1024 * 1024;
/** The largest body of a text or chat request. */
const BODY_BYTES_MAX = 4 * MEBIBYTE;

/**
 * Operations of the contract that answer 501 `not_implemented`. An operation that is neither listed here nor handled
 * does not compile.
 */
const NOT_YET = [] as const satisfies readonly OperationId[];

export function notImplementedSttOperations(): readonly OperationId[] {
  return NOT_YET;
}

/** Builds Interface B and serves it, always on loopback addresses. The caller closes `hearing` afterwards. */
export async function startLocalStt(config: Config, log: Logger, hearing: Hearing): Promise<RunningServer> {
  const parts = localSttParts(config, log, hearing);
  const { sttPort: port, drainMs, sockets } = config;
  const app = application(parts, config, log);
  const server = await (sockets.speech.length > 0
    ? listenOnSockets(app, sockets.speech, config)
    : listenOnLoopback(app, { port, drainMs }));
  const close = async (until?: AbortSignal): Promise<void> => {
    await server.close(until);
    parts.answers.close();
  };
  return { ...server, close };
}

function application(parts: LocalSttParts, config: Config, log: Logger): Application {
  const { validateReplies } = config;
  const pieces = choosePieces(parts.audio);
  const secrets = passingSecrets();
  return createApplication<null>({
    contract: joinContracts(
      contractOf({
        routes: localSttRoutes,
        validators,
        bodyChecks: { transcribe: checkTranscribeForm, transcribeAndFormat: checkSttAndFormatForm },
        validateReplies,
      }),
      contractOf({ routes: audioRoutes, validators: audioValidators, bodyChecks: audioBodyChecks, validateReplies }),
    ),
    handlers: {
      ...localSttHandlers(parts, config),
      ...audioHandlers(parts.audio),
      ...realtimeHandlers({ pieces, secrets, holderOf: () => null }),
      ...refusals(NOT_YET, notImplemented),
    },
    admission: {
      authenticate: () => Promise.resolve(null),
      anonymous: null,
      admit: createOriginGuard(config.sttAllowedOrigins),
    },
    faults: { ...localSttFaults(log), errorFormOf: audioErrorForm },
    log,
    observer: parts.requests,
    assets: { ...docsAssets("local-stt"), ...demoPage(config, log) },
    upgrades: [speechOverWebSocket(parts), localRealtime(pieces, secrets, parts.sessions)],
    options: {
      ...byteBudgetsOf(config),
      quietOperations: new Set(["getHealth", "getMetrics"]),
      bodyBytesMax: BODY_BYTES_MAX,
      fileBytesMax: config.uploadMegabytesMax * MEBIBYTE,
      linesIdleTimeoutMs: config.sttIdleTimeoutMs,
      bodyTotalTimeoutMs: config.sttUploadTimeoutMs,
      allowsOrigin: originsAmong(config.sttAllowedOrigins),
    },
  });
}

function speechOverWebSocket({ sessions }: LocalSttParts): Upgrade<null> {
  const stream = localSttRoutes.find(({ operationId }) => operationId === "streamTranscription");
  return {
    path: "/ws/transcribe",
    secured: false,
    query: stream?.query ?? {},
    admit: () => sessions.places.check(),
    handle: (messages, { requestId, log, signal }, query) => {
      const interim = query["interim"] === true;
      return runSession(sessions, messages, { transport: "websocket", interim, requestId, log, signal });
    },
  };
}

/** Listens on 127.0.0.1, and on the same port of ::1 if this machine has IPv6 and the port is free. */
async function listenOnLoopback(app: Application, options: Omit<ListenOptions, "host">): Promise<RunningServer> {
  const server = await listen(app, { ...options, host: "127.0.0.1" });
  const other = await listen(app, { ...options, host: "::1", port: server.address.port }).catch(
    async (error: unknown) => {
      if (isUnavailable(error)) return null;
      await server.close();
      throw error;
    },
  );
  return other === null ? server : together(server, [other]);
}

/** Listens on sockets that are already open. Their addresses must be loopback addresses. */
async function listenOnSockets(
  app: Application,
  sockets: readonly ListeningSocket[],
  { drainMs }: Pick<Config, "drainMs">,
): Promise<RunningServer> {
  const servers: RunningServer[] = [];
  for (const socket of sockets) servers.push(await listen(app, { host: "", port: 0, drainMs, socket }));
  const [first, ...others] = servers;
  assert(first !== undefined, "there is a socket");
  const open = servers.find(({ address }) => !LOOPBACK.has(address.address));
  if (open === undefined) return together(first, others);
  await Promise.all(servers.map((server) => server.close()));
  throw new ConfigError([
    `The socket for the speech server listens on ${open.address.address}, which is no loopback address.`,
  ]);
}

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "::1"]);

/** Combines several servers of one application into one, with the address of the first. */
function together(first: RunningServer, others: readonly RunningServer[]): RunningServer {
  const all = [first, ...others];
  return {
    ...first,
    handOver: async () => {
      await Promise.all(all.map((server) => server.handOver()));
    },
    close: async (until) => {
      await Promise.all(all.map((server) => server.close(until)));
    },
  };
}

const UNAVAILABLE: ReadonlySet<unknown> = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT", "EADDRINUSE", "EINVAL"]);

function isUnavailable(error: unknown): boolean {
  return isRecord(error) && UNAVAILABLE.has(error["code"]);
}
