import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../access/caller.ts";
import { listFiles } from "./list-files.ts";

/** `GET /v1/vector_stores/{vector_store_id}/files`: newest first by default. */
export function listVectorStoreFiles(vectorStores: VectorStores): ResponsesApiHandlers<Caller>["listVectorStoreFiles"] {
  return async ({ path: { vector_store_id: id }, query }, { principal: { owner } }) => ({
    status: 200,
    body: await listFiles(vectorStores, owner, { storeId: id, batchId: null, query }),
  });
}
