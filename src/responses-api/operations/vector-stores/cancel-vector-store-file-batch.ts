import type { ResponsesApiHandlers } from "../../../../generated/responses-api/operations.ts";
import type { Caller } from "../../access/caller.ts";
import { fileBatchNotFound } from "../../errors/vector-store-errors.ts";
import type { ResponseServices } from "../../services.ts";
import { requireStore } from "./require-store.ts";

/**
 * `POST /v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel`: cancels files that are not ingested yet.
 */
export function cancelVectorStoreFileBatch(
  services: Pick<ResponseServices, "vectorStores">,
): ResponsesApiHandlers<Caller>["cancelVectorStoreFileBatch"] {
  return async ({ path: { vector_store_id: storeId, batch_id: batchId } }, { principal: { owner } }) => {
    await requireStore(services, owner, storeId);
    const body = await services.vectorStores.cancelBatch(owner, storeId, batchId);
    if (body === null) throw fileBatchNotFound(storeId, batchId);
    return { status: 200, body };
  };
}
