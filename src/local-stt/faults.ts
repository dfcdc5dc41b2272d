import type { ApiError } from "../base/api-error.ts";
import {
  bodyTimedOut,
  internalError,
  invalidJson,
  invalidRequest,
  methodNotAllowed,
  renderError,
  shuttingDown,
  unknownRoute,
  unsupportedMediaType,
  upgradeRequired,
  uploadTooLarge,
} from "./errors.ts";

interface Refusal {
  readonly instancePath: string;
  readonly keyword: string;
}

/** How Interface B says what went wrong before or around its operations. */
export const localSttFaults = {
  renderError,
  streamError: (error: ApiError) => [{ type: "error", ...renderError(error).error }],
  invalidJson,
  bodyTooLarge: uploadTooLarge,
  bodyTimedOut,
  unsupportedMediaType,
  unsupportedEncoding: (given: string) => invalidRequest(`Unsupported content encoding: '${given}'.`),
  invalidForm: (reason: string) => invalidRequest(`The form cannot be read: ${reason}`),
  invalidBody: (_operationId: string, _body: unknown, refusals: readonly Refusal[]) =>
    invalidRequest(
      `The body breaks the schema at '${refusals[0]?.instancePath ?? ""}' (${refusals[0]?.keyword ?? "unknown"}).`,
    ),
  invalidQuery: ({ name }: { readonly name: string }) => invalidRequest(`The query parameter '${name}' is not valid.`),
  invalidClientRequestId: () => invalidRequest("X-Client-Request-Id must be at most 512 ASCII characters."),
  malformedRequest: () => invalidRequest("The request could not be read as HTTP."),
  unknownRoute,
  methodNotAllowed,
  upgradeRequired,
  binaryMessage: () => invalidRequest("Expected a text message with JSON, but got a binary one."),
  shuttingDown,
  internalError,
};
