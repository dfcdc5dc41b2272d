import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ModelEngine } from "../../runs/ports.ts";
import type { ApiContext } from "../access/context.ts";
import { offeredModels } from "../show/offered-models.ts";

/** `GET /v1/models`: what the model server offers. */
export function listModels(engine: ModelEngine): ResponsesApiHandlers<ApiContext>["listModels"] {
  return async (_request, { signal }) => {
    return { status: 200, body: { object: "list", data: await offeredModels(engine, signal) } };
  };
}
