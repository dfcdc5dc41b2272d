import type { CreateResponseRequest } from "../../../generated/responses-api/types.ts";
import type { Owner } from "../../runs/ports.ts";
import { conversationRefused } from "../errors/conversation-errors.ts";
import type { ResponseServices } from "../services.ts";

/** The members of a request that say whether it writes to a conversation. */
export type HoldingRequest = Pick<CreateResponseRequest, "conversation" | "store">;

/** What a response holds from before its model is asked until it ends; then its end, stored, frees it. */
export interface ConversationHold {
  /** Lets go if the work fails, because then there is no response whose end would. */
  during<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Keeps other writers away from the conversation that a response will be added to, if there is one. Throws the
 * catalogue's errors for one that is unknown or held.
 */
export async function holdConversation(
  { conversations }: Pick<ResponseServices, "conversations">,
  owner: Owner,
  request: HoldingRequest,
  responseId: string,
): Promise<ConversationHold> {
  const id = conversationIdOf(request);
  if (id === null || request.store === false) return NOTHING_HELD;
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

const NOTHING_HELD: ConversationHold = { during: (work) => work() };

/** Null where the request names no stored conversation. */
export function conversationIdOf({ conversation }: Pick<CreateResponseRequest, "conversation">): string | null {
  if (conversation == null || Array.isArray(conversation)) return null;
  return typeof conversation === "string" ? conversation : conversation.id;
}
