import type { ApiError } from "@antiphon/base/api-error.ts";
import type { SchemaRefusal } from "@antiphon/base/json/schema-refusal.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import { isStorageFull } from "@antiphon/base/storage-full.ts";
import type { OperationId } from "@antiphon/contracts/local-stt/operations.ts";
import { bodyRefusal } from "./body-refusal.ts";
import {
  binaryMessage,
  bodyPackedTooTightly,
  bodyTimedOut,
  bodyTooLarge,
  busy,
  internalError,
  invalidJson,
  invalidRequest,
  messageTooLarge,
  methodNotAllowed,
  renderError,
  shuttingDown,
  storageFull,
  unknownRoute,
  unsupportedMediaType,
  upgradeRequired,
  uploadTooLarge,
} from "./errors.ts";

const STREAM: OperationId = "streamTranscription";

/**
 * The errors of Interface B that arise outside its operations. A stream request with a wrong content type is logged
 * with the text required by the specification.
 */
export function localSttFaults(log: Logger) {
  return {
    ...FAULTS,
    unsupportedMediaType(contentType: string, operationId: string): ApiError {
      if (operationId === STREAM) log.warn({ contentType }, "ValueError: audio_base64 is required");
      return unsupportedMediaType(contentType);
    },
  };
}

const FAULTS = {
  renderError,
  streamError: (error: ApiError) => [{ type: "error", ...renderError(error).error }],
  invalidJson,
  messageTooLarge,
  bodyPackedTooTightly,
  noRoomForBody: () => busy("The memory for request bodies is full. Please retry in a moment."),
  bodyTooLarge,
  fileTooLarge: uploadTooLarge,
  bodyTimedOut,
  unsupportedEncoding: (encoding: string) => invalidRequest(`Unsupported content encoding: '${encoding}'.`),
  invalidForm: (reason: string) => invalidRequest(`The form cannot be read: ${reason}`),
  invalidBody: (_operationId: string, _body: unknown, refusals: readonly SchemaRefusal[]) =>
    invalidRequest(bodyRefusal(refusals)),
  invalidQuery: ({ name }: { readonly name: string }) => invalidRequest(`The query parameter '${name}' is not valid.`),
  invalidClientRequestId: () => invalidRequest("X-Client-Request-Id must be at most 512 ASCII characters."),
  malformedRequest: () => invalidRequest("The request could not be read as HTTP."),
  unknownRoute,
  methodNotAllowed,
  upgradeRequired,
  binaryMessage,
  ofError: (error: unknown) => (isStorageFull(error) ? storageFull() : null),
  shuttingDown,
  internalError,
};
