import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";
import { conversationRefused } from "../errors/conversation-errors.ts";
import type { HistoryContext } from "../input/load-history.ts";
import { normalizeConversationItems } from "../input/normalize-conversation-items.ts";
import { itemList } from "../show/item-list.ts";

/**
 * `POST /v1/conversations/{conversation_id}/items`: appends all items or none. Refused while a response is in progress
 * in the conversation.
 */
export function createConversationItems(
  stores: HistoryContext,
): ResponsesApiHandlers<Caller>["createConversationItems"] {
  return async ({ path: { conversation_id: id }, body }, { principal: { owner } }) => {
    const items = await normalizeConversationItems(stores, owner, { conversationId: id, items: body.items });
    const refusal = await stores.conversations.addItems(owner, id, items);
    if (refusal !== null) throw conversationRefused(refusal, id);
    return { status: 200, body: itemList({ items, hasMore: false }) };
  };
}
