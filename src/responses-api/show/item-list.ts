import type { ItemList } from "@antiphon/contracts/responses-api/types.ts";
import type { ItemPage } from "@antiphon/domain/responses.ts";

/** A page of items as a list object, with its members in the reference's order. */
export function itemList({ items, hasMore }: ItemPage): ItemList {
  return {
    object: "list",
    data: [...items],
    first_id: items[0]?.id ?? null,
    has_more: hasMore,
    last_id: items.at(-1)?.id ?? null,
  };
}
