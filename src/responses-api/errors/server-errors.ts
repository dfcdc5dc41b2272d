import { ApiError } from "@antiphon/base/api-error.ts";
import { invalidRequest } from "./invalid-request.ts";

export function notImplemented(operationId: string): ApiError {
  return new ApiError({
    status: 501,
    type: "server_error",
    code: "not_implemented",
    message: `The operation '${operationId}' is not implemented yet.`,
    headers: { "x-should-retry": "false" }, // Otherwise official clients retry every 5xx.
  });
}

/** The error when WebSocket mode is switched off. Only this status makes clients fall back to HTTP at once. */
export function upgradeNotOffered(): ApiError {
  return invalidRequest(
    426,
    "upgrade_required",
    null,
    "This server does not offer WebSocket mode. Send POST /v1/responses.",
  );
}

/** The error when the server is too busy or shutting down; the client may retry after `retryAfterSeconds`. */
export function serverOverloaded(message: string, cause?: unknown, retryAfterSeconds = 1): ApiError {
  return new ApiError({
    status: 503,
    type: "service_unavailable_error",
    code: "server_is_overloaded",
    message,
    headers: { "Retry-After": String(retryAfterSeconds) },
    cause,
  });
}

export function tooManyRuns(limit: "runs" | "queue", max: number): ApiError {
  return serverOverloaded(
    limit === "runs"
      ? `The server is answering ${max} requests already. Please retry in a moment.`
      : `There are ${max} background responses waiting already. Please retry in a moment.`,
  );
}

/** The error when the owner's storage quota is used up. Retrying cannot help, so official clients are told not to. */
export function storageQuotaExceeded(bytesMax: number): ApiError {
  return new ApiError({
    status: 429,
    type: "insufficient_quota",
    code: "insufficient_quota",
    message: `This project has stored as much as it may: ${bytesMax} bytes of responses, conversations and files. Delete some of them, or send store: false.`,
    headers: { "x-should-retry": "false" },
  });
}

/** The error when another process held the database lock for longer than the store waits. */
export function storeBusy(cause: unknown): ApiError {
  return serverOverloaded("The database is locked by another process. Please retry in a moment.", cause);
}

/** The error when the database is another program and does not respond. */
export function storeAway(cause: unknown): ApiError {
  return serverOverloaded("The database does not answer. Please retry in a moment.", cause);
}

/** The error when the file storage is down. Other operations continue. */
export function fileStorageAway(cause: unknown): ApiError {
  return serverOverloaded("The storage of files does not answer. Please retry in a moment.", cause, 2);
}

/** The error when the bodies and messages being read use all the memory allowed for them. */
export function noRoomForBody(): ApiError {
  return serverOverloaded("The memory for request bodies is full. Please retry in a moment.");
}

/** The error when the process that makes the response did not stop it in time. */
export function cancelTimedOut(): ApiError {
  return serverOverloaded("The response did not stop in time. Please retry in a moment.");
}

export function shuttingDown(): ApiError {
  return serverOverloaded("The server is shutting down. Please retry in a moment.");
}

/** The error when the disk is full. A retry would fail too, so official clients are told not to. */
export function storageFull(cause: unknown): ApiError {
  return new ApiError({
    status: 507,
    type: "server_error",
    code: "storage_full",
    message: "The server has no room left to store this.",
    headers: { "x-should-retry": "false" },
    cause,
  });
}

export function internalError(requestId: string): ApiError {
  return new ApiError({
    status: 500,
    type: "server_error",
    code: null,
    message: `An error occurred while processing your request. You can retry your request. Please include the request ID ${requestId} when you report it.`,
  });
}
