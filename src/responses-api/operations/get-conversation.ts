import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ApiContext } from "../access/context.ts";
import { conversationNotFound } from "../errors/conversation-errors.ts";
import type { ConversationStore } from "../ports.ts";

/** `GET /v1/conversations/{conversation_id}`. */
export function getConversation(
  conversations: Pick<ConversationStore, "findConversation">,
): ResponsesApiHandlers<ApiContext>["getConversation"] {
  return async ({ path: { conversation_id: id } }, { principal: { owner } }) => {
    const body = await conversations.findConversation(owner, id);
    if (body === null) throw conversationNotFound(id);
    return { status: 200, body };
  };
}
