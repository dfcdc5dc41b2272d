import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { StorageQuota } from "@antiphon/domain/storage.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../access/caller.ts";
import { vectorStoreRefused } from "../../errors/vector-store-errors.ts";
import { filesOfBatch } from "../../vector-store-requests/files-to-add.ts";

/** `POST /v1/vector_stores/{vector_store_id}/file_batches`: adds several files, which are ingested afterwards. */
export function createVectorStoreFileBatch(
  vectorStores: VectorStores,
  quota: StorageQuota,
): ResponsesApiHandlers<Caller>["createVectorStoreFileBatch"] {
  return async ({ path: { vector_store_id: id }, body }, { principal: { owner } }) => {
    await quota.requireRoom(owner);
    const addition = await vectorStores.addBatch(owner, id, filesOfBatch(body));
    if (addition.type === "refused")
      throw vectorStoreRefused(addition.refusal, id, body.files === undefined ? "file_ids" : "files");
    return { status: 200, body: addition.result };
  };
}
