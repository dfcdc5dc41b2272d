import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../access/caller.ts";
import { storeFileNotFound } from "../../errors/vector-store-errors.ts";
import { attributesOf } from "../../vector-store-requests/files-to-add.ts";
import { requireStore } from "./require-store.ts";

/** `POST /v1/vector_stores/{vector_store_id}/files/{file_id}`: replaces the attributes used by search filters. */
export function updateVectorStoreFileAttributes(
  vectorStores: VectorStores,
): ResponsesApiHandlers<Caller>["updateVectorStoreFileAttributes"] {
  return async ({ path: { vector_store_id: storeId, file_id: fileId }, body: { attributes } }, { principal }) => {
    await requireStore(vectorStores, principal.owner, storeId);
    const file = await vectorStores.changeAttributes(principal.owner, storeId, fileId, attributesOf(attributes));
    if (file === null) throw storeFileNotFound(storeId, fileId);
    return { status: 200, body: file };
  };
}
