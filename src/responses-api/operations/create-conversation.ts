import { newId } from "@antiphon/base/ids.ts";
import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Conversation } from "@antiphon/contracts/responses-api/types.ts";
import type { Caller } from "../access/caller.ts";
import type { HistoryContext } from "../input/load-history.ts";
import { normalizeConversationItems } from "../input/normalize-conversation-items.ts";

/** `POST /v1/conversations`: creates a conversation, with its first items if the body has any. */
export function createConversation(stores: HistoryContext): ResponsesApiHandlers<Caller>["createConversation"] {
  return async ({ body }, { principal: { owner } }) => {
    const createdAt = Math.floor(Date.now() / 1000);
    const id = newId("conv", createdAt);
    const items = await normalizeConversationItems(stores, owner, { conversationId: id, items: body?.items ?? [] });
    const conversation: Conversation = {
      id,
      object: "conversation",
      created_at: createdAt,
      metadata: body?.metadata ?? {},
    };
    await stores.conversations.createConversation(owner, conversation, items);
    return { status: 200, body: conversation };
  };
}
