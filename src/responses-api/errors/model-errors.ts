import { ApiError } from "@antiphon/base/api-error.ts";
import { nearestModel } from "@antiphon/base/nearest-word.ts";
import type { Model } from "@antiphon/contracts/responses-api/types.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { invalidRequest } from "./invalid-request.ts";

/** `offered`: the existing models. */
export function modelInPathNotFound(model: string, models: readonly Pick<Model, "id">[]): ApiError {
  const near = nearestModel(
    model,
    models.map(({ id }) => id),
  );
  const hint = near === null ? "" : ` Did you mean '${near}'?`;
  return invalidRequest(404, "model_not_found", "model", `The model '${model}' does not exist.${hint}`);
}

export function modelNotDeletable(model: string): ApiError {
  const message = `The model '${model}' cannot be deleted: the operator of this server chooses its models.`;
  return invalidRequest(403, "model_not_deletable", "model", message);
}

/** The error for an unknown model in a request body; `modelInPathNotFound` is for a model in the path. */
export function modelInBodyNotFound(model: string): ApiError {
  return invalidRequest(400, "model_not_found", "model", `The requested model '${model}' does not exist.`);
}

/** Throws a `ModelError` as an `ApiError`, and any other error unchanged. */
export function rethrowModelError(error: unknown): never {
  throw error instanceof ModelError ? modelRefused(error) : error;
}

/** The HTTP error for a model server that refused before its answer began. */
export function modelRefused(error: ModelError): ApiError {
  const retry = error.retryAfterSeconds;
  return new ApiError({
    status: error.status,
    type: error.type,
    code: error.code,
    param: error.param,
    message: error.message,
    headers: retry === null ? {} : { "Retry-After": String(Math.max(1, Math.ceil(retry))) },
    quoted: error.quoted,
    cause: error,
  });
}

export function inputTooLong(): ApiError {
  return invalidRequest(
    400,
    "context_length_exceeded",
    "input",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
  );
}
