import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { ConversationStore } from "@antiphon/domain/conversations.ts";
import type { Caller } from "../access/caller.ts";
import { conversationNotFound, conversationRefused } from "../errors/conversation-errors.ts";

/**
 * `POST /v1/conversations/{conversation_id}`: replaces the metadata. Allowed while a response is in progress in the
 * conversation.
 */
export function updateConversation(
  conversations: ConversationStore,
): ResponsesApiHandlers<Caller>["updateConversation"] {
  return async ({ path: { conversation_id: id }, body: { metadata } }, { principal: { owner } }) => {
    const refusal = await conversations.replaceMetadata(owner, id, metadata ?? {});
    if (refusal !== null) throw conversationRefused(refusal, id);
    const body = await conversations.findConversation(owner, id);
    if (body === null) throw conversationNotFound(id); // Deleted in the meantime.
    return { status: 200, body };
  };
}
