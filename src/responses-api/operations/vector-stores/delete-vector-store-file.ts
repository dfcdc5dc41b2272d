import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../access/caller.ts";
import { storeFileNotFound } from "../../errors/vector-store-errors.ts";
import { requireStore } from "./require-store.ts";

/** `DELETE /v1/vector_stores/{vector_store_id}/files/{file_id}`: removes a file from the store. The upload stays. */
export function deleteVectorStoreFile(
  vectorStores: VectorStores,
): ResponsesApiHandlers<Caller>["deleteVectorStoreFile"] {
  return async ({ path: { vector_store_id: storeId, file_id: id } }, { principal: { owner } }) => {
    await requireStore(vectorStores, owner, storeId);
    if (!(await vectorStores.removeFile(owner, storeId, id))) throw storeFileNotFound(storeId, id);
    return { status: 200, body: { id, object: "vector_store.file.deleted", deleted: true } };
  };
}
