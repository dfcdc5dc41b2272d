import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { Caller } from "../access/caller.ts";
import { modelInPathNotFound, modelNotDeletable } from "../errors/model-errors.ts";
import { offeredModels } from "../show/offered-models.ts";

/** `DELETE /v1/models/{model}`: refused, because models are the operator's. */
export function deleteModel(engine: ModelEngine): ResponsesApiHandlers<Caller>["deleteModel"] {
  return async ({ path: { model } }, caller) => {
    const models = await offeredModels(engine, caller);
    throw models.some(({ id }) => id === model) ? modelNotDeletable(model) : modelInPathNotFound(model, models);
  };
}
