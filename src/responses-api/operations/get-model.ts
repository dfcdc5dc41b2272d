import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ModelEngine } from "../../runs/ports/model-engine.ts";
import type { Caller } from "../access/caller.ts";
import { modelInPathNotFound } from "../errors/model-errors.ts";
import { offeredModels } from "../show/offered-models.ts";

/** `GET /v1/models/{model}`. */
export function getModel(engine: ModelEngine): ResponsesApiHandlers<Caller>["getModel"] {
  return async ({ path }, { signal }) => {
    const offered = await offeredModels(engine, signal);
    const found = offered.find(({ id }) => id === path.model);
    if (found === undefined) throw modelInPathNotFound(path.model, offered);
    return { status: 200, body: found };
  };
}
