import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { Caller } from "../access/caller.ts";
import { modelInPathNotFound } from "../errors/model-errors.ts";
import { offeredModels } from "../show/offered-models.ts";

/** `GET /v1/models/{model}`. */
export function getModel(engine: ModelEngine): ResponsesApiHandlers<Caller>["getModel"] {
  return async ({ path }, caller) => {
    const models = await offeredModels(engine, caller);
    const model = models.find(({ id }) => id === path.model);
    if (model === undefined) throw modelInPathNotFound(path.model, models);
    return { status: 200, body: model };
  };
}
