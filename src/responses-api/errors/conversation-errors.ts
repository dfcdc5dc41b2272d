import type { ApiError } from "@antiphon/base/api-error.ts";
import { assertNever } from "@antiphon/base/assert.ts";
import type { ConversationRefusal } from "@antiphon/domain/conversations.ts";
import { invalidRequest } from "./invalid-request.ts";
import { duplicateItem } from "./state-errors.ts";

export function conversationNotFound(id: string): ApiError {
  return invalidRequest(404, null, null, `Conversation with id '${id}' not found.`);
}

export function conversationLocked(): ApiError {
  return invalidRequest(
    400,
    "conversation_locked",
    "conversation",
    "Another process is currently operating on this conversation. Please retry in a few seconds.",
  );
}

export function conversationItemNotFound(itemId: string): ApiError {
  return invalidRequest(404, null, null, `Item with id '${itemId}' not found in conversation.`);
}

/** `itemId` is the item that the request named, if any. */
export function conversationRefused(refusal: ConversationRefusal, conversationId: string, itemId = ""): ApiError {
  switch (refusal.reason) {
    case "unknown":
      return conversationNotFound(conversationId);
    case "locked":
      return conversationLocked();
    case "unknown_item":
      return conversationItemNotFound(itemId);
    case "duplicate_item":
      return duplicateItem(refusal.itemId, "items");
    default:
      return assertNever(refusal);
  }
}
