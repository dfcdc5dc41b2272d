import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { ConversationStore } from "@antiphon/domain/conversations.ts";
import type { Caller } from "../access/caller.ts";
import { conversationNotFound, conversationRefused } from "../errors/conversation-errors.ts";

/**
 * `DELETE /v1/conversations/{conversation_id}/items/{item_id}`. Refused while a response is in progress in the
 * conversation.
 */
export function deleteConversationItem(
  conversations: ConversationStore,
): ResponsesApiHandlers<Caller>["deleteConversationItem"] {
  return async ({ path: { conversation_id: id, item_id: itemId } }, { principal: { owner } }) => {
    const refusal = await conversations.deleteItem(owner, id, itemId);
    if (refusal !== null) throw conversationRefused(refusal, id, itemId);
    const body = await conversations.findConversation(owner, id);
    if (body === null) throw conversationNotFound(id); // Deleted in the meantime.
    return { status: 200, body };
  };
}
