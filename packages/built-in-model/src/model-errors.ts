import { ModelError } from "@antiphon/domain/models/model-error.ts";

export function callerFault(message: string, param: string, code: string | null = null): ModelError {
  return new ModelError(message, { status: 400, type: "invalid_request_error", code, param });
}

export function serverFault(message: string): ModelError {
  return new ModelError(message, { status: 500, type: "server_error", code: "server_error" });
}
