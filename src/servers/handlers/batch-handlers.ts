import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import { cancelBatch } from "../../responses-api/operations/batches/cancel-batch.ts";
import { type BatchContext, createBatch } from "../../responses-api/operations/batches/create-batch.ts";
import { getBatch } from "../../responses-api/operations/batches/get-batch.ts";
import { listBatches } from "../../responses-api/operations/batches/list-batches.ts";

type BatchOperation = "cancelBatch" | "createBatch" | "getBatch" | "listBatches";

/** The operations on batches. */
export function batchHandlers(context: BatchContext): Pick<ResponsesApiHandlers<Caller>, BatchOperation> {
  const { batches } = context;
  return {
    cancelBatch: cancelBatch(batches),
    createBatch: createBatch(context),
    getBatch: getBatch(batches),
    listBatches: listBatches(batches),
  };
}
