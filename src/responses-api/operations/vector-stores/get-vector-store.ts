import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../access/caller.ts";
import { vectorStoreNotFound } from "../../errors/vector-store-errors.ts";

/** `GET /v1/vector_stores/{vector_store_id}`. */
export function getVectorStore(vectorStores: VectorStores): ResponsesApiHandlers<Caller>["getVectorStore"] {
  return async ({ path: { vector_store_id: id } }, { principal: { owner } }) => {
    const body = await vectorStores.findStore(owner, id);
    if (body === null) throw vectorStoreNotFound(id);
    return { status: 200, body };
  };
}
