import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Batches } from "@antiphon/domain/batches/batches.ts";
import type { Caller } from "../../access/caller.ts";
import { cursorNotFound } from "../../errors/state-errors.ts";
import { listBody } from "../../show/list-body.ts";

const PAGE_ENTRIES_DEFAULT = 20;

/** `GET /v1/batches`: newest first. */
export function listBatches(batches: Pick<Batches, "list">): ResponsesApiHandlers<Caller>["listBatches"] {
  return async ({ query: { limit = PAGE_ENTRIES_DEFAULT, after = null } }, { principal: { owner } }) => {
    const page = await batches.list(owner, { limit, order: "desc", after });
    if (page === null) throw cursorNotFound(after ?? "");
    return { status: 200, body: listBody(page) };
  };
}
