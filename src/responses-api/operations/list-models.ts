import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";
import type { ResponseServices } from "../services.ts";
import { offeredModels } from "../show/offered-models.ts";

/** `GET /v1/models`: the model server's models. */
export function listModels({ engine }: Pick<ResponseServices, "engine">): ResponsesApiHandlers<Caller>["listModels"] {
  return async (_request, { signal }) => {
    return { status: 200, body: { object: "list", data: await offeredModels(engine, signal) } };
  };
}
