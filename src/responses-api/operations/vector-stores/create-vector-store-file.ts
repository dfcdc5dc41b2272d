import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { StorageQuota } from "@antiphon/domain/storage.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../access/caller.ts";
import { vectorStoreRefused } from "../../errors/vector-store-errors.ts";
import { fileToAdd } from "../../vector-store-requests/files-to-add.ts";

/** `POST /v1/vector_stores/{vector_store_id}/files`: adds a file, which is ingested afterwards. */
export function createVectorStoreFile(
  vectorStores: VectorStores,
  quota: StorageQuota,
): ResponsesApiHandlers<Caller>["createVectorStoreFile"] {
  return async ({ path: { vector_store_id: id }, body }, { principal: { owner } }) => {
    await quota.requireRoom(owner);
    const addition = await vectorStores.addFile(owner, id, fileToAdd(body));
    if (addition.type === "refused") throw vectorStoreRefused(addition.refusal, id, "file_id");
    return { status: 200, body: addition.result };
  };
}
