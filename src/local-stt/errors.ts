import type { SttErrorBody } from "../../generated/local-stt/types.ts";
import { ApiError } from "../base/api-error.ts";

type Code = SttErrorBody["error"]["code"];

/** The error catalogue of Interface B. */
function fault(status: number, code: Code, message: string, headers: Record<string, string> = {}): ApiError {
  return new ApiError({ status, type: code, code, message, headers });
}

/** `{error: {code, message}}`. */
export function renderError(error: ApiError): { error: { code: string; message: string } } {
  return { error: { code: error.code ?? error.type, message: error.message } };
}

export function invalidJson(): ApiError {
  return fault(400, "invalid_json", "The body is not valid JSON.");
}

export function invalidRequest(message: string): ApiError {
  return fault(400, "invalid_request", message);
}

export function uploadTooLarge(bytesMax: number): ApiError {
  return fault(
    413,
    "upload_too_large",
    `The upload is larger than ${bytesMax} bytes. BACKEND_MAX_UPLOAD_MB sets the limit.`,
  );
}

export function bodyTimedOut(): ApiError {
  return fault(408, "idle_timeout", "The body did not arrive in time.");
}

export function unsupportedMediaType(given: string): ApiError {
  return fault(415, "unsupported_media_type", `Unsupported content type: '${given}'.`);
}

export function unknownRoute(method: string, path: string): ApiError {
  return fault(404, "not_found", `There is no ${method} ${path}.`);
}

export function methodNotAllowed(method: string, path: string): ApiError {
  return fault(405, "method_not_allowed", `Not allowed to ${method} on ${path}.`);
}

export function upgradeRequired(path: string): ApiError {
  return fault(426, "upgrade_required", `${path} speaks WebSocket only.`, { Upgrade: "websocket" });
}

export function notImplemented(operationId: string): ApiError {
  return fault(501, "not_implemented", `The operation '${operationId}' is not implemented yet.`);
}

export function shuttingDown(): ApiError {
  return fault(503, "shutting_down", "The server is shutting down. Please retry in a moment.", { "Retry-After": "1" });
}

export function internalError(requestId: string): ApiError {
  return fault(
    500,
    "internal_error",
    `Something went wrong here. Please name the request id ${requestId} when you report it.`,
  );
}
