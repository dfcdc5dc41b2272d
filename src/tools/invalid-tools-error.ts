import { ModelError } from "@antiphon/domain/models/model-error.ts";

/** The error of a request with an unusable entry in `tools`. */
export function invalidToolsError(status: number, message: string): ModelError {
  return new ModelError(message, { status, type: "invalid_request_error", param: "tools" });
}
