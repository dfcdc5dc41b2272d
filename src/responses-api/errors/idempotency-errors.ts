import type { ApiError } from "@antiphon/base/api-error.ts";
import { invalidRequest } from "./invalid-request.ts";

export function invalidIdempotencyKey(): ApiError {
  const message = "Invalid 'Idempotency-Key': expected 1 to 255 visible ASCII characters.";
  return invalidRequest(400, "invalid_value", null, message);
}

/** Not 409, which the official SDKs repeat by themselves. */
export function idempotencyKeyReused(): ApiError {
  const message =
    "This 'Idempotency-Key' was used for a request with another body. Use a new key for each different request.";
  return invalidRequest(422, "idempotency_key_reused", null, message);
}

export function responseNotKept(): ApiError {
  const message =
    "A response was made for this 'Idempotency-Key' and was not stored, so it cannot be shown again. Use `store: true`, or a new key to make another response.";
  return invalidRequest(422, "response_not_kept", null, message);
}

/** The error for a key whose response was deleted. */
export function responseGone(id: string): ApiError {
  const message = `Response with id '${id}' was made for this 'Idempotency-Key' and has been deleted or has expired.`;
  return invalidRequest(410, "response_gone", null, message);
}
