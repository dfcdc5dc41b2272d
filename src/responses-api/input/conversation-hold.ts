import type { CreateResponseRequest } from "../../../generated/responses-api/types.ts";
import type { ConversationStore } from "../../domain/conversations.ts";
import type { Owner } from "../../runs/ports/owner.ts";
import { conversationRefused } from "../errors/conversation-errors.ts";

/** The members of a request that decide whether it writes to a conversation. */
export type HoldingRequest = Pick<CreateResponseRequest, "conversation" | "store">;

/** A response's lock on its conversation, from before its history is read. Storing the response's end releases it. */
export interface ConversationHold {
  /** Runs `work`. If it rejects, releases the lock, because no response will end and release it. */
  during<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Locks the conversation that a response will be added to, if there is one. Throws an `ApiError` if it is unknown or
 * already locked.
 */
export async function holdConversation(
  conversations: ConversationStore,
  owner: Owner,
  request: HoldingRequest,
  responseId: string,
): Promise<ConversationHold> {
  const id = conversationIdOf(request);
  if (id === null || request.store === false) return NO_HOLD;
  const refusal = await conversations.lock(owner, id, responseId);
  if (refusal !== null) throw conversationRefused(refusal, id);
  return {
    during: async (work) => {
      try {
        return await work();
      } catch (error) {
        await conversations.unlock(owner, id, responseId);
        throw error;
      }
    },
  };
}

const NO_HOLD: ConversationHold = { during: (work) => work() };

/** The id of the request's stored conversation; null if it names none. */
export function conversationIdOf({ conversation }: Pick<CreateResponseRequest, "conversation">): string | null {
  if (conversation == null || Array.isArray(conversation)) return null;
  return typeof conversation === "string" ? conversation : conversation.id;
}
