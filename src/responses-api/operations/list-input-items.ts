import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { StoredItem } from "../../../generated/responses-api/types.ts";
import type { Owner } from "../../runs/ports.ts";
import type { ApiContext } from "../context.ts";
import { cursorNotFound, responseNotFound } from "../errors/state-errors.ts";
import { itemList } from "../item-list.ts";
import { pageOf } from "../page-items.ts";
import type { PageRequest, ResponseStore } from "../ports.ts";

const PAGE_ITEMS_DEFAULT = 20;
/** More than any request can hold. */
const ALL_ITEMS: PageRequest = { limit: 10_000_000, order: "asc", after: null };

type Store = Pick<ResponseStore, "listInputItems" | "findResponse" | "loadChain">;

/** `GET /v1/responses/{response_id}/input_items`: the items supplied to that request, or with `history` all that its model was shown; newest first unless asked otherwise. */
export function listInputItems(store: Store): ResponsesApiHandlers<ApiContext>["listInputItems"] {
  return async ({ path: { response_id: id }, query }, { principal: { owner } }) => {
    const request: PageRequest = {
      limit: query.limit ?? PAGE_ITEMS_DEFAULT,
      order: query.order ?? "desc",
      after: query.after ?? null,
    };
    const before = query.before ?? null;
    if (query.history !== true && before === null) {
      const page = await store.listInputItems(owner, id, request);
      if (page !== null) return { status: 200, body: itemList(page) };
    }
    const response = await store.findResponse(owner, id);
    if (response === null) throw responseNotFound(id);
    const previousId = query.history === true ? response.previous_response_id : null;
    const items = [...(await chainItems(store, owner, previousId)), ...(await ownItems(store, owner, id))];
    const page = pageOf(items, request, before);
    if (page === null) throw cursorNotFound(request.after ?? before ?? "");
    return { status: 200, body: itemList(page) };
  };
}

async function ownItems(store: Store, owner: Owner, id: string): Promise<readonly StoredItem[]> {
  return (await store.listInputItems(owner, id, ALL_ITEMS))?.items ?? [];
}

async function chainItems(store: Store, owner: Owner, id: string | null): Promise<readonly StoredItem[]> {
  const chain = id === null ? null : await store.loadChain(owner, id);
  return (chain ?? []).flatMap((link) => link.items);
}
