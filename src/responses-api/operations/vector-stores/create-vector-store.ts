import type { ResponsesApiHandlers } from "../../../../generated/responses-api/operations.ts";
import type { Caller } from "../../access/caller.ts";
import { vectorStoreRefused } from "../../errors/vector-store-errors.ts";
import type { ResponseServices } from "../../services.ts";
import { filesOfNewStore, storeToCreate } from "../../vector-store-requests/files-to-add.ts";

/** `POST /v1/vector_stores`: creates a store. Its files are ingested afterwards. */
export function createVectorStore(
  services: Pick<ResponseServices, "vectorStores" | "quota">,
): ResponsesApiHandlers<Caller>["createVectorStore"] {
  return async ({ body = {} }, { principal: { owner } }) => {
    await services.quota.requireRoom(owner);
    const added = await services.vectorStores.createStore(owner, storeToCreate(body), filesOfNewStore(body));
    if (added.type === "refused") throw vectorStoreRefused(added.refusal, "", "file_ids");
    return { status: 200, body: added.result };
  };
}
