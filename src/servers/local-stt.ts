import { type LocalSttHandlers, localSttRoutes, type OperationId } from "../../generated/local-stt/operations.ts";
import * as validators from "../../generated/local-stt/validators.js";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/load-config.ts";
import { notImplemented } from "../local-stt/errors.ts";
import { localSttFaults } from "../local-stt/faults.ts";
import { getHealth } from "../local-stt/operations/get-health.ts";
import { getVersion } from "../local-stt/operations/get-version.ts";
import type { SpeechEngine } from "../speech/speech-engine.ts";
import { createApplication } from "../transport/application.ts";
import { listen, type RunningServer } from "../transport/server.ts";
import { contractOf, refusals } from "./contract.ts";
import { programVersion } from "./program-version.ts";

const LOOPBACK = "127.0.0.1";
const MEBIBYTE = 1024 * 1024;

/** Operations of the contract that answer 501 `not_implemented`. What is neither here nor among the handlers does not compile. */
const NOT_YET = [
  "demoChat",
  "format",
  "streamTranscription",
  "transcribe",
  "transcribeAndFormat",
] as const satisfies readonly OperationId[];

export function notImplementedOperations(): readonly OperationId[] {
  return NOT_YET;
}

/** Builds Interface B and serves it, on the loopback address whatever the configuration says. `speech` belongs to the caller, who closes it afterwards. */
export function startLocalStt(config: Config, log: Logger, speech: SpeechEngine): Promise<RunningServer> {
  const handlers: Omit<LocalSttHandlers<unknown>, (typeof NOT_YET)[number]> = {
    getHealth: getHealth(speech),
    getVersion: getVersion(programVersion(), speech),
  };
  const application = createApplication<null>({
    contract: contractOf({ routes: localSttRoutes, validators, validateReplies: config.validateReplies }),
    handlers: { ...handlers, ...refusals(NOT_YET, notImplemented) },
    admission: { authenticate: () => Promise.resolve(null), anonymous: null },
    faults: localSttFaults,
    log,
    upgrades: [{ path: "/ws/transcribe", refuse: () => notImplemented("transcribeOverWebSocket") }],
    options: {
      quietOperations: new Set(["getHealth"]),
      bodyBytesMax: config.bodyBytesMax,
      fileBytesMax: config.uploadMegabytesMax * MEBIBYTE,
    },
  });
  return listen(application, { host: LOOPBACK, port: config.sttPort, drainMs: config.drainMs });
}
