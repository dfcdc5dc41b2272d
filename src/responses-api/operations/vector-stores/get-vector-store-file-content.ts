import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../access/caller.ts";
import { storeFileNotFound } from "../../errors/vector-store-errors.ts";
import { requireStore } from "./require-store.ts";

/** `GET /v1/vector_stores/{vector_store_id}/files/{file_id}/content`: the text of a file as ingested. */
export function getVectorStoreFileContent(
  vectorStores: VectorStores,
): ResponsesApiHandlers<Caller>["getVectorStoreFileContent"] {
  return async ({ path: { vector_store_id: storeId, file_id: fileId } }, { principal: { owner } }) => {
    await requireStore(vectorStores, owner, storeId);
    const texts = await vectorStores.readFile(owner, storeId, fileId);
    if (texts === null) throw storeFileNotFound(storeId, fileId);
    const data = texts.map((text) => ({ type: "text" as const, text }));
    return { status: 200, body: { object: "vector_store.file_content.page", data, has_more: false, next_page: null } };
  };
}
