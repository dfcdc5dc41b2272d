import type { ResponsesApiHandlers } from "../../../../generated/responses-api/operations.ts";
import type { Caller } from "../../access/caller.ts";
import { fileBatchNotFound } from "../../errors/vector-store-errors.ts";
import type { ResponseServices } from "../../services.ts";
import { pollAfter } from "./poll-after.ts";
import { requireStore } from "./require-store.ts";

/** `GET /v1/vector_stores/{vector_store_id}/file_batches/{batch_id}`. */
export function getVectorStoreFileBatch(
  services: Pick<ResponseServices, "vectorStores">,
): ResponsesApiHandlers<Caller>["getVectorStoreFileBatch"] {
  return async ({ path: { vector_store_id: storeId, batch_id: batchId } }, { principal: { owner } }) => {
    await requireStore(services, owner, storeId);
    const body = await services.vectorStores.findBatch(owner, storeId, batchId);
    if (body === null) throw fileBatchNotFound(storeId, batchId);
    return { status: 200, headers: pollAfter(body), body };
  };
}
