import type { ApiError } from "@antiphon/base/api-error.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import { brokenMessage } from "../local-stt/errors.ts";
import { localSttFaults } from "../local-stt/faults.ts";
import { errorMessage } from "./errors.ts";

/**
 * The errors of the cloud server that arise outside its streams: those of the local server, except for binary frames.
 */
export function cloudSttFaults(log: Logger) {
  return {
    ...localSttFaults(log),
    streamError: (error: ApiError) => [errorMessage(error)],
    binaryMessage: () => brokenMessage("Expected a text frame with JSON, but got a binary one."),
  };
}
