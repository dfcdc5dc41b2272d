import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Batches } from "@antiphon/domain/batches/batches.ts";
import type { Caller } from "../../access/caller.ts";
import { batchNotFound } from "../../errors/file-errors.ts";

/** `POST /v1/batches/{batch_id}/cancel`: lines that have begun end. */
export function cancelBatch(batches: Pick<Batches, "cancel">): ResponsesApiHandlers<Caller>["cancelBatch"] {
  return async ({ path: { batch_id: id } }, { principal: { owner } }) => {
    const batch = await batches.cancel(owner, id);
    if (batch === null) throw batchNotFound(id);
    return { status: 200, body: batch };
  };
}
