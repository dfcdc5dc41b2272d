import { ApiError } from "@antiphon/base/api-error.ts";
import type { CloudErrorMessage } from "@antiphon/contracts/local-stt/types.ts";
import { brokenMessage } from "../local-stt/errors.ts";

/** Makes an error that only the cloud server has. */
function fault(status: number, code: string, message: string, headers: Record<string, string> = {}): ApiError {
  return new ApiError({ status, type: code, code, message, headers });
}

export function missingKey(): ApiError {
  return unauthorizedError("The header x-api-key is missing.");
}

export function wrongKey(): ApiError {
  return unauthorizedError("The key in x-api-key is unknown, revoked or expired.");
}

function unauthorizedError(message: string): ApiError {
  return fault(401, "invalid_api_key", message, { "WWW-Authenticate": 'ApiKey realm="speech to text"' });
}

/** For an upgrade, and for a stream whose key exceeds its sound limit. */
export function rateLimited(waitMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return fault(429, "rate_limited", `The key has reached its limit. Please try again in ${seconds} s.`, {
    "Retry-After": String(seconds),
  });
}

/**
 * The error that ends a stream; its status selects the close code. The cloud contract has no `chunk_too_large`, so that
 * becomes `invalid_message`.
 */
export function streamEnd(error: ApiError): ApiError {
  return error.code === "chunk_too_large" ? brokenMessage(error.message) : error;
}

const CODES: Readonly<Record<string, CloudErrorMessage["code"]>> = {
  client_too_slow: "client_too_slow",
  idle_timeout: "idle_timeout",
  invalid_message: "invalid_message",
  rate_limited: "rate_limited",
  unsupported_format: "unsupported_format",
  unsupported_language: "unsupported_language",
};

/** The last message of a stream that ends with this error. */
export function errorMessage(error: ApiError): CloudErrorMessage {
  return { type: "error", code: CODES[error.code ?? ""] ?? "internal_error", message: error.message };
}
