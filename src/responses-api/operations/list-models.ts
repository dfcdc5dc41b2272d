import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { Caller } from "../access/caller.ts";
import { offeredModels } from "../show/offered-models.ts";

/** `GET /v1/models`: the models that the model server offers. */
export function listModels(engine: ModelEngine): ResponsesApiHandlers<Caller>["listModels"] {
  return async (_request, caller) => {
    const data = await offeredModels(engine, caller);
    const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
    return { status: 200, body: { object: "list", data, has_more: false, ...ends } };
  };
}
