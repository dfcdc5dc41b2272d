import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { ConversationStore } from "@antiphon/domain/conversations.ts";
import type { Caller } from "../access/caller.ts";
import { conversationNotFound } from "../errors/conversation-errors.ts";

/** `GET /v1/conversations/{conversation_id}`. */
export function getConversation(conversations: ConversationStore): ResponsesApiHandlers<Caller>["getConversation"] {
  return async ({ path: { conversation_id: id } }, { principal: { owner } }) => {
    const body = await conversations.findConversation(owner, id);
    if (body === null) throw conversationNotFound(id);
    return { status: 200, body };
  };
}
