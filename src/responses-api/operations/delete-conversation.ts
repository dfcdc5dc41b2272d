import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ApiContext } from "../access/context.ts";
import { conversationRefused } from "../errors/conversation-errors.ts";
import type { ConversationStore } from "../ports.ts";

/**
 * `DELETE /v1/conversations/{conversation_id}`: not while a response is being made in it. Its items can still be
 * referred to, as at the reference.
 */
export function deleteConversation(
  conversations: Pick<ConversationStore, "deleteConversation">,
): ResponsesApiHandlers<ApiContext>["deleteConversation"] {
  return async ({ path: { conversation_id: id } }, { principal: { owner } }) => {
    const refusal = await conversations.deleteConversation(owner, id);
    if (refusal !== null) throw conversationRefused(refusal, id);
    return { status: 200, body: { id, object: "conversation.deleted", deleted: true } };
  };
}
