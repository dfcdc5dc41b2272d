import type { ListPage } from "@antiphon/domain/vector-stores.ts";

/** A page in the reference's list format. */
export function listBody<Entry extends { readonly id: string }>({ entries, hasMore }: ListPage<Entry>) {
  return {
    object: "list" as const,
    data: [...entries],
    first_id: entries[0]?.id ?? null,
    has_more: hasMore,
    last_id: entries.at(-1)?.id ?? null,
  };
}
