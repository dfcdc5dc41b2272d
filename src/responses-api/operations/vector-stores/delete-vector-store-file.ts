import type { ResponsesApiHandlers } from "../../../../generated/responses-api/operations.ts";
import type { Caller } from "../../access/caller.ts";
import { storeFileNotFound } from "../../errors/vector-store-errors.ts";
import type { ResponseServices } from "../../services.ts";
import { requireStore } from "./require-store.ts";

/** `DELETE /v1/vector_stores/{vector_store_id}/files/{file_id}`: removes a file from the store. The upload stays. */
export function deleteVectorStoreFile(
  services: Pick<ResponseServices, "vectorStores">,
): ResponsesApiHandlers<Caller>["deleteVectorStoreFile"] {
  return async ({ path: { vector_store_id: storeId, file_id: id } }, { principal: { owner } }) => {
    await requireStore(services, owner, storeId);
    if (!(await services.vectorStores.removeFile(owner, storeId, id))) throw storeFileNotFound(storeId, id);
    return { status: 200, body: { id, object: "vector_store.file.deleted", deleted: true } };
  };
}
