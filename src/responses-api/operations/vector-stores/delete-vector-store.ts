import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../access/caller.ts";
import { vectorStoreNotFound } from "../../errors/vector-store-errors.ts";

/** `DELETE /v1/vector_stores/{vector_store_id}`: removes a store and its index. Its uploaded files stay. */
export function deleteVectorStore(vectorStores: VectorStores): ResponsesApiHandlers<Caller>["deleteVectorStore"] {
  return async ({ path: { vector_store_id: id } }, { principal: { owner } }) => {
    if (!(await vectorStores.deleteStore(owner, id))) throw vectorStoreNotFound(id);
    return { status: 200, body: { id, object: "vector_store.deleted", deleted: true } };
  };
}
