import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ApiContext } from "../access/context.ts";
import { contextTooLong, cursorNotFound, responseNotFound } from "../errors/state-errors.ts";
import { ContextTooLong, type InputPageRequest, type ResponseStore } from "../ports.ts";
import { itemList } from "../show/item-list.ts";

const PAGE_ITEMS_DEFAULT = 20;

type Store = Pick<ResponseStore, "listInputItems" | "findResponse">;

/**
 * `GET /v1/responses/{response_id}/input_items`: the items supplied to that request, or with `history` all that its
 * model was shown; newest first unless asked otherwise.
 */
export function listInputItems(store: Store): ResponsesApiHandlers<ApiContext>["listInputItems"] {
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
