import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";
import { modelInPathNotFound, modelNotDeletable } from "../errors/model-errors.ts";
import type { ResponseServices } from "../services.ts";
import { offeredModels } from "../show/offered-models.ts";

/** `DELETE /v1/models/{model}`: refused, because models belong to the operator. */
export function deleteModel({ engine }: Pick<ResponseServices, "engine">): ResponsesApiHandlers<Caller>["deleteModel"] {
  return async ({ path: { model } }, { signal }) => {
    const offered = await offeredModels(engine, signal);
    throw offered.some(({ id }) => id === model) ? modelNotDeletable(model) : modelInPathNotFound(model, offered);
  };
}
