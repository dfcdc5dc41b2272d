import { keyOfId, newId } from "@antiphon/base/ids.ts";
import type { InputItem, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { ContextTooLong } from "@antiphon/domain/storage.ts";
import { contextTooLong } from "../errors/state-errors.ts";
import { checkIdsUnique } from "./context-rules.ts";
import type { HistoryContext } from "./load-history.ts";
import { normalizeList } from "./normalize-items.ts";

/** Items that a client adds to a conversation. */
export interface AddedItems {
  readonly conversationId: string;
  readonly items: readonly InputItem[];
}

/**
 * Normalizes the items like those of `input`, for storing and listing. Calls need no output yet, and items may be in
 * any order. Throws if an id appears twice or a referenced item is unknown.
 */
export async function normalizeConversationItems(
  { store, conversations }: HistoryContext,
  owner: Owner,
  { conversationId, items }: AddedItems,
): Promise<readonly StoredItem[]> {
  const answersACall = items.some((item) => item.type === "tool_result");
  const after = answersACall ? await conversations.loadItems(owner, conversationId).catch(refuseTooLong) : null;
  const now = Math.floor(Date.now() / 1000);
  const makeId = (prefix: string): string => newId(prefix, now, keyOfId(conversationId));
  const normalizedItems = await normalizeList(
    store,
    owner,
    { items, name: "items", after: after?.items ?? [] },
    makeId,
  );
  await checkIdsUnique(normalizedItems, "items");
  return normalizedItems;
}

function refuseTooLong(error: unknown): never {
  throw error instanceof ContextTooLong ? contextTooLong("conversation") : error;
}
