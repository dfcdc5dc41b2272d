import type { StoredItem } from "../../generated/responses-api/types.ts";
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
