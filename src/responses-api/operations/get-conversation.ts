import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";
import { conversationNotFound } from "../errors/conversation-errors.ts";
import type { ResponseServices } from "../services.ts";

/** `GET /v1/conversations/{conversation_id}`. */
export function getConversation(
  services: Pick<ResponseServices, "conversations">,
): ResponsesApiHandlers<Caller>["getConversation"] {
  return async ({ path: { conversation_id: id } }, { principal: { owner } }) => {
    const body = await services.conversations.findConversation(owner, id);
    if (body === null) throw conversationNotFound(id);
    return { status: 200, body };
  };
}
