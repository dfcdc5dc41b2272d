import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Conversation } from "../../../generated/responses-api/types.ts";
import { newId } from "../../base/ids.ts";
import type { ApiContext } from "../access/context.ts";
import { type AddItemsParts, placeConversationItems } from "../input/place-conversation-items.ts";

/** `POST /v1/conversations`: a new history, with its first items if there are any. */
export function createConversation(parts: AddItemsParts): ResponsesApiHandlers<ApiContext>["createConversation"] {
  return async ({ body }, { principal: { owner } }) => {
    const createdAt = Math.floor(Date.now() / 1000);
    const id = newId("conv", createdAt);
    const items = await placeConversationItems(parts, owner, { conversationId: id, items: body?.items ?? [] });
    const conversation: Conversation = {
      id,
      object: "conversation",
      created_at: createdAt,
      metadata: body?.metadata ?? {},
    };
    await parts.conversations.createConversation(owner, conversation, items);
    return { status: 200, body: conversation };
  };
}
