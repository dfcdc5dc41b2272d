import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { StorageQuota } from "@antiphon/domain/storage.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../access/caller.ts";
import { vectorStoreRefused } from "../../errors/vector-store-errors.ts";
import { filesOfNewStore, storeToCreate } from "../../vector-store-requests/files-to-add.ts";

/** `POST /v1/vector_stores`: creates a store. Its files are ingested afterwards. */
export function createVectorStore(
  vectorStores: VectorStores,
  quota: StorageQuota,
): ResponsesApiHandlers<Caller>["createVectorStore"] {
  return async ({ body = {} }, { principal: { owner } }) => {
    await quota.requireRoom(owner);
    const addition = await vectorStores.createStore(owner, storeToCreate(body), filesOfNewStore(body));
    if (addition.type === "refused") throw vectorStoreRefused(addition.refusal, "", "file_ids");
    return { status: 200, body: addition.result };
  };
}
