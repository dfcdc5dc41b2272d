import type { Conversation, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "./owner.ts";
import type { ConversationItems, ItemPage, PageRequest } from "./responses.ts";

/** Why a conversation was not changed. */
export type ConversationRefusal =
  | { readonly reason: "unknown" }
  /** A response in progress holds the lock. */
  | { readonly reason: "locked" }
  | { readonly reason: "unknown_item" }
  /** The conversation already has an item with this id. */
  | { readonly reason: "duplicate_item"; readonly itemId: string };

/** Resolves to null once the change is stored, otherwise to the reason for the refusal. */
export type ConversationChanged = Promise<ConversationRefusal | null>;

/**
 * Stored conversations. Changes are atomic and serialized; items keep the order in which they were stored. Another
 * owner's id counts as unknown. `EventLog.close` stores the items of a response and releases the lock on its
 * conversation.
 */
export interface ConversationStore {
  createConversation(owner: Owner, conversation: Conversation, items: readonly StoredItem[]): Promise<void>;
  findConversation(owner: Owner, conversationId: string): Promise<Conversation | null>;
  replaceMetadata(owner: Owner, conversationId: string, metadata: Conversation["metadata"]): ConversationChanged;
  /** Its items remain and can be referenced while a response made in it is stored. */
  deleteConversation(owner: Owner, conversationId: string): ConversationChanged;
  /** Adds all items or none. */
  addItems(owner: Owner, conversationId: string, items: readonly StoredItem[]): ConversationChanged;
  deleteItem(owner: Owner, conversationId: string, itemId: string): ConversationChanged;
  findItem(owner: Owner, conversationId: string, itemId: string): Promise<StoredItem | null>;
  /** Null if the conversation or the cursor is unknown. */
  listItems(owner: Owner, conversationId: string, page: PageRequest): Promise<ItemPage | null>;
  /**
   * Every item, oldest first; null if the conversation is unknown. Rejects with `ContextTooLong` if the items exceed
   * the budget.
   */
  loadItems(owner: Owner, conversationId: string): Promise<ConversationItems | null>;
  /**
   * Allows only this response to change the items, until `unlock` or the response's end. If this process dies, only a
   * stored response keeps its lock.
   */
  lock(owner: Owner, conversationId: string, responseId: string): ConversationChanged;
  /** Releases the lock if this response holds it. */
  unlock(owner: Owner, conversationId: string, responseId: string): Promise<void>;
}
