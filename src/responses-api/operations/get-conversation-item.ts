import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { ConversationStore } from "@antiphon/domain/conversations.ts";
import type { Caller } from "../access/caller.ts";
import { conversationItemNotFound, conversationNotFound } from "../errors/conversation-errors.ts";

/** `GET /v1/conversations/{conversation_id}/items/{item_id}`. */
export function getConversationItem(
  conversations: ConversationStore,
): ResponsesApiHandlers<Caller>["getConversationItem"] {
  return async ({ path: { conversation_id: id, item_id: itemId } }, { principal: { owner } }) => {
    const body = await conversations.findItem(owner, id, itemId);
    if (body !== null) return { status: 200, body };
    const isKnown = (await conversations.findConversation(owner, id)) !== null;
    throw isKnown ? conversationItemNotFound(itemId) : conversationNotFound(id);
  };
}
