import { newId } from "@antiphon/base/ids.ts";
import { Slices } from "@antiphon/base/limits/slices.ts";
import type { CreateResponseRequest, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ConversationStore } from "@antiphon/domain/conversations.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { ConversationItems, ResponseStore } from "@antiphon/domain/responses.ts";
import { ContextTooLong } from "@antiphon/domain/storage.ts";
import type { Caller } from "../access/caller.ts";
import { conversationNotFound } from "../errors/conversation-errors.ts";
import { contextTooLong, previousResponseNotFound, previousResponseRunning } from "../errors/state-errors.ts";
import { conversationIdOf } from "./conversation-lock.ts";
import { normalizeList } from "./normalize-items.ts";

/** The stores that hold earlier turns. */
export interface HistoryContext {
  readonly store: ResponseStore;
  readonly conversations: ConversationStore;
}

/** The owner of the turns, and the turns that only this connection remembers. */
type HistoryCaller = Pick<Caller, "principal" | "earlierTurns">;

/** The members of a request that select its history. */
export type HistoryRequest = Pick<
  CreateResponseRequest,
  "previous_response_id" | "conversation" | "reasoning" | "input"
>;

/**
 * The items before the request's items, oldest first: from a stored conversation, from one sent completely, or from a
 * chain. Throws if the history is unknown, in progress or too long.
 */
export async function loadHistory(
  stores: HistoryContext,
  caller: HistoryCaller,
  request: HistoryRequest,
): Promise<readonly StoredItem[]> {
  const items = await loadItems(stores, caller, request);
  return request.reasoning?.context === "current_turn" ? items.filter(({ type }) => type !== "reasoning") : items;
}

async function loadItems(
  stores: HistoryContext,
  caller: HistoryCaller,
  request: HistoryRequest,
): Promise<readonly StoredItem[]> {
  const { owner } = caller.principal;
  const { conversation, previous_response_id: previousId } = request;
  const conversationId = conversationIdOf(request);
  if (conversationId !== null) {
    return withoutSplitCalls(await loadConversation(stores.conversations, owner, conversationId), request.input);
  }
  if (Array.isArray(conversation)) {
    const now = Math.floor(Date.now() / 1000);
    const makeId = (prefix: string): string => newId(prefix, now); // These items are not stored.
    return await normalizeList(stores.store, owner, { items: conversation, name: "conversation", after: [] }, makeId);
  }
  return previousId == null ? [] : await loadChain(stores.store, caller, previousId);
}

async function loadChain(
  store: ResponseStore,
  { principal: { owner }, earlierTurns }: HistoryCaller,
  previousId: string,
): Promise<readonly StoredItem[]> {
  const turn = earlierTurns?.find(previousId) ?? null;
  if (turn === null) return await loadStoredChain(store, owner, previousId);
  return turn.after === null ? turn.items : [...(await loadStoredChain(store, owner, turn.after)), ...turn.items];
}

async function loadConversation(
  conversations: ConversationStore,
  owner: Owner,
  id: string,
): Promise<ConversationItems> {
  const items = await conversations.loadItems(owner, id).catch((error: unknown) => {
    throw error instanceof ContextTooLong ? contextTooLong("conversation") : error;
  });
  if (items === null) throw conversationNotFound(id);
  return items;
}

async function loadStoredChain(store: ResponseStore, owner: Owner, previousId: string): Promise<readonly StoredItem[]> {
  const chain = await store.loadChain(owner, previousId).catch((error: unknown) => {
    throw error instanceof ContextTooLong ? contextTooLong("previous_response_id") : error;
  });
  const last = chain?.at(-1);
  if (chain == null || last === undefined) throw previousResponseNotFound(previousId);
  if (last.status === "in_progress" || last.status === "queued") throw previousResponseRunning(previousId);
  const chainItems: StoredItem[] = [];
  const slices = new Slices();
  for (const { seenItems, items } of chain) {
    if (seenItems !== null) for (const item of withoutSplitCalls(seenItems, [])) chainItems.push(item);
    for (const item of items) chainItems.push(item);
    await slices.pause();
  }
  return chainItems;
}

/**
 * The items of a conversation without calls whose output a client deleted, and without outputs whose call was deleted.
 * Otherwise, every later request in the conversation would be refused. A call whose output is in `input` stays.
 */
function withoutSplitCalls(
  { items, splitCalls }: ConversationItems,
  input: CreateResponseRequest["input"],
): readonly StoredItem[] {
  if (splitCalls.size === 0) return items;
  const outputs = new Set(items.filter(isOutput).map(itemCallId));
  for (const item of Array.isArray(input) ? input : []) if (isOutput(item)) outputs.add(itemCallId(item));
  const calls = new Set(items.filter((item) => !isOutput(item)).map(itemCallId));
  return items.filter((item) => {
    const callId = itemCallId(item);
    if (callId === null || !splitCalls.has(callId)) return true;
    return (isOutput(item) ? calls : outputs).has(callId);
  });
}

type AnyItem = StoredItem | Exclude<NonNullable<CreateResponseRequest["input"]>, string>[number];

function isOutput({ type }: AnyItem): boolean {
  return type != null && (type.endsWith("_output") || type === "tool_result");
}

function itemCallId(item: AnyItem): string | null {
  return "call_id" in item && typeof item.call_id === "string" ? item.call_id : null;
}
