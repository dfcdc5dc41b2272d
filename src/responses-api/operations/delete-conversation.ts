import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { ConversationStore } from "@antiphon/domain/conversations.ts";
import type { Caller } from "../access/caller.ts";
import { conversationRefused } from "../errors/conversation-errors.ts";

/**
 * `DELETE /v1/conversations/{conversation_id}`. Refused while a response is in progress in it. Requests can still
 * reference its items, as in the reference.
 */
export function deleteConversation(
  conversations: ConversationStore,
): ResponsesApiHandlers<Caller>["deleteConversation"] {
  return async ({ path: { conversation_id: id } }, { principal: { owner } }) => {
    const refusal = await conversations.deleteConversation(owner, id);
    if (refusal !== null) throw conversationRefused(refusal, id);
    return { status: 200, body: { id, object: "conversation.deleted", deleted: true } };
  };
}
