import type { ConversationRefusal } from "@antiphon/domain/conversations.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type ItemText, lengthOfItems } from "./item-text.ts";

/** One change of one conversation, stored as a whole or not at all. */
export interface ConversationChange {
  readonly owner: Owner;
  readonly conversationId: string;
  readonly step: ConversationStep;
}

export type ConversationStep =
  | {
      readonly type: "create";
      readonly createdAt: number;
      readonly metadata: string;
      readonly items: readonly ItemText[];
    }
  | { readonly type: "replace_metadata"; readonly metadata: string }
  | { readonly type: "delete" }
  | { readonly type: "add_items"; readonly items: readonly ItemText[] }
  | { readonly type: "delete_item"; readonly itemId: string }
  | { readonly type: "lock"; readonly responseId: string }
  | { readonly type: "unlock"; readonly responseId: string }
  /** Adds the items of a response that was just stored, its input first, and releases the lock. */
  | { readonly type: "add_response"; readonly responseId: string };

/** A change and its job. */
export interface PlannedChange extends ConversationChange {
  readonly job: number;
}

/** The result of a change. */
export type ConversationOutcome = "written" | ConversationRefusal;

/** How the end of a response changes its conversation. */
export interface ConversationEnd {
  readonly conversationId: string;
  /** Whether its items are added to the conversation. */
  readonly addsItems: boolean;
}

export function endStep(end: ConversationEnd, responseId: string): ConversationStep {
  return { type: end.addsItems ? "add_response" : "unlock", responseId };
}

/** The number of characters that a step writes, without copies within the database. */
export function sizeOfStep(step: ConversationStep): number {
  return "items" in step ? lengthOfItems(step.items) : 0;
}
