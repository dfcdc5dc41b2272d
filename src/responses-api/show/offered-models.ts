import type { Model } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelDescription, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { isAmongOwners } from "@antiphon/domain/models/model-policy.ts";
import type { Caller } from "../access/caller.ts";
import { modelRefused } from "../errors/model-errors.ts";

/** The models that the caller may use, in the API's form. Throws an `ApiError` if it cannot list them. */
export async function offeredModels(
  engine: ModelEngine,
  { principal, signal }: Pick<Caller, "principal" | "signal">,
): Promise<Model[]> {
  try {
    const models = await engine.listModels(signal);
    return models.filter(({ owners }) => isAmongOwners(owners, principal.owner)).map(modelBody);
  } catch (error) {
    throw error instanceof ModelError ? modelRefused(error) : error;
  }
}

function modelBody({ id, created, ownedBy, description }: ModelDescription): Model {
  return {
    id,
    object: "model",
    created,
    owned_by: ownedBy,
    type: "model",
    display_name: id,
    created_at: new Date(created * 1000).toISOString(),
    ...(description === undefined ? {} : { description }),
  };
}
