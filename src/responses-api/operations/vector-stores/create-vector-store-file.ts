import type { ResponsesApiHandlers } from "../../../../generated/responses-api/operations.ts";
import type { Caller } from "../../access/caller.ts";
import { vectorStoreRefused } from "../../errors/vector-store-errors.ts";
import type { ResponseServices } from "../../services.ts";
import { fileToAdd } from "../../vector-store-requests/files-to-add.ts";

/** `POST /v1/vector_stores/{vector_store_id}/files`: adds a file, which is ingested afterwards. */
export function createVectorStoreFile(
  services: Pick<ResponseServices, "vectorStores" | "quota">,
): ResponsesApiHandlers<Caller>["createVectorStoreFile"] {
  return async ({ path: { vector_store_id: id }, body }, { principal: { owner } }) => {
    await services.quota.requireRoom(owner);
    const added = await services.vectorStores.addFile(owner, id, fileToAdd(body));
    if (added.type === "refused") throw vectorStoreRefused(added.refusal, id, "file_id");
    return { status: 200, body: added.result };
  };
}
