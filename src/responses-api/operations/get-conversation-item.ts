import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ApiContext } from "../access/context.ts";
import { conversationItemNotFound, conversationNotFound } from "../errors/conversation-errors.ts";
import type { ConversationStore } from "../ports.ts";

/** `GET /v1/conversations/{conversation_id}/items/{item_id}`. */
export function getConversationItem(
  conversations: Pick<ConversationStore, "findItem" | "findConversation">,
): ResponsesApiHandlers<ApiContext>["getConversationItem"] {
  return async ({ path: { conversation_id: id, item_id: itemId } }, { principal: { owner } }) => {
    const body = await conversations.findItem(owner, id, itemId);
    if (body !== null) return { status: 200, body };
    const isKnown = (await conversations.findConversation(owner, id)) !== null;
    throw isKnown ? conversationItemNotFound(itemId) : conversationNotFound(id);
  };
}
