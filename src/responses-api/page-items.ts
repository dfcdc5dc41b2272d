import type { ItemList, StoredItem } from "../../generated/responses-api/types.ts";
import type { ItemPage, PageRequest } from "./ports.ts";

/** A page of items that are at hand, oldest first. Null if a cursor is not among them. `before` ends the page before that item. */
export function pageOf(
  oldestFirst: readonly StoredItem[],
  { limit, order, after }: PageRequest,
  before: string | null,
): ItemPage | null {
  const items = order === "asc" ? oldestFirst : oldestFirst.toReversed();
  const start = after === null ? 0 : items.findLastIndex(({ id }) => id === after) + 1;
  const end = before === null ? items.length : items.findIndex(({ id }) => id === before);
  if ((after !== null && start === 0) || end === -1) return null;
  const rest = items.slice(start, Math.max(start, end));
  return { items: rest.slice(0, limit), hasMore: rest.length > limit };
}

/** The list envelope, its members in the reference's order. */
export function listEnvelope({ items, hasMore }: ItemPage): ItemList {
  return {
    object: "list",
    data: [...items],
    first_id: items[0]?.id ?? null,
    has_more: hasMore,
    last_id: items.at(-1)?.id ?? null,
  };
}
