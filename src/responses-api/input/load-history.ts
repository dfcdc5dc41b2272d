import type { CreateResponseRequest, StoredItem } from "../../../generated/responses-api/types.ts";
import { newId } from "../../base/ids.ts";
import type { Owner } from "../../runs/ports.ts";
import { conversationIdOf } from "../create/conversation-hold.ts";
import { conversationNotFound } from "../errors/conversation-errors.ts";
import { contextTooLong, previousResponseNotFound, previousResponseRunning } from "../errors/state-errors.ts";
import { ContextTooLong, type ConversationItems, type ConversationStore, type ResponseStore } from "../ports.ts";
import { type InputSources, placeList } from "./place-list.ts";
import { wholeCalls } from "./whole-calls.ts";

/** A response that is kept outside the store. */
export interface RememberedTurn {
  /** The stored response that its chain goes on from; null: nothing stored comes before it. */
  readonly after: string | null;
  /** What was said since then, its own output included, oldest first. */
  readonly items: readonly StoredItem[];
}

/** Responses that are kept outside the store, for the one who asks; the store is asked for all others. */
export interface RememberedTurns {
  find(responseId: string): RememberedTurn | null;
}

/** Where earlier turns are found; `remembered` are those that only a connection knows. */
export interface HistorySources {
  readonly store: Pick<ResponseStore, "loadChain"> & InputSources["store"];
  readonly conversations: Pick<ConversationStore, "loadItems">;
  readonly remembered?: RememberedTurns;
}

/** The members of a request that say what came before it. */
export type HistoryRequest = Pick<
  CreateResponseRequest,
  "previous_response_id" | "conversation" | "reasoning" | "input"
>;

/**
 * The items that come before those of the request, oldest first: those of a conversation, stored or given in full, or
 * of a chain.
 */
export async function loadHistory(
  sources: HistorySources,
  owner: Owner,
  request: HistoryRequest,
): Promise<readonly StoredItem[]> {
  const items = await loadItems(sources, owner, request);
  return request.reasoning?.context === "current_turn" ? items.filter(({ type }) => type !== "reasoning") : items;
}

async function loadItems(
  sources: HistorySources,
  owner: Owner,
  request: HistoryRequest,
): Promise<readonly StoredItem[]> {
  const { conversation, previous_response_id: previousId } = request;
  const conversationId = conversationIdOf(request);
  if (conversationId !== null) {
    return wholeCalls(await loadConversation(sources, owner, conversationId), request.input);
  }
  if (Array.isArray(conversation)) {
    const now = Math.floor(Date.now() / 1000);
    const makeId = (prefix: string): string => newId(prefix, now); // They are stored nowhere.
    return await placeList(sources, owner, { items: conversation, name: "conversation", after: [] }, makeId);
  }
  return previousId == null ? [] : await loadChain(sources, owner, previousId);
}

async function loadChain(sources: HistorySources, owner: Owner, previousId: string): Promise<readonly StoredItem[]> {
  const turn = sources.remembered?.find(previousId) ?? null;
  if (turn === null) return await loadStoredChain(sources, owner, previousId);
  return turn.after === null ? turn.items : [...(await loadStoredChain(sources, owner, turn.after)), ...turn.items];
}

async function loadConversation(sources: HistorySources, owner: Owner, id: string): Promise<ConversationItems> {
  const items = await sources.conversations.loadItems(owner, id).catch((error: unknown) => {
    throw error instanceof ContextTooLong ? contextTooLong("conversation") : error;
  });
  if (items === null) throw conversationNotFound(id);
  return items;
}

async function loadStoredChain(
  sources: HistorySources,
  owner: Owner,
  previousId: string,
): Promise<readonly StoredItem[]> {
  const chain = await sources.store.loadChain(owner, previousId).catch((error: unknown) => {
    throw error instanceof ContextTooLong ? contextTooLong("previous_response_id") : error;
  });
  const last = chain?.at(-1);
  if (chain == null || last === undefined) throw previousResponseNotFound(previousId);
  if (last.status === "in_progress" || last.status === "queued") throw previousResponseRunning(previousId);
  return chain.flatMap(({ seen, items }) => (seen === null ? items : [...wholeCalls(seen, []), ...items]));
}
