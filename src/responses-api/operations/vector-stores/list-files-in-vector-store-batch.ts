import type { ResponsesApiHandlers } from "../../../../generated/responses-api/operations.ts";
import type { Caller } from "../../access/caller.ts";
import type { ResponseServices } from "../../services.ts";
import { listFiles } from "./list-files.ts";

/** `GET /v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/files`: newest first by default. */
export function listFilesInVectorStoreBatch(
  services: Pick<ResponseServices, "vectorStores">,
): ResponsesApiHandlers<Caller>["listFilesInVectorStoreBatch"] {
  return async ({ path: { vector_store_id: id, batch_id: batchId }, query }, { principal: { owner } }) => ({
    status: 200,
    body: await listFiles(services, owner, { storeId: id, batchId, query }),
  });
}
