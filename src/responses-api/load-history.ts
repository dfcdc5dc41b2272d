import type { CreateResponseRequest, StoredItem } from "../../generated/responses-api/types.ts";
import type { Owner } from "../runs/ports.ts";
import { previousResponseNotFound, previousResponseRunning } from "./errors/state-errors.ts";
import type { ResponseStore } from "./ports.ts";

export interface HistorySources {
  readonly store: Pick<ResponseStore, "loadChain">;
}

/** The members of a request that say what came before it. */
export type HistoryRequest = Pick<CreateResponseRequest, "previous_response_id" | "reasoning">;

/** The items that come before those of the request, oldest first. */
export async function loadHistory(
  sources: HistorySources,
  owner: Owner,
  request: HistoryRequest,
): Promise<readonly StoredItem[]> {
  const previousId = request.previous_response_id ?? null;
  if (previousId === null) return [];
  const items = await loadChainItems(sources, owner, previousId);
  return request.reasoning?.context === "current_turn" ? items.filter(({ type }) => type !== "reasoning") : items;
}

async function loadChainItems(sources: HistorySources, owner: Owner, previousId: string): Promise<readonly StoredItem[]> {
  const chain = await sources.store.loadChain(owner, previousId);
  const last = chain?.at(-1);
  if (chain == null || last === undefined) throw previousResponseNotFound(previousId);
  if (last.status === "in_progress" || last.status === "queued") throw previousResponseRunning(previousId);
  return chain.flatMap((link) => link.items);
}
