import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { InputPageRequest, ResponseStore } from "@antiphon/domain/responses.ts";
import { ContextTooLong } from "@antiphon/domain/storage.ts";
import type { Caller } from "../access/caller.ts";
import { contextTooLong, cursorNotFound, responseNotFound } from "../errors/state-errors.ts";
import { itemList } from "../show/item-list.ts";

const PAGE_ITEMS_DEFAULT = 20;

/**
 * `GET /v1/responses/{response_id}/input_items`: the items sent with the create call; with `history`, also the items
 * before them in its chain. Newest first by default.
 */
export function listInputItems(store: ResponseStore): ResponsesApiHandlers<Caller>["listInputItems"] {
  return async ({ path: { response_id: id }, query }, { principal: { owner } }) => {
    const request: InputPageRequest = {
      limit: query.limit ?? PAGE_ITEMS_DEFAULT,
      order: query.order ?? "desc",
      after: query.after ?? null,
      before: query.before ?? null,
      history: query.history === true,
    };
    const page = await store.listInputItems(owner, id, request).catch((error: unknown) => {
      throw error instanceof ContextTooLong ? contextTooLong("history") : error;
    });
    if (page !== null) return { status: 200, body: itemList(page) };
    if ((await store.findResponse(owner, id)) === null) throw responseNotFound(id);
    throw cursorNotFound(request.after ?? request.before ?? "");
  };
}
