import type { ItemList, StoredItem } from "../../generated/responses-api/types.ts";

/** The envelope of a list of items, in the reference's order of keys. */
export function itemList(items: readonly StoredItem[], hasMore: boolean): ItemList {
  return {
    object: "list",
    data: [...items],
    first_id: items[0]?.id ?? null,
    has_more: hasMore,
    last_id: items.at(-1)?.id ?? null,
  };
}
