import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { ConversationStore } from "@antiphon/domain/conversations.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { conversationRefused } from "../errors/conversation-errors.ts";

/** The members of a request that decide whether it writes to a conversation. */
export type HoldingRequest = Pick<CreateResponseRequest, "conversation" | "store">;

/** A response's lock on its conversation, from before its history is read. Storing the response's end releases it. */
export interface ConversationLock {
  /** For a response that will not end. */
  release(): Promise<void>;
}

/**
 * Holds the conversation that a response will be added to; null if there is none. Throws an `ApiError` if it is unknown
 * or already held.
 */
export async function lockConversation(
  conversations: ConversationStore,
  owner: Owner,
  request: HoldingRequest,
  responseId: string,
): Promise<ConversationLock | null> {
  const id = conversationIdOf(request);
  if (id === null || request.store === false) return null;
  const refusal = await conversations.lock(owner, id, responseId);
  if (refusal !== null) throw conversationRefused(refusal, id);
  return { release: () => conversations.unlock(owner, id, responseId) };
}

/** The id of the request's stored conversation; null if it names none. */
export function conversationIdOf({ conversation }: Pick<CreateResponseRequest, "conversation">): string | null {
  if (conversation == null || Array.isArray(conversation)) return null;
  return typeof conversation === "string" ? conversation : conversation.id;
}
