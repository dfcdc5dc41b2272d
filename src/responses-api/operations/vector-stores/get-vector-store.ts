import type { ResponsesApiHandlers } from "../../../../generated/responses-api/operations.ts";
import type { Caller } from "../../access/caller.ts";
import { vectorStoreNotFound } from "../../errors/vector-store-errors.ts";
import type { ResponseServices } from "../../services.ts";

/** `GET /v1/vector_stores/{vector_store_id}`. */
export function getVectorStore(
  services: Pick<ResponseServices, "vectorStores">,
): ResponsesApiHandlers<Caller>["getVectorStore"] {
  return async ({ path: { vector_store_id: id } }, { principal: { owner } }) => {
    const body = await services.vectorStores.findStore(owner, id);
    if (body === null) throw vectorStoreNotFound(id);
    return { status: 200, body };
  };
}
