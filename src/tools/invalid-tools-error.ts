import { ModelError } from "../runs/ports/model-error.ts";

/** The error of a request whose `tools` name something that cannot be used. */
export function invalidToolsError(status: number, message: string): ModelError {
  return new ModelError(message, { status, type: "invalid_request_error", param: "tools" });
}
