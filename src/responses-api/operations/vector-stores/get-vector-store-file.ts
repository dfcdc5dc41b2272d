import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../access/caller.ts";
import { storeFileNotFound } from "../../errors/vector-store-errors.ts";
import { pollAfter } from "./poll-after.ts";
import { requireStore } from "./require-store.ts";

/** `GET /v1/vector_stores/{vector_store_id}/files/{file_id}`. */
export function getVectorStoreFile(vectorStores: VectorStores): ResponsesApiHandlers<Caller>["getVectorStoreFile"] {
  return async ({ path: { vector_store_id: storeId, file_id: fileId } }, { principal: { owner } }) => {
    await requireStore(vectorStores, owner, storeId);
    const body = await vectorStores.findFile(owner, storeId, fileId);
    if (body === null) throw storeFileNotFound(storeId, fileId);
    return { status: 200, headers: pollAfter(body), body };
  };
}
