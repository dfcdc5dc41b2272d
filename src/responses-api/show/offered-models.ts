import type { Model } from "../../../generated/responses-api/types.ts";
import { type ModelDescription, type ModelEngine, ModelError } from "../../runs/ports.ts";
import { modelRefused } from "../errors/model-errors.ts";

/** The models that the model server offers, as the API shows them. Throws the catalogue's error where it cannot say. */
export async function offeredModels(engine: ModelEngine, signal: AbortSignal): Promise<Model[]> {
  try {
    return (await engine.listModels(signal)).map(modelBody);
  } catch (error) {
    throw error instanceof ModelError ? modelRefused(error) : error;
  }
}

function modelBody({ id, created, ownedBy, description }: ModelDescription): Model {
  return { id, object: "model", created, owned_by: ownedBy, ...(description === undefined ? {} : { description }) };
}
