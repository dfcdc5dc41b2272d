import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ApiError } from "../../base/api-error.ts";
import type { Owner } from "../../runs/ports.ts";
import type { ApiContext } from "../context.ts";
import { notImplemented } from "../errors/server-errors.ts";
import { cursorNotFound, responseNotFound } from "../errors/state-errors.ts";
import type { ResponseStore } from "../ports.ts";

const PAGE_ITEMS_DEFAULT = 20;

/** `GET /v1/responses/{response_id}/input_items`: the items supplied to that request, newest first unless asked otherwise. */
export function listInputItems(
  store: Pick<ResponseStore, "listInputItems" | "findResponse">,
): ResponsesApiHandlers<ApiContext>["listInputItems"] {
  const reasonForNone = async (id: string, after: string | undefined, owner: Owner): Promise<ApiError> => {
    const isKnown = after !== undefined && (await store.findResponse(owner, id)) !== null;
    return isKnown ? cursorNotFound(after) : responseNotFound(id);
  };
  return async ({ path, query }, { principal }) => {
    if (query.history === true) throw notImplemented("listInputItems with history=true");
    const page = await store.listInputItems(principal.owner, path.response_id, {
      limit: query.limit ?? PAGE_ITEMS_DEFAULT,
      order: query.order ?? "desc",
      after: query.after ?? null,
    });
    if (page === null) throw await reasonForNone(path.response_id, query.after, principal.owner);
    return {
      status: 200,
      body: {
        object: "list",
        data: [...page.items],
        first_id: page.items[0]?.id ?? null,
        has_more: page.hasMore,
        last_id: page.items.at(-1)?.id ?? null,
      },
    };
  };
}
