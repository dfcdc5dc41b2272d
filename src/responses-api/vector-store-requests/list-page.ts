import type { ListOrder, VectorStoreFile } from "@antiphon/contracts/responses-api/types.ts";
import type { StoreFilePageRequest, VectorStorePageRequest } from "@antiphon/domain/vector-stores.ts";

const PAGE_ENTRIES_DEFAULT = 20;

interface ListQuery {
  readonly limit?: number;
  readonly order?: ListOrder;
  readonly after?: string;
  readonly before?: string;
}

interface FileListQuery extends ListQuery {
  readonly filter?: VectorStoreFile["status"];
}

/** The page of a query; by default, 20 entries, the newest first. */
export function storePage({ limit, order, after, before }: ListQuery): VectorStorePageRequest {
  return {
    limit: limit ?? PAGE_ENTRIES_DEFAULT,
    order: order ?? "desc",
    after: after ?? null,
    before: before ?? null,
  };
}

/** `batchId` limits the list to the files of this batch; null for all files of the store. */
export function storeFilePage(query: FileListQuery, batchId: string | null): StoreFilePageRequest {
  return { ...storePage(query), status: query.filter ?? null, batchId };
}
