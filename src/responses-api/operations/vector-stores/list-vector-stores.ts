import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../access/caller.ts";
import { listCursorNotFound } from "../../errors/vector-store-errors.ts";
import { listBody } from "../../show/list-body.ts";
import { storePage } from "../../vector-store-requests/list-page.ts";

/** `GET /v1/vector_stores`: the owner's stores, newest first by default. */
export function listVectorStores(vectorStores: VectorStores): ResponsesApiHandlers<Caller>["listVectorStores"] {
  return async ({ query }, { principal: { owner } }) => {
    const page = await vectorStores.listStores(owner, storePage(query));
    if (page === null) throw listCursorNotFound(query);
    return { status: 200, body: listBody(page) };
  };
}
