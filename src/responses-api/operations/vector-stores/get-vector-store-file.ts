import type { ResponsesApiHandlers } from "../../../../generated/responses-api/operations.ts";
import type { Caller } from "../../access/caller.ts";
import { storeFileNotFound } from "../../errors/vector-store-errors.ts";
import type { ResponseServices } from "../../services.ts";
import { pollAfter } from "./poll-after.ts";
import { requireStore } from "./require-store.ts";

/** `GET /v1/vector_stores/{vector_store_id}/files/{file_id}`. */
export function getVectorStoreFile(
  services: Pick<ResponseServices, "vectorStores">,
): ResponsesApiHandlers<Caller>["getVectorStoreFile"] {
  return async ({ path: { vector_store_id: storeId, file_id: fileId } }, { principal: { owner } }) => {
    await requireStore(services, owner, storeId);
    const body = await services.vectorStores.findFile(owner, storeId, fileId);
    if (body === null) throw storeFileNotFound(storeId, fileId);
    return { status: 200, headers: pollAfter(body), body };
  };
}
