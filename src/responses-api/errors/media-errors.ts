import { ApiError } from "@antiphon/base/api-error.ts";
import type { MediaError } from "@antiphon/domain/media.ts";
import { invalidRequest } from "./invalid-request.ts";
import { serverOverloaded } from "./server-errors.ts";

/**
 * The error for an image, file or recording that cannot be shown to the model. `part` is its path in the input; null if
 * it came with an earlier request.
 */
export function mediaRefused(error: MediaError, part: string | null): ApiError {
  const { member, message, code, retryAfterSeconds } = error;
  if (retryAfterSeconds !== null) return serverOverloaded(message, error, retryAfterSeconds);
  if (error.isServerFault) return new ApiError({ status: 502, type: "server_error", code, message, cause: error });
  const param = part === null || member === null ? "input" : `${part}.${member}`;
  return invalidRequest(400, code, param, message);
}
