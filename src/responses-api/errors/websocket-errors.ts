import { ApiError } from "@antiphon/base/api-error.ts";
import { invalidRequest } from "./invalid-request.ts";
import { unsupportedParameter } from "./parameter-errors.ts";
import { serverOverloaded } from "./server-errors.ts";

export function invalidStreamId(): ApiError {
  return invalidRequest(
    400,
    "invalid_stream_id",
    "stream_id",
    "The 'stream_id' field must be a non-empty string with at most 256 characters and may only contain letters, numbers, underscores, hyphens, and periods.",
  );
}

export function streamLimitReached(lanesMax: number): ApiError {
  return invalidRequest(
    400,
    "websocket_stream_limit_reached",
    "stream_id",
    `This WebSocket connection has reached its maximum number of distinct stream IDs (${lanesMax}). Reuse an existing stream_id or open a new WebSocket connection.`,
  );
}

/** `id` is null if the frame named no response and there is not exactly one to cancel. */
export function responseNotMadeHere(id: string | null): ApiError {
  const message =
    id === null
      ? "No response to cancel: none is in progress, or several are and 'response_id' is missing."
      : `Response with id '${id}' not found among those that are being made on this connection.`;
  return invalidRequest(404, "response_not_found", id === null ? null : "response_id", message);
}

export function responseCancelled(): ApiError {
  return invalidRequest(409, "response_cancelled", null, "The response was cancelled before it had begun.");
}

const MINUTE_MS = 60_000;

export function connectionLimitReached(lifetimeMs: number): ApiError {
  const lifetime =
    lifetimeMs < MINUTE_MS ? `${lifetimeMs / 1000} seconds` : `${Math.round(lifetimeMs / MINUTE_MS)} minutes`;
  return invalidRequest(
    400,
    "websocket_connection_limit_reached",
    null,
    `Responses websocket connection limit reached (${lifetime}). Create a new websocket connection to continue.`,
  );
}

export function backgroundOverWebSocket(): ApiError {
  return unsupportedParameter("background", "Background responses are created over HTTP: send POST /v1/responses.");
}

export function tooManyWebSockets(max: number): ApiError {
  return serverOverloaded(
    `There are ${max} WebSocket connections already. Please retry in a moment, or send POST /v1/responses.`,
  );
}

export function tooManyWebSocketsOfKey(max: number): ApiError {
  return new ApiError({
    status: 429,
    type: "rate_limit_error",
    code: "rate_limit_error",
    message: `This API key has ${max} WebSocket connections open already. Close one, or send POST /v1/responses.`,
    headers: { "Retry-After": "1" },
  });
}
