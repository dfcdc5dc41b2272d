import type { ResponsesApiHandlers } from "../../../../generated/responses-api/operations.ts";
import type { Caller } from "../../access/caller.ts";
import type { ResponseServices } from "../../services.ts";
import { listFiles } from "./list-files.ts";

/** `GET /v1/vector_stores/{vector_store_id}/files`: newest first by default. */
export function listVectorStoreFiles(
  services: Pick<ResponseServices, "vectorStores">,
): ResponsesApiHandlers<Caller>["listVectorStoreFiles"] {
  return async ({ path: { vector_store_id: id }, query }, { principal: { owner } }) => ({
    status: 200,
    body: await listFiles(services, owner, { storeId: id, batchId: null, query }),
  });
}
