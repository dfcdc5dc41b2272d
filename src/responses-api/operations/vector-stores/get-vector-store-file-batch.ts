import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../access/caller.ts";
import { fileBatchNotFound } from "../../errors/vector-store-errors.ts";
import { pollAfter } from "./poll-after.ts";
import { requireStore } from "./require-store.ts";

/** `GET /v1/vector_stores/{vector_store_id}/file_batches/{batch_id}`. */
export function getVectorStoreFileBatch(
  vectorStores: VectorStores,
): ResponsesApiHandlers<Caller>["getVectorStoreFileBatch"] {
  return async ({ path: { vector_store_id: storeId, batch_id: batchId } }, { principal: { owner } }) => {
    await requireStore(vectorStores, owner, storeId);
    const body = await vectorStores.findBatch(owner, storeId, batchId);
    if (body === null) throw fileBatchNotFound(storeId, batchId);
    return { status: 200, headers: pollAfter(body), body };
  };
}
