import type { ApiError } from "@antiphon/base/api-error.ts";
import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { ConversationStore } from "@antiphon/domain/conversations.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { Caller } from "../access/caller.ts";
import { conversationNotFound } from "../errors/conversation-errors.ts";
import { cursorNotFound } from "../errors/state-errors.ts";
import { itemList } from "../show/item-list.ts";

const PAGE_ITEMS_DEFAULT = 20;

/** `GET /v1/conversations/{conversation_id}/items`: newest first by default. */
export function listConversationItems(
  conversations: ConversationStore,
): ResponsesApiHandlers<Caller>["listConversationItems"] {
  const reasonForNone = async (id: string, after: string | undefined, owner: Owner): Promise<ApiError> => {
    const isKnown = after !== undefined && (await conversations.findConversation(owner, id)) !== null;
    return isKnown ? cursorNotFound(after) : conversationNotFound(id);
  };
  return async ({ path: { conversation_id: id }, query }, { principal: { owner } }) => {
    const page = await conversations.listItems(owner, id, {
      limit: query.limit ?? PAGE_ITEMS_DEFAULT,
      order: query.order ?? "desc",
      after: query.after ?? null,
    });
    if (page === null) throw await reasonForNone(id, query.after, owner);
    return { status: 200, body: itemList(page) };
  };
}
