import type { Antiphon, StoredItem } from "../../../packages/client/src/index.ts";

const PAGE_SIZE = 100;
/** Input items that are read of one run. */
export const INPUT_ITEMS_MAX = 2_000;

/** The items that were sent for a run, oldest first. */
export async function readInputItems(client: Antiphon, id: string, signal: AbortSignal): Promise<StoredItem[]> {
  const items: StoredItem[] = [];
  let after: string | undefined;
  while (items.length < INPUT_ITEMS_MAX) {
    const query = { limit: PAGE_SIZE, order: "asc", ...(after === undefined ? {} : { after }) } as const;
    const { data, has_more: hasMore } = await client.listInputItems(id, query, { signal });
    items.push(...data);
    after = data.at(-1)?.id;
    if (!hasMore || after === undefined) break;
  }
  return items;
}
