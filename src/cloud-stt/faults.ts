import type { ApiError } from "../base/api-error.ts";
import type { Logger } from "../base/logger.ts";
import { brokenMessage } from "../local-stt/errors.ts";
import { localSttFaults } from "../local-stt/faults.ts";
import { errorMessage } from "./errors.ts";

/**
 * How the cloud server says what went wrong before or around its streams: as the local one, but that a binary frame is
 * a broken message like others.
 */
export function cloudSttFaults(log: Logger) {
  return {
    ...localSttFaults(log),
    streamError: (error: ApiError) => [errorMessage(error)],
    binaryMessage: () => brokenMessage("Expected a text frame with JSON, but got a binary one."),
  };
}
