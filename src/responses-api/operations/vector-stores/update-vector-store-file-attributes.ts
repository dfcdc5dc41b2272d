import type { ResponsesApiHandlers } from "../../../../generated/responses-api/operations.ts";
import type { Caller } from "../../access/caller.ts";
import { storeFileNotFound } from "../../errors/vector-store-errors.ts";
import type { ResponseServices } from "../../services.ts";
import { attributesOf } from "../../vector-store-requests/files-to-add.ts";
import { requireStore } from "./require-store.ts";

/** `POST /v1/vector_stores/{vector_store_id}/files/{file_id}`: replaces the attributes used by search filters. */
export function updateVectorStoreFileAttributes(
  services: Pick<ResponseServices, "vectorStores">,
): ResponsesApiHandlers<Caller>["updateVectorStoreFileAttributes"] {
  return async ({ path: { vector_store_id: storeId, file_id: fileId }, body: { attributes } }, { principal }) => {
    await requireStore(services, principal.owner, storeId);
    const file = await services.vectorStores.changeAttributes(
      principal.owner,
      storeId,
      fileId,
      attributesOf(attributes),
    );
    if (file === null) throw storeFileNotFound(storeId, fileId);
    return { status: 200, body: file };
  };
}
