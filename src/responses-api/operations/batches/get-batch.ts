import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Batches } from "@antiphon/domain/batches/batches.ts";
import type { Caller } from "../../access/caller.ts";
import { batchNotFound } from "../../errors/file-errors.ts";

/** `GET /v1/batches/{batch_id}`. */
export function getBatch(batches: Pick<Batches, "find">): ResponsesApiHandlers<Caller>["getBatch"] {
  return async ({ path: { batch_id: id } }, { principal: { owner } }) => {
    const batch = await batches.find(owner, id);
    if (batch === null) throw batchNotFound(id);
    return { status: 200, body: batch };
  };
}
