import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Model } from "../../../generated/responses-api/types.ts";
import { type ModelDescription, type ModelEngine, ModelError } from "../../runs/ports.ts";
import type { ApiContext } from "../access/context.ts";
import { modelRefused, modelUnknown } from "../errors/model-errors.ts";

/** `GET /v1/models`: what the model server offers. */
export function listModels(engine: ModelEngine): ResponsesApiHandlers<ApiContext>["listModels"] {
  return async (_request, { signal }) => {
    const models = await offered(engine, signal);
    return { status: 200, body: { object: "list", data: models.map(modelBody) } };
  };
}

/** `GET /v1/models/{model}`. */
export function getModel(engine: ModelEngine): ResponsesApiHandlers<ApiContext>["getModel"] {
  return async ({ path }, { signal }) => {
    const found = (await offered(engine, signal)).find(({ id }) => id === path.model);
    if (found === undefined) throw modelUnknown(path.model);
    return { status: 200, body: modelBody(found) };
  };
}

async function offered(engine: ModelEngine, signal: AbortSignal): Promise<readonly ModelDescription[]> {
  try {
    return await engine.listModels(signal);
  } catch (error) {
    throw error instanceof ModelError ? modelRefused(error) : error;
  }
}

function modelBody({ id, created, ownedBy, description }: ModelDescription): Model {
  return { id, object: "model", created, owned_by: ownedBy, ...(description === undefined ? {} : { description }) };
}
